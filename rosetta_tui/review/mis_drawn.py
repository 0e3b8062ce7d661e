"""Which texts a terminal draws so that another word seems to be there (DESIGN R6).

Terminals put one character into one cell: dots of syllabics are clipped, right-to-left text keeps the wrong
order, letters that join or move do not, and marks above marks fall together. One mark on a letter is fine.
"""

from __future__ import annotations

import shutil
import unicodedata
from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache

from corpora.text.comparison import script_of
from review.session.words.catalogue import Words, msgid


class MisDrawn(StrEnum):
    """Why a text is not safe to rate in a terminal."""

    SYLLABICS = "syllabics"
    RIGHT_TO_LEFT = "right_to_left"
    SHAPING = "shaping"  # letters change their form or place beside others
    STACKED_MARKS = "stacked_marks"  # two or more marks on one letter


WHY = {
    MisDrawn.SYLLABICS: msgid("These sentences are written in syllabics. Here their dots can get lost."),
    MisDrawn.RIGHT_TO_LEFT: msgid(
        "These sentences are written from right to left. Here they can appear in the wrong order."
    ),
    MisDrawn.SHAPING: msgid("The letters of these sentences change beside each other. Here they can be shown wrongly."),
    MisDrawn.STACKED_MARKS: msgid("Letters of these sentences have several marks. Here they can be shown wrongly."),
}
"""Why → words, to be translated."""

_SHAPING = frozenset({
    "Devanagari", "Bengali", "Gurmukhi", "Gujarati", "Oriya", "Tamil", "Telugu", "Kannada", "Malayalam",
    "Sinhala", "Tibetan", "Myanmar", "Khmer", "Mongolian", "Javanese", "Balinese", "Sundanese", "Cham",
    "Saurashtra", "Tai_Le", "Tai_Tham", "Tai_Viet", "Limbu", "Lepcha", "Meetei_Mayek", "Chakma", "Newa",
    "Buginese", "Rejang", "Tagalog", "Hanunoo", "Buhid", "Tagbanwa", "Pahawh_Hmong", "Miao", "Kayah_Li",
})  # fmt: skip
_VIRAMA = 9  # combining class of the sign that joins consonants, in any script
_JAMO = range(0x1100, 0x1200)  # parts of Korean syllables; whole syllables are drawn well
_WINDOWED = "rosetta-review"  # the program that draws every writing right, where it is installed


def what_to_do(words: Words) -> str:
    """Return where these texts can be rated: by a program that is here, else whom to ask for it."""
    if shutil.which(_WINDOWED):
        return words("Please use the program that opens a window: {program}.", program=_WINDOWED)
    return words("Ask the people who asked you for the program that opens a window. It draws these sentences right.")


def mis_drawn(text: str) -> MisDrawn | None:
    """Return why a terminal may draw a text wrongly, None where it draws it well."""
    if text.isascii():
        return None
    marks = 0
    for character in text:
        is_mark = _is_mark(character)
        marks = marks + 1 if is_mark else _own_marks(character)
        if (why := _of_character(character)) is not None:
            return why
        if is_mark and marks > 1:
            return MisDrawn.STACKED_MARKS
    return None


def first_mis_drawn(texts: Iterable[str]) -> MisDrawn | None:
    """Return it for the first of several texts that is not safe."""
    return next((why for text in texts if (why := mis_drawn(text)) is not None), None)


@lru_cache(4096)
def _of_character(character: str) -> MisDrawn | None:
    if character.isascii():
        return None
    if unicodedata.bidirectional(character) in {"R", "AL"}:
        return MisDrawn.RIGHT_TO_LEFT
    script = script_of(character)
    if script == "Canadian_Aboriginal":
        return MisDrawn.SYLLABICS
    joins = unicodedata.combining(character) == _VIRAMA or ord(character) in _JAMO
    return MisDrawn.SHAPING if joins or script in _SHAPING else None


@lru_cache(4096)
def _is_mark(character: str) -> bool:
    """Return whether it is on the letter before it; selectors of a picture's style show nothing."""
    return unicodedata.category(character) == "Mn" and not unicodedata.name(character, "").startswith(
        "VARIATION SELECTOR"
    )


@lru_cache(4096)
def _own_marks(character: str) -> int:
    """Count the marks that are part of one character, as two in ``ế``; drawn as one it is safe."""
    return len(unicodedata.normalize("NFD", character)) - 1
