"""Which letter this computer cannot draw: nobody is asked to judge a text that shows empty boxes.

Qt is asked what it would really draw, with every font of the computer, for each letter with its marks once.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

import regex
from PySide6.QtGui import QTextLayout, QTextOption

from review.desktop import fonts

_PX = 20
"""Which letters a font has does not depend on its size."""
_UNSEEN = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})
"""Categories of characters that show nothing by themselves."""
_BOXES = frozenset({"LastResort", ".LastResort"})
"""Families of fonts whose every letter is an empty box."""
_LETTER = regex.compile(r"\X")
_VARIATIONS = regex.compile(r"\p{Default_Ignorable_Code_Point}+")


def first_missing(texts: Iterable[str]) -> str | None:
    """Give the first letter, with its marks, that no font of this computer can draw; None where all can be."""
    letters = dict.fromkeys(
        letter for text in dict.fromkeys(texts) for letter in dict.fromkeys(_LETTER.findall(text))
    )
    seen = [letter for letter in letters if _shows(letter)]
    if not seen or _drawn(" ".join(seen)):
        return None
    return next((letter for letter in seen if not _drawn(letter)), None)


def _shows(letter: str) -> bool:
    return any(unicodedata.category(character) not in _UNSEEN for character in letter)


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
