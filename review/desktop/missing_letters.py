"""Which letter this computer cannot draw: nobody is asked to judge a text that shows empty boxes.

Qt is asked what it would really draw, with every font of the computer, for each letter with its marks once.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from PySide6.QtCore import QTextBoundaryFinder
from PySide6.QtGui import QTextLayout, QTextOption

from review.desktop import fonts

_PX = 20
"""Which letters a font has does not depend on its size."""
_UNSEEN = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})
"""Categories of characters that show nothing by themselves."""
_BOXES = frozenset({"LastResort", ".LastResort"})
"""Families of fonts whose every letter is an empty box."""
_VARIATIONS = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
"""What Unicode calls Default_Ignorable_Code_Point."""


def first_missing(texts: Iterable[str]) -> str | None:
    """Give the first letter, with its marks, that no font of this computer can draw; None where all can be."""
    read = list(texts)
    doubtful = _doubtful({character for text in read for character in set(text)})
    if not doubtful:
        return None
    letters = (
        letter for text in read if not doubtful.isdisjoint(text) for letter in _letters(text)
    )
    return next((each for each in letters if doubtful & set(each) and not _drawn(each)), None)


def _doubtful(characters: set[str]) -> set[str]:
    """Give the characters that cannot be drawn alone; a mark among them may still be one with its letter."""
    seen = sorted(each for each in characters if unicodedata.category(each) not in _UNSEEN)
    if _drawn(" ".join(seen)):
        return set()
    return {each for each in seen if not _drawn(each)}


def _letters(text: str) -> Iterator[str]:
    """Give the letters of a text with their marks, as Qt divides them; it counts in UTF-16."""
    units = text.encode("utf-16-le", "replace")
    finder = QTextBoundaryFinder(QTextBoundaryFinder.BoundaryType.Grapheme, text)
    begin = 0
    while (end := finder.toNextBoundary()) > begin:
        yield units[2 * begin : 2 * end].decode("utf-16-le", "replace")
        begin = end


def _drawn(text: str) -> bool:
    """Tell whether each character has a picture; number 0 of every font is the empty box."""
    layout = QTextLayout(_VARIATIONS.sub("", text), fonts.font(_PX))
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.NoWrap)
    layout.setTextOption(option)
    layout.beginLayout()
    layout.createLine()
    layout.endLayout()
    return all(
        0 not in run.glyphIndexes() and run.rawFont().familyName() not in _BOXES
        for run in layout.glyphRuns()
    )
