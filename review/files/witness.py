"""A witness's statement: a second person says, with a key of their own, that a laptop is a speaker's.

Nobody can tell from ratings whether behind a laptop sat a speaker or its organisation. Who saw the laptop and the
person can say so; a certificate counts the laptops of which somebody did.
"""

from __future__ import annotations

from typing import Final, Literal

from harness.card.canonical import canonical_bytes
from review.files.signed_archive import SignedRecord, read_record, signed_record
from review.forms import StrictForm
from review.log.payloads import Hex64
from review.sealed.keys import Identity
from review.sealed.problem import FileError, FileProblem

WITNESS_SUFFIX: Final = ".rosetta-witness"
SAYS: Final = (
    "I saw this laptop with a person whom the organisation asked, and compared its six words."
)


class Statement(StrictForm):
    """What a witness signs."""

    format: Literal["rosetta-witness/1"] = "rosetta-witness/1"
    says: Literal[
        "I saw this laptop with a person whom the organisation asked, and compared its six words."
    ] = SAYS
    laptop: Hex64
    """Signing key of the laptop that was seen."""
    organisation: Hex64
    """Signing key of the organisation that asks."""
    witness: Hex64
    """Signing key of whoever says so."""


class _SignedStatement(Statement, SignedRecord):
    pass


def write_statement(identity: Identity, laptop: str, organisation: str) -> bytes:
    """Return the bytes of a statement; FileError where somebody would witness their own laptop."""
    witness = identity.public.signing_key
    said = Statement(laptop=laptop, organisation=organisation, witness=witness)
    _check_apart(said)
    return signed_record(said, identity)


def read_statement(data: bytes) -> Statement:
    """Read a statement and check its signature; raises FileError in words."""
    said = read_record(data, _SignedStatement, "the statement of a witness")
    whole = canonical_bytes(said.model_dump()) == data
    if not whole or not said.is_signed_by(said.witness):
        raise FileError(
            FileProblem.DAMAGED,
            "This statement was changed after it was signed: its signature does not fit. Ask for it once more.",
        )
    statement = Statement.model_validate(said.model_dump(exclude={"signature"}))
    _check_apart(statement)
    return statement


def _check_apart(said: Statement) -> None:
    if said.witness in {said.laptop, said.organisation}:
        raise FileError(
            FileProblem.INVALID,
            "A witness is a second person: not the laptop's own, and not the organisation. Let somebody else sign, on a "
            "laptop of theirs.",
        )
