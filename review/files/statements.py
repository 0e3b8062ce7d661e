"""Small signed files that a person carries: a laptop's card, and a witness's statement about a laptop.

With its card batches can be sealed for a laptop, and its ratings are known when they arrive. The card is signed, so
comparing the six words of its signing key settles the rest of it too.

Nobody can tell from ratings whether behind a laptop sat a speaker or its organisation. Who saw the laptop and the
person can say so, with a key of their own; a certificate counts the laptops of which somebody did.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field

from harness.core.canonical import canonical_bytes
from harness.sealed.keys import Identity, PublicIdentity
from harness.sealed.sealing import SealError, checked_recipient
from harness.sealed.signed_archive import SignedRecord, read_record, signed_record
from harness.sealed.stick import read_named
from harness.sealed.strict_records import FileError, FileProblem, Hex64, StrictRecord, about_file

SUFFIX: Final = ".rosetta-laptop"


@dataclass(frozen=True)
class LaptopCard:
    """What the organisation learns of a laptop."""

    name: str
    """What people call this laptop; not a person's name."""
    public: PublicIdentity


class _Card(StrictRecord):
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


def laptop_card_in(path: Path) -> LaptopCard:
    """Read the card in a file that a command line names; FileError or UsageError names the file where it is none, or is not there."""
    with about_file(path):
        return read_laptop_card(read_named(path))


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


WITNESS_SUFFIX: Final = ".rosetta-witness"
SAYS: Final = (
    "I saw this laptop with a person whom the organisation asked, and compared its six words."
)


class Statement(StrictRecord):
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
    """Signing key of anyone who says so."""


class _SignedStatement(Statement, SignedRecord):
    pass


def write_statement(identity: Identity, laptop: str, organisation: str) -> bytes:
    """Return the bytes of a statement; FileError where somebody would witness their own laptop."""
    witness = identity.public.signing_key
    statement = Statement(laptop=laptop, organisation=organisation, witness=witness)
    _check_apart(statement)
    return signed_record(statement, identity)


def read_statement(data: bytes) -> Statement:
    """Read a statement and check its signature; raises FileError in words."""
    record = read_record(data, _SignedStatement, "the statement of a witness")
    whole = canonical_bytes(record.model_dump()) == data
    if not whole or not record.is_signed_by(record.witness):
        raise FileError(
            FileProblem.DAMAGED,
            "This statement was changed after it was signed: its signature does not fit. Ask for it once more.",
        )
    statement = Statement.model_validate(record.model_dump(exclude={"signature"}))
    _check_apart(statement)
    return statement


def _check_apart(said: Statement) -> None:
    if said.witness in {said.laptop, said.organisation}:
        raise FileError(
            FileProblem.INVALID,
            "A witness is a second person: not the laptop's own, and not the organisation. Let somebody else sign, on a "
            "laptop of theirs.",
        )
