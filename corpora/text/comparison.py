"""How two texts are compared, and what a text is made of (METRICS §0)."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from functools import cache, lru_cache
from itertools import chain, takewhile
from typing import Any

from corpora.text.alike import without_unseen

MOST_STACKED = 30
"""Combining marks in a row; no writing has more (Unicode's stream-safe text format, UAX #15)."""

_NO_LETTERS = re.compile(r"[\W_]+")

SCRIPTS = (
    "Latin", "Canadian_Aboriginal", "Cherokee", "Cyrillic", "Greek", "Arabic", "Hebrew",
    "Devanagari", "Bengali", "Gurmukhi", "Gujarati", "Oriya", "Tamil", "Telugu", "Kannada",
    "Malayalam", "Sinhala", "Thai", "Lao", "Tibetan", "Myanmar", "Khmer", "Georgian", "Armenian",
    "Ethiopic", "Hangul", "Han", "Hiragana", "Katakana", "Bopomofo", "Mongolian", "Syriac",
    "Thaana", "Nko", "Tifinagh", "Vai", "Yi", "Javanese", "Balinese", "Sundanese", "Cham",
    "Adlam", "Osage", "Deseret", "Ol_Chiki", "Coptic", "Gothic", "Runic", "Ogham", "Lisu",
    "Meetei_Mayek", "Saurashtra", "Tai_Le", "New_Tai_Lue", "Tai_Tham", "Tai_Viet", "Limbu",
    "Lepcha", "Bamum", "Hanifi_Rohingya", "Warang_Citi", "Medefaidrin", "Nyiakeng_Puachue_Hmong",
    "Pahawh_Hmong", "Miao", "Wancho", "Mro", "Chakma", "Newa", "Tagalog", "Hanunoo", "Buhid",
    "Tagbanwa", "Buginese", "Rejang", "Kayah_Li",
)  # fmt: skip
"""Unicode scripts that living languages are written in; letters of any other count as ``Other``."""


class NormalForm(StrEnum):
    """Which Unicode normal form a text is in, where the two canonical forms differ for it."""

    NFC = "NFC"
    NFD = "NFD"
    EITHER = "either"
    """The text is the same in both forms."""
    NEITHER = "neither"


def comparison_form(text: str) -> str:
    """Return the form in which texts are compared: NFC, stripped, runs of white space folded.

    Typing and copying change these three, and no reader sees a difference; case and punctuation stay.
    """
    return " ".join(unicodedata.normalize("NFC", text).split())


@lru_cache(maxsize=8192)
def bare_form(text: str) -> str:
    """Return a text without digits, punctuation, symbols, case and spacing; itself where nothing else is in it."""
    bare = unicodedata.normalize("NFC", text).translate(_LETTERS).casefold()
    return " ".join(bare.split()) or comparison_form(text)


class _Letters(dict[int, str]):
    """Keeps letters and marks, and gives a blank for digits, punctuation, symbols and controls."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        self[code] = " " if unicodedata.category(letter)[0] in "NPSC" else letter
        return self[code]


_LETTERS = _Letters()


def normalised(text: str) -> str:
    """Return a text without case, spaces, marks of punctuation and differences of writing that NFKC knows."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _NO_LETTERS.sub("", folded) or folded.strip()


def is_blank(text: str) -> bool:
    """Return whether nothing of a text would be seen: it is empty, white space or zero-width."""
    stripped = text.strip()
    return not stripped or not (stripped[:1].isalnum() or "".join(without_unseen(stripped).split()))


def stacked(text: str) -> bool:
    """Return whether more than ``MOST_STACKED`` combining marks are in a row anywhere.

    Bringing such a text into a normal form takes time by the square of the row. This takes linear time: a
    row that long holds one of every ``MOST_STACKED`` + 1 places, so only rows around those are counted.
    """
    if text.isascii():
        return False
    step = MOST_STACKED + 1
    return any(
        unicodedata.combining(text[place]) and _row_around(text, place) > MOST_STACKED
        for place in range(MOST_STACKED, len(text), step)
    )


def _row_around(text: str, place: int) -> int:
    """Return how many marks are in a row around a place, counted no further than needed."""
    before = takewhile(unicodedata.combining, reversed(text[max(0, place - MOST_STACKED) : place]))
    behind = takewhile(unicodedata.combining, text[place : place + MOST_STACKED + 1])
    return sum(1 for _ in chain(before, behind))


def normal_form(text: str) -> NormalForm:
    """Return which canonical normal form a text is in; mixed forms disturb every string metric."""
    if text.isascii():
        return NormalForm.EITHER
    composed = unicodedata.is_normalized("NFC", text)
    decomposed = unicodedata.is_normalized("NFD", text)
    if composed and decomposed:
        return NormalForm.EITHER
    if composed:
        return NormalForm.NFC
    return NormalForm.NFD if decomposed else NormalForm.NEITHER


def scripts(texts: Iterable[str]) -> dict[str, float]:
    """Return the share (0–1) of letters by Unicode script, largest first; empty where no letter is.

    Whether a corpus is in roman letters or syllabics is read from the texts, because tables of
    likely scripts are wrong for several languages.
    """
    characters: Counter[str] = Counter()
    for text in texts:
        characters.update(text)
    counts: Counter[str] = Counter()
    for character, count in characters.items():
        if character.isalpha():
            counts[script_of(character)] += count
    total = counts.total()
    return {script: count / total for script, count in counts.most_common()}


@cache
def script_of(letter: str) -> str:
    """Name the Unicode script of one letter, ``Other`` where it is none of SCRIPTS."""
    match = _script_pattern().match(letter)
    return str(match.lastgroup) if match else "Other"


@cache
def _script_pattern() -> Any:
    """Compile one alternative per script; ``regex`` is loaded only when a script is asked for."""
    import regex  # noqa: PLC0415  it would double the time that reading a corpus needs to start

    return regex.compile("|".join(rf"(?P<{name}>\p{{Script={name}}})" for name in SCRIPTS))
