"""Cree in its other writing: Standard Roman Orthography as syllabics, and syllabics as SRO.

Many who read one of the two do not read the other, and an entry has to be judged by both.
"""

from __future__ import annotations

from enum import StrEnum

from corpora.text import scripts
from corpora.words import words

LANGUAGES = frozenset({"cr", "cre", "crk", "cwd", "csw"})
"""Plains, Woods and Swampy Cree, whose two writings can be told from each other letter by letter."""


class Writing(StrEnum):
    """What a text can be turned into."""

    ROMAN = "roman letters (SRO)"
    SYLLABICS = "syllabics"


def is_cree(tag: str) -> bool:
    """Tell whether a language tag is that of a Cree whose texts can be converted."""
    return tag.replace("_", "-").split("-")[0].lower() in LANGUAGES


def other_writing(text: str) -> Writing:
    """Give the writing that a text is not in, going by most of its letters."""
    syllabic = scripts([text]).get("Canadian_Aboriginal", 0.0) >= 0.5
    return Writing.ROMAN if syllabic else Writing.SYLLABICS


def converted(text: str, into: Writing) -> str:
    """Give a text in one of the writings; what is in it already stays as it is.

    So do placeholders, punctuation, and roman words that cannot be Cree; one that could be is converted.
    """
    if into is Writing.ROMAN:
        from cree_sro_syllabics import syllabics2sro  # needed at the press of one key only

        return str(syllabics2sro(text))
    pieces, end = [], 0
    for word in words(text):
        pieces += [text[end : word.start], _syllabic(word.text)]
        end = word.end
    return "".join([*pieces, text[end:]])


def _syllabic(word: str) -> str:
    from cree_sro_syllabics import sro2syllabics

    try:
        return str(sro2syllabics(word, hyphens=" "))
    except AssertionError:  # a letter such as İ, which falls apart when it is lower-cased
        return word
