"""Cree in its other writing: Standard Roman Orthography as syllabics, and syllabics as SRO.

Many who read one of the two do not read the other, and an entry has to be judged by both.
"""

from __future__ import annotations

from enum import StrEnum

import regex

from corpora.text.comparison import scripts
from corpora.text.tokens import folded, words

LANGUAGES = frozenset({"cr", "cre", "crk", "cwd", "csw"})
"""Plains, Woods and Swampy Cree, whose two writings can be told from each other letter by letter."""


class CreeTarget(StrEnum):
    """What a text can be turned into."""

    ROMAN = "roman letters (SRO)"
    SYLLABICS = "syllabics"


def is_cree(tag: str) -> bool:
    """Return whether a language tag is that of a Cree whose texts can be converted."""
    return tag.replace("_", "-").split("-")[0].lower() in LANGUAGES


def other_writing(text: str) -> CreeTarget:
    """Return the writing that a text is not in, going by most of its letters."""
    syllabic = scripts([text]).get("Canadian_Aboriginal", 0.0) >= 0.5
    return CreeTarget.ROMAN if syllabic else CreeTarget.SYLLABICS


def converted(text: str, into: CreeTarget, source: str = "") -> str:
    """Return a text in one of the writings; what is in it already stays as it is.

    So do placeholders, punctuation, words that the ``source`` of an entry has too, and roman words with
    letters that Cree does not have; any other word is taken for Cree.
    """
    if into is CreeTarget.ROMAN:
        from cree_sro_syllabics import syllabics2sro  # needed at the press of one key only

        return str(syllabics2sro(text))
    left_over = {folded(word.text) for word in words(source)}
    pieces, end = [], 0
    for word in words(text):
        stays = folded(word.text) in left_over or _ROMAN.fullmatch(folded(word.text)) is None
        pieces += [text[end : word.start], word.text if stays else _syllabic(word.text)]
        end = word.end
    return "".join([*pieces, text[end:]])


_ROMAN = regex.compile(r"[aâācehiîīkmnoôōpstwyýêē\-‑'’ʼ]+")
"""A word of Standard Roman Orthography, folded; ý is the y that other dialects say otherwise."""


def _syllabic(word: str) -> str:
    from cree_sro_syllabics import sro2syllabics

    return str(sro2syllabics(folded(word).replace("ý", "y"), hyphens=" "))
