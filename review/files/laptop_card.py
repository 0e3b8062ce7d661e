"""A laptop's card: what it hands to the organisation before the first batch, in one small file.

With it batches can be sealed for the laptop, and its ratings are known when they arrive. The card is
signed, so comparing the six words of its signing key settles the rest of it too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import Field, ValidationError

from harness.card.canonical import canonical_bytes
from review.forms import StrictForm
from review.log.payloads import Hex64
from review.sealed.keys import Identity, PublicIdentity
from review.sealed.problem import FileError, FileProblem
from review.sealed.sealing import SealError, checked_recipient
from review.sealed.signature import verify

SUFFIX: Final = ".rosetta-laptop"
_MOST_BYTES = 4096


@dataclass(frozen=True)
class LaptopCard:
    """What the organisation learns of a laptop."""

    name: str
    """What people call this laptop; not a person's name."""
    public: PublicIdentity


class _Card(StrictForm):
    format: Literal["rosetta-laptop/1"] = "rosetta-laptop/1"
    name: Annotated[str, Field(max_length=200)]
    recipient: Annotated[str, Field(max_length=200)]
    signing_key: Hex64


class _Signed(_Card):
    signature: Annotated[str, Field(pattern=r"^[0-9a-f]{128}$")]
    """Ed25519 over the canonical bytes of the card without this field."""


def write_laptop_card(identity: Identity, name: str) -> bytes:
    """Return the bytes of a card, to be kept as ``NAME.rosetta-laptop``."""
    public = identity.public
    fields = _Card(
        name=name, recipient=public.recipient, signing_key=public.signing_key
    ).model_dump()
    return canonical_bytes(fields | {"signature": identity.sign(canonical_bytes(fields)).hex()})


def read_laptop_card(data: bytes) -> LaptopCard:
    """Read a card and check its signature; raises FileError in words."""
    try:
        card = _Signed.model_validate_json(data[: _MOST_BYTES + 1], strict=True)
    except ValidationError:
        raise FileError(
            FileProblem.NOT_OURS,
            "This is not the card of a laptop, or it is damaged. Ask for the file once more.",
        ) from None
    fields = card.model_dump(exclude={"signature"})
    if not verify(card.signing_key, canonical_bytes(fields), bytes.fromhex(card.signature)):
        raise FileError(
            FileProblem.DAMAGED,
            "This laptop's card was changed after it was written: its signature does not fit. "
            "Ask for it once more.",
        )
    try:
        recipient = checked_recipient(card.recipient)
    except SealError as error:
        raise FileError(error.problem, f"This laptop's card cannot be used: {error}") from None
    return LaptopCard(card.name, PublicIdentity(card.signing_key, recipient))
