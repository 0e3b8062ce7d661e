"""The bundled fonts: every page is set in them, so that a text looks the same on every computer.

A computer may lack letters of the language or draw them otherwise; what a person judges must not depend on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from PySide6.QtGui import QFont, QFontDatabase

from review.files.font_file import CarriedFont, FontError

FOLDER: Final = Path(__file__).parents[1] / "fonts"

FAMILIES: Final = (
    "Rosetta Noto Sans",
    "Rosetta Noto Sans Canadian Aboriginal",
    "Rosetta Noto Sans Arabic",
    "Rosetta Noto Sans Symbols",
)
"""In the order in which a letter is looked for; letters of other scripts come from the computer.

The names are our own: where another version of Noto is installed, Qt would mix the two.
"""

_FILES: Final = tuple(
    f"{family.replace(' ', '')}-{weight}.ttf"
    for family in FAMILIES
    for weight in ("Regular", "Bold")
)


_CARRIED: dict[str, int] = {}
"""Family of a font of the batch that is open → Qt's number for it."""


def load() -> list[Path]:
    """Register the fonts with Qt, before anything is drawn; gives the files that are not there or damaged."""
    return [
        file
        for file in (FOLDER / name for name in _FILES)
        if QFontDatabase.addApplicationFont(str(file)) == -1
    ]


def carry(fonts: Sequence[CarriedFont]) -> list[FontError]:
    """Take the fonts that a batch brings in place of those of the one before; gives why one is not used.

    They stand behind our own: no batch can draw a letter otherwise that the program has itself.
    """
    for number in _CARRIED.values():
        QFontDatabase.removeApplicationFont(number)
    _CARRIED.clear()
    troubles = []
    for each in fonts:
        try:
            family = each.read().family
        except FontError as error:
            troubles.append(error)
            continue
        number = QFontDatabase.addApplicationFontFromData(each.font)
        if number != -1 and QFontDatabase.applicationFontFamilies(number) == [family]:
            _CARRIED[family] = number
        else:
            troubles.append(FontError("This font is not used: Qt cannot read it."))
            QFontDatabase.removeApplicationFont(number)
    return troubles


def families() -> list[str]:
    """Return the families in which a letter is looked for, in their order; of what none has, the computer's own."""
    return [*FAMILIES, *_CARRIED]


def font(px: int, *, bold: bool = False) -> QFont:
    """Return the font of the window at a size in pixels."""
    made = QFont()
    made.setFamilies(families())
    made.setPixelSize(px)
    made.setBold(bold)
    return made


def named(px: int) -> str:
    """Name the font as it is recorded with each rating: the families of letters, and the size of the page."""
    return f"{' / '.join([*FAMILIES[:2], *_CARRIED])} {px} px"
