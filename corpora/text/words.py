"""Words of a text, and what in it is no word of any language (METRICS §0)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import regex

from corpora.text.placeholders import read

JOINERS = "'’ʼʔ·‑-"
"""Characters that join letters to one word in a language whose card says nothing else."""


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
    """Yield the words of a text; placeholders, tags and addresses are none.

    ``joiners`` belong to a word where letters stand on both sides; ``letters`` are characters that
    Unicode calls no letter and the language does, such as an apostrophe for a glottal stop.
    """
    if text.isalpha():  # most words, when a text is taken apart piece by piece
        yield Word(text, 0, len(text))
        return
    word = _word(joiners, letters)
    for start, end in read(text).spans:
        for match in word.finditer(text, start, end):
            yield Word(match[0], *match.span())


def pieces(text: str) -> list[str]:
    """Cut a text where no word, placeholder or tag is cut, so that what is found of a piece can be kept.

    The pieces are what stands between spaces; the same ones come again and again in the texts of a corpus.
    Only placeholders and tags may hold a space, and before a per cent sign it may tell that none begins
    there: a text with one of these is a single piece.
    """
    return [text] if "{" in text or "<" in text or " %" in text else text.split(" ")


@cache
def _word(joiners: str, letters: str) -> regex.Pattern[str]:
    letter = rf"[\p{{L}}\p{{M}}\p{{N}}{regex.escape(letters)}]++"
    joined = rf"(?:[{regex.escape(joiners)}]{letter})*+" if joiners else ""
    return regex.compile(f"{letter}{joined}")


def folded(text: str) -> str:
    """Return a word in the form in which words are compared: NFC, without case, one apostrophe."""
    return unicodedata.normalize("NFC", text).casefold().replace("’", "'").replace("ʼ", "'")
