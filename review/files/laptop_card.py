"""A laptop's card: what it hands to the organisation before the first batch, in one small file.

With it batches can be sealed for the laptop, and its ratings are known when they arrive. The card is
signed, so comparing the six words of its signing key settles the rest of it too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import Field

from review.files.signed_archive import SignedRecord, read_record, signed_record
from review.forms import StrictForm
from review.log.payloads import Hex64
from review.sealed.keys import Identity, PublicIdentity
from review.sealed.problem import FileError, FileProblem
from review.sealed.sealing import SealError, checked_recipient

SUFFIX: Final = ".rosetta-laptop"


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


class _SignedCard(_Card, SignedRecord):
    pass


def write_laptop_card(identity: Identity, name: str) -> bytes:
    """Return the bytes of a card, to be kept as ``NAME.rosetta-laptop``."""
    public = identity.public
    card = _Card(name=name, recipient=public.recipient, signing_key=public.signing_key)
    return signed_record(card, identity)


def read_laptop_card(data: bytes) -> LaptopCard:
    """Read a card and check its signature; raises FileError in words."""
    card = read_record(data, _SignedCard, "the card of a laptop")
    if not card.is_signed_by(card.signing_key):
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
