"""Reviewers' pseudonyms: eight characters on a card, the last of which checks the others.

The alphabet is Crockford's base 32, which leaves out letters that look like digits. The check is a sum
over the field of 32 elements with a different weight at each place, so that every single wrong character
and every two swapped characters are noticed; a remainder by 32 could not do both.

Files name a person by what is made of the code, from which nobody reads it back. A review's secret salt travels in
its batch and in no evidence. The *tag* takes scrypt to make of code and salt, so that anyone who has the batch cannot
try all codes in a reasonable time; events name their person by it. A batch names people by the hash of the tag, so
that from a batch alone nobody can write in anybody's name.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field

from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.sealed.archive import SignedRecord, read_record, signed_record
from harness.sealed.keys import Identity, PublicIdentity
from harness.sealed.sealing import SealError, checked_recipient, stretch
from harness.sealed.stick import read_named
from harness.sealed.strict_records import FileError, FileProblem, Hex64, StrictRecord, about_file

SALT_BYTES: Final = 32

# scrypt with N = 2¹⁴, r = 8 and p = 1: 16 MiB and a tenth of a second for each code that is tried
_WORK: Final = 14
_TAG_BYTES: Final = 16
_PLACE: Final = b"rosetta person "
_SALT = re.compile(rb"[0-9a-f]{64}\n")


def new_salt() -> bytes:
    """Draw the salt of a review."""
    return secrets.token_bytes(SALT_BYTES)


def tag_of(code: str, salt: bytes) -> str:
    """Return the tag of a code in the review of a salt, 32 hexadecimal digits; takes a tenth of a second."""
    return stretch(code.encode(), salt, work=_WORK, length=_TAG_BYTES).hex()


def place_of(tag: str) -> str:
    """Return the name under which a batch lists the person of a tag, 64 hexadecimal digits."""
    return hashlib.sha256(_PLACE + tag.encode()).hexdigest()


def salt_member(salt: bytes) -> bytes:
    """Write a salt as a batch holds it: a line of 64 hexadecimal digits."""
    return salt.hex().encode() + b"\n"


def read_salt(content: bytes) -> bytes:
    """Read a salt as a batch holds it; raises ValueError where it is none."""
    if not _SALT.fullmatch(content):
        raise ValueError("not 64 hexadecimal digits and the end of a line")
    return bytes.fromhex(content.decode().strip())


ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
LENGTH: Final = 8

_POLYNOMIAL = 0b100101  # x⁵ + x² + 1, whose root generates all elements but zero

_LOOK_ALIKE = str.maketrans("OIL", "011")


class CodeProblem(StrEnum):
    LENGTH = "length"
    CHARACTER = "character"
    CHECK = "check"


class CodeError(UsageError):
    """What was typed is no reviewer's code; ``problem`` lets a face say it in its own language."""

    def __init__(self, problem: CodeProblem, message: str) -> None:
        self.problem = problem
        super().__init__(message)


def make_codes(count: int, draw: Callable[[int], int] = secrets.randbelow) -> list[str]:
    """Make different codes; ``draw(n)`` gives a number below n, as ``random.Random(seed).randrange``."""
    codes: dict[str, None] = {}
    while len(codes) < count:
        body = "".join(ALPHABET[draw(len(ALPHABET))] for _ in range(LENGTH - 1))
        codes[body + ALPHABET[_sum(body + ALPHABET[0])]] = None
    return list(codes)


def read_code(typed: str) -> str:
    """Read a code as people type it: any case, spaces and hyphens, O for 0, I or L for 1.

    Raises CodeError in words.
    """
    text = unicodedata.normalize("NFKC", typed).upper().translate(_LOOK_ALIKE)
    code = "".join(c for c in text if not c.isspace() and unicodedata.category(c) != "Pd")
    if len(code) != LENGTH:
        raise CodeError(
            CodeProblem.LENGTH,
            f"A reviewer's code has {LENGTH} letters and digits; {len(code)} were typed. Look at the card again.",
        )
    for place, character in enumerate(code, 1):
        if character not in ALPHABET:
            raise CodeError(
                CodeProblem.CHARACTER,
                f"Character {place} of the code cannot be right: a code has digits and the letters "
                "A–Z without I, L, O and U. Look at the card again.",
            )
    if _sum(code):
        raise CodeError(
            CodeProblem.CHECK,
            "This code cannot be right: one character is wrong, or two are swapped. Look at the card again.",
        )
    return code


def printed(code: str) -> str:
    """Return a code as it is on a card: two groups of four."""
    return f"{code[:4]}-{code[4:]}"


def _sum(code: str) -> int:
    """Add characters times weight: 1 for the last place, then the root's powers (Horner's rule)."""
    total = 0
    for character in code:
        total <<= 1
        if total & 0b100000:
            total ^= _POLYNOMIAL
        total ^= ALPHABET.index(character)
    return total


# ---- Small signed files that a person carries: a laptop's card, and a witness's statement about
# a laptop.
#
# With its card batches can be sealed for a laptop, and its ratings are known when they arrive.
# The card is signed, so comparing the six words of its signing key settles the rest of it too.
#
# Nobody can tell from ratings whether behind a laptop sat a speaker or its organisation. Who saw
# the laptop and the person can say so, with a key of their own; a certificate counts the laptops
# of which somebody did.

SUFFIX: Final = ".rosetta-laptop"


@dataclass(frozen=True)
class LaptopCard:
    name: str  # What people call this laptop; not a person's name
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
            "This laptop's card was changed after it was written: its signature does not fit. Ask for it once more.",
        )
    try:
        recipient = checked_recipient(card.recipient)
    except SealError as error:
        raise FileError(error.problem, f"This laptop's card cannot be used: {error}") from None
    return LaptopCard(card.name, PublicIdentity(card.signing_key, recipient))


WITNESS_SUFFIX: Final = ".rosetta-witness"
SAYS: Final = "I saw this laptop with a person whom the organisation asked, and compared its six words."


class Statement(StrictRecord):
    format: Literal["rosetta-witness/1"] = "rosetta-witness/1"
    says: Literal["I saw this laptop with a person whom the organisation asked, and compared its six words."] = SAYS
    laptop: Hex64  # Signing key of the laptop that was seen
    organisation: Hex64  # Signing key of the organisation that asks
    witness: Hex64  # Signing key of anyone who says so


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
