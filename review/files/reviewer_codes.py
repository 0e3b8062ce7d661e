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
from enum import StrEnum
from typing import Final

from harness.core.failures import UsageError
from harness.sealed.sealing import stretch

SALT_BYTES: Final = 32

_WORK: Final = 14
"""scrypt with N = 2¹⁴, r = 8 and p = 1: 16 MiB and a tenth of a second for each code that is tried."""
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

_POLYNOMIAL = 0b100101
"""x⁵ + x² + 1, whose root generates all elements but zero."""

_LOOK_ALIKE = str.maketrans("OIL", "011")


class CodeProblem(StrEnum):
    """Why what was typed is no code."""

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
        codes[body + _check_character(body)] = None
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
            f"A reviewer's code has {LENGTH} letters and digits; {len(code)} were typed. "
            "Look at the card again.",
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
            "This code cannot be right: one character is wrong, or two are swapped. "
            "Look at the card again.",
        )
    return code


def printed(code: str) -> str:
    """Return a code as it is on a card: two groups of four."""
    return f"{code[:4]}-{code[4:]}"


def _check_character(body: str) -> str:
    """Find the character that makes the sum zero; its own weight is one."""
    return ALPHABET[_sum(body + ALPHABET[0])]


def _sum(code: str) -> int:
    """Add characters times weight: 1 for the last place, then the root's powers (Horner's rule)."""
    total = 0
    for character in code:
        total <<= 1
        if total & 0b100000:
            total ^= _POLYNOMIAL
        total ^= ALPHABET.index(character)
    return total
