"""Which letter this computer cannot draw: nobody is asked to judge a text that shows empty boxes.

Qt is asked what it would really draw, with every font of the computer, for all different letters in one go:
each question alone would cost as much as a page of text.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate

from PySide6.QtCore import QTextBoundaryFinder
from PySide6.QtGui import QGlyphRun, QTextLayout, QTextOption

from review.desktop import fonts

_PX = 20
"""Which letters a font has does not depend on its size."""
_UNSEEN = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})
"""Categories of characters that show nothing by themselves."""
_BOXES = frozenset({"LastResort", ".LastResort"})
"""Families of fonts whose every letter is an empty box."""
_APART = " a "
"""Stands before each letter: a sign that many scripts share takes the fonts of the script before it."""
_VARIATIONS = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
"""What Unicode calls Default_Ignorable_Code_Point."""
_WHERE = QTextLayout.GlyphRunRetrievalFlag
_PICTURES = _WHERE.RetrieveGlyphIndexes | _WHERE.RetrieveStringIndexes


def first_missing(texts: Iterable[str]) -> str | None:
    """Give the first letter, with its marks, that no font of this computer can draw; None where all can be."""
    read = list(texts)
    doubtful = _doubtful({character for text in read for character in set(text)})
    odd = (text for text in read if not doubtful.isdisjoint(text))
    letters = {letter: _seen(letter) for text in odd for letter in _letters(text)}
    asked = [letter for letter, seen in letters.items() if not doubtful.isdisjoint(seen)]
    ends = _ends(f"{_APART}{letters[letter]}" for letter in asked)
    place = min(_undrawn("".join(_APART + letters[letter] for letter in asked)), default=None)
    return None if place is None else asked[bisect_right(ends, place)]


def _doubtful(characters: Iterable[str]) -> set[str]:
    """Give the characters that cannot be drawn beside each other; a mark may still be one with its letter."""
    seen = sorted(filter(_seen, characters))
    ends = _ends(f"{each} " for each in seen)
    return {seen[bisect_right(ends, place)] for place in _undrawn(" ".join(seen))}


def _ends(parts: Iterable[str]) -> list[int]:
    """Give where each part of a text ends, in the units of UTF-16, in which Qt counts."""
    return list(accumulate(len(part.encode("utf-16-le", "replace")) // 2 for part in parts))


def _letters(text: str) -> Iterator[str]:
    """Give the letters of a text with their marks, as Qt divides them."""
    units = text.encode("utf-16-le", "replace")
    finder = QTextBoundaryFinder(QTextBoundaryFinder.BoundaryType.Grapheme, text)
    begin = 0
    while (end := finder.toNextBoundary()) > begin:
        yield units[2 * begin : 2 * end].decode("utf-16-le", "replace")
        begin = end


def _seen(letter: str) -> str:
    """Give what is to be drawn of a letter, each of its marks once, however many there are."""
    seen = _VARIATIONS.sub("", letter)
    return "".join(c for c in dict.fromkeys(seen) if unicodedata.category(c) not in _UNSEEN)


def _undrawn(text: str) -> Iterator[int]:
    """Give the places, in UTF-16, of what would be an empty box; number 0 of every font is one."""
    layout = QTextLayout(text, fonts.font(_PX))
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.NoWrap)
    layout.setTextOption(option)
    layout.beginLayout()
    layout.createLine()
    layout.endLayout()
    for run in layout.glyphRuns(-1, -1, _PICTURES):
        boxes = _only_boxes(run)
        for picture, place in zip(run.glyphIndexes(), run.stringIndexes(), strict=True):
            if boxes or picture == 0:
                yield place


def _only_boxes(run: QGlyphRun) -> bool:
    """Tell whether a run has no real font; where Qt draws boxes itself, asking for a name ends the program."""
    font = run.rawFont()
    return font.fontTable("head").isEmpty() or font.familyName() in _BOXES
