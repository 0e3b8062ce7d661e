"""Reviewers' pseudonyms: eight characters on a card, the last of which checks the others.

The alphabet is Crockford's base 32, which leaves out letters that look like digits. The check is a sum
over the field of 32 elements with a different weight at each place, so that every single wrong character
and every two swapped characters are noticed; a remainder by 32 could not do both.
"""

from __future__ import annotations

import secrets
import unicodedata
from collections.abc import Callable
from enum import StrEnum
from typing import Final

from harness.core.failures import UsageError

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
    """Return a code as it stands on a card: two groups of four."""
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
