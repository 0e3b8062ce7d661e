"""Words of a text, and what in it is not to be touched (METRICS §0)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

import regex

_UNTOUCHED = (
    r"https?://[^\s<>]+"  # addresses
    r"|</?\p{L}[^<>]*>"  # tags
    r"|\$?\{\{?[^{}]*\}?\}"  # {x} {{x}} ${x}
    r"|%(?:\(\w+\)|\d+\$)?[-+0#]*\d*(?:\.\d+)?[sdifgxc@](?!\w)"  # %s %1$d %(x)s
)
_WORD = r"[\p{L}\p{M}\p{N}]+(?:['’ʼʔ·‑-][\p{L}\p{M}\p{N}]+)*"
_PIECE = regex.compile(rf"(?P<untouched>{_UNTOUCHED})|(?P<word>{_WORD})")


@dataclass(frozen=True, slots=True)
class Word:
    """One word and where it stands in its text."""

    text: str
    start: int
    end: int

    @property
    def number(self) -> bool:
        """True where it holds a digit."""
        return any(letter.isnumeric() for letter in self.text)


def words(text: str) -> Iterator[Word]:
    """Give the words of a text; placeholders, tags and addresses are none."""
    for match in _PIECE.finditer(text):
        if match["word"] is not None:
            yield Word(match["word"], match.start(), match.end())


def folded(text: str) -> str:
    """Give a word in the form in which words are compared: NFC, without case, one apostrophe."""
    return unicodedata.normalize("NFC", text).casefold().replace("’", "'").replace("ʼ", "'")
