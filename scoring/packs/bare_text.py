"""Texts down to their letters, marks and numbers, in whatever script they are written.

The systems of the packs compare texts without case and punctuation. Their published code keeps the letters of
some scripts only, so that Cree syllabics, Devanagari, Khmer and Greek become nothing and any two answers are
equal; here a letter of any script stays.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Final

import regex

from corpora.text.comparison import stacked

_KEPT: Final = regex.compile(r"[\p{L}\p{M}\p{N}]")
_UNSEEN_IN_WORDS: Final = frozenset("\u00ad\u200c\u200d\u2060")
"""Soft hyphen, joiners and non-joiners: they stand inside a word and part nothing."""


class LetterTable(dict[int, str]):
    """A table for ``str.translate`` that keeps letters, marks and numbers and blanks all else.

    It decides about a character when it first meets it, so that a text costs one look-up a character.
    """

    def __init__(self, other: Callable[[str], str] = lambda _: " ") -> None:
        """Initialise with the replacement of a character that is not kept."""
        super().__init__()
        self._other = other

    def __missing__(self, code: int) -> str:
        character = chr(code)
        self[code] = shown = self._shown(character)
        return shown

    def _shown(self, character: str) -> str:
        if _KEPT.match(character):
            return character
        return "" if character in _UNSEEN_IN_WORDS else self._other(character)


_LETTERS: Final = LetterTable()


def composed(text: str) -> str:
    """Return a text in NFC; one with more marks on a letter than any writing has stays as it is.

    Composing a long row of marks takes time by the square of the row.
    """
    return text if stacked(text) else unicodedata.normalize("NFC", text)


def lowered(text: str) -> str:
    """Return a text in lower case, in NFC before and after."""
    return composed(composed(text).lower())


def bare(text: str) -> str:
    """Return the words of a text in lower case, one space between them, without punctuation and symbols."""
    return " ".join(lowered(text).translate(_LETTERS).split())
