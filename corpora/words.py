"""Words of a text, and what in it is no word of any language (METRICS §0)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import regex

JOINERS = "'’ʼʔ·‑-"
"""Characters that join letters to one word in a language whose card says nothing else."""

_UNTOUCHED = (
    r"https?://[^\s<>]+"  # addresses
    r"|</?\p{L}[^<>]*>"  # tags
    r"|\$?\{\{?[^{}]*\}?\}"  # {x} {{x}} ${x}
    r"|%(?:\(\w+\)|\d+\$)?[-+0#]*\d*(?:\.\d+)?[sdifgxc@](?!\w)"  # %s %1$d %(x)s
)


class Word(NamedTuple):
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
    if text.isalpha():  # most words, when a text is taken apart piece by piece
        yield Word(text, 0, len(text))
        return
    for match in _piece(joiners, letters).finditer(text):
        if (word := match["word"]) is not None:
            yield Word(word, *match.span())


def pieces(text: str) -> list[str]:
    """Cut a text where no word, placeholder or tag is cut, so that what is found of a piece can be kept.

    The pieces are what stands between spaces; the same ones come again and again in the texts of a corpus.
    Only placeholders and tags may hold a space: a text with one is a single piece.
    """
    return [text] if "{" in text or "<" in text else text.split(" ")


@cache
def _piece(joiners: str, letters: str) -> regex.Pattern[str]:
    letter = rf"[\p{{L}}\p{{M}}\p{{N}}{regex.escape(letters)}]"
    joined = rf"(?:[{regex.escape(joiners)}]{letter}+)*" if joiners else ""
    return regex.compile(rf"(?P<untouched>{_UNTOUCHED})|(?P<word>{letter}+{joined})")


def folded(text: str) -> str:
    """Give a word in the form in which words are compared: NFC, without case, one apostrophe."""
    return unicodedata.normalize("NFC", text).casefold().replace("’", "'").replace("ʼ", "'")
