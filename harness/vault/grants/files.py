"""The two files of a grant: the request that goes to the keepers, and each keeper's answer that comes back.

Both are one signed record in canonical JSON, so any other byte is found. An answer carries the keeper's share, sealed
twice: for the throw-away key of the request and for the computer that asked. Neither of the two keys opens it alone.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import Final, Literal

from pydantic import ValidationError

from harness.core.canonical import canonical_bytes
from harness.sealed.keys import Identity
from harness.sealed.sealing import AgeIdentity, seal, unseal
from harness.sealed.signed_archive import read_record, signed_record
from harness.sealed.strict_records import FileError, FileProblem, StrictRecord
from harness.vault.log import VaultError
from harness.vault.records import Base64, GrantAnswer, GrantRequest, SignedAnswer, SignedRequest
from harness.vault.secret_text import SecretText

REQUEST_SUFFIX: Final = ".rosetta-request"
ANSWER_SUFFIX: Final = ".rosetta-answer"

MOST_BYTES: Final = 2**14
"""Of either file."""


class AnswerFile(StrictRecord):
    """What an answer's file holds: the answer, and the sealed share that the log does not have."""

    answer: SignedAnswer
    sealed: Base64 | Literal[""]
    """The keeper's share; empty where the request is refused, and where each keeper opens alone."""


def write_request(request: GrantRequest, identity: Identity) -> bytes:
    """Return the bytes of a request, to be kept as ``NAME.rosetta-request``."""
    return signed_record(request, identity)


def read_request(data: bytes) -> SignedRequest:
    """Read a request and check its signature; whether a keeper made it, the log tells. Raises FileError in words."""
    request = read_record(data, SignedRequest, "a request to open a vault", most=MOST_BYTES)
    if canonical_bytes(request.model_dump(mode="json")) != data or not request.is_signed_by(
        request.by
    ):
        raise _changed("request")
    return request


def write_answer(answer: GrantAnswer, sealed: bytes, identity: Identity) -> bytes:
    """Return the bytes of an answer with its sealed share, to be kept as ``NAME.rosetta-answer``."""
    signed = SignedAnswer.model_validate_json(signed_record(answer, identity))
    return _answer_bytes(signed, sealed)


def read_answer(data: bytes) -> tuple[SignedAnswer, bytes]:
    """Read an answer and its sealed share, and check the signature that covers both; raises FileError in words."""
    try:
        file = AnswerFile.model_validate_json(data[: MOST_BYTES + 1], strict=True)
        sealed = base64.b64decode(file.sealed)
    except (ValidationError, binascii.Error):
        raise FileError(
            FileProblem.NOT_OURS,
            "This is not an answer to a request, or it is damaged. Ask for the file once more.",
        ) from None
    answer = file.answer
    share = hashlib.sha256(sealed).hexdigest() if sealed else ""
    whole = _answer_bytes(answer, sealed) == data and answer.share == share
    if not whole or not answer.is_signed_by(answer.keeper) or (sealed and not answer.allowed):
        raise _changed("answer")
    return answer, sealed


def _answer_bytes(answer: SignedAnswer, sealed: bytes) -> bytes:
    file = AnswerFile(answer=answer, sealed=base64.b64encode(sealed).decode())
    return canonical_bytes(file.model_dump(mode="json"))


def seal_share(words: SecretText, request: GrantRequest) -> bytes:
    """Seal the words of a share for one request: only the computer that asked opens it, and only while it has the key."""
    inner = seal(words.reveal().encode(), [request.machine_recipient])
    return seal(inner, [request.challenge])


def open_share(sealed: bytes, key: AgeIdentity, machine: Identity) -> SecretText:
    """Open what ``seal_share`` gave; raises SealError where it was sealed for another request or computer."""
    return SecretText(unseal(unseal(sealed, [key]), [machine.age]).decode())


def _changed(what: str) -> VaultError:
    return VaultError(
        FileProblem.DAMAGED,
        f"This {what} was changed after it was written: its signature does not fit. Ask for the file once more.",
    )
