"""Words of a text, and what in it is no word of any language (METRICS §0)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import regex

JOINERS = "'’ʼʔ·‑-"
"""Characters that join letters to one word in a language whose card says nothing else."""

_UNTOUCHED = (
    r"https?://[^\s<>]+"  # addresses
    r"|</?\p{L}[^<>]*>"  # tags
    r"|\$?\{\{?[^{}]*\}?\}"  # {x} {{x}} ${x}
    r"|%(?:\(\w+\)|\d+\$)?[-+0#]*\d*(?:\.\d+)?[sdifgxc@](?!\w)"  # %s %1$d %(x)s
)


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


def words(text: str, joiners: str = JOINERS, letters: str = "") -> Iterator[Word]:
    """Give the words of a text; placeholders, tags and addresses are none.

    ``joiners`` belong to a word where letters stand on both sides; ``letters`` are characters that
    Unicode calls no letter and the language does, such as an apostrophe for a glottal stop.
    """
    for match in _piece(joiners, letters).finditer(text):
        if match["word"] is not None:
            yield Word(match["word"], match.start(), match.end())


@cache
def _piece(joiners: str, letters: str) -> regex.Pattern[str]:
    letter = rf"[\p{{L}}\p{{M}}\p{{N}}{regex.escape(letters)}]"
    joined = rf"(?:[{regex.escape(joiners)}]{letter}+)*" if joiners else ""
    return regex.compile(rf"(?P<untouched>{_UNTOUCHED})|(?P<word>{letter}+{joined})")


def folded(text: str) -> str:
    """Give a word in the form in which words are compared: NFC, without case, one apostrophe."""
    return unicodedata.normalize("NFC", text).casefold().replace("’", "'").replace("ʼ", "'")
