"""The bundled fonts: every page is set in them, so that a text looks the same on every computer.

A computer may lack letters of the language or draw them otherwise; what a person judges must not depend on it.

Which letters this computer cannot draw: no text shows empty boxes, and none is judged that cannot be read.

Qt is asked what it would really draw, with every font of the computer, for all different letters in one go:
each question alone would cost as much as a page of text.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Final

from PySide6.QtCore import QTextBoundaryFinder
from PySide6.QtGui import QFont, QFontDatabase, QGlyphRun, QTextLayout, QTextOption

from corpora.text.visible import readable
from review.files.font_file import CarriedFont, FontError, legible_without, seen_of

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
    """Replace the fonts of the batch before by those of this one; return why one is not used.

    They stand behind our own: no batch can draw a letter otherwise that the program has itself.
    """
    for number in _CARRIED.values():
        QFontDatabase.removeApplicationFont(number)
    _CARRIED.clear()
    troubles = []
    for font in fonts:
        try:
            family = font.read().family
        except FontError as error:
            troubles.append(error)
            continue
        number = QFontDatabase.addApplicationFontFromData(font.font)
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


_PX = 20
"""Which letters a font has does not depend on its size."""
_BOXES = frozenset({"LastResort", ".LastResort"})
"""Families of fonts whose every letter is an empty box."""
_APART = " a "
"""Stands before each letter: a sign that many scripts share takes the fonts of the script before it."""
_DRAWN_ALONE: dict[str, bool] = {}
"""Character → whether the fonts of now have it, as far as that was asked; no more than there are characters."""
_WHERE = QTextLayout.GlyphRunRetrievalFlag
_PICTURES = _WHERE.RetrieveGlyphIndexes | _WHERE.RetrieveStringIndexes


def undrawn(texts: Iterable[str]) -> list[str]:
    """Return the letters, each with its marks, that no font of this computer can draw, as they come first."""
    read = list(texts)
    doubtful = _doubtful({character for text in read for character in set(text)})
    odd = (text for text in read if not doubtful.isdisjoint(text))
    letters = {letter: seen_of(letter) for text in odd for letter in _letters(text)}
    asked = [letter for letter, seen in letters.items() if not doubtful.isdisjoint(seen)]
    ends = _ends(f"{_APART}{letters[letter]}" for letter in asked)
    places = _undrawn("".join(_APART + letters[letter] for letter in asked))
    return [asked[number] for number in sorted({bisect_right(ends, place) for place in places})]


def shown(text: str) -> str:
    """Return a text from outside as a page shows it: what cannot be drawn is there by its name."""
    return text if text.isascii() and text.isprintable() else readable(text, undrawn([text]))


def legible(text: str, script: str | None = None) -> bool:
    """Return whether a text can be read as ``shown``; ``script``: ISO 15924, of its language."""
    return text.isascii() or legible_without(text, undrawn([text]), script)


def forget_fonts() -> None:
    """Clear what is known to be drawn: a font came or went."""
    _DRAWN_ALONE.clear()


def _doubtful(characters: Iterable[str]) -> set[str]:
    """Return the characters that cannot be drawn beside each other; a mark may still be one with its letter."""
    seen = {character: seen_of(character) for character in characters}
    new = sorted(drawn for drawn in filter(None, seen.values()) if drawn not in _DRAWN_ALONE)
    ends = _ends(f"{drawn} " for drawn in new)
    lost = {new[bisect_right(ends, place)] for place in _undrawn(" ".join(new))}
    _DRAWN_ALONE.update({drawn: drawn not in lost for drawn in new})
    return {drawn for drawn in seen.values() if drawn and not _DRAWN_ALONE[drawn]}


def _ends(parts: Iterable[str]) -> list[int]:
    """Return where each part of a text ends, in the units of UTF-16, in which Qt counts."""
    return list(accumulate(len(part.encode("utf-16-le", "replace")) // 2 for part in parts))


def _letters(text: str) -> Iterator[str]:
    """Yield the letters of a text with their marks, as Qt divides them."""
    units = text.encode("utf-16-le", "replace")
    finder = QTextBoundaryFinder(QTextBoundaryFinder.BoundaryType.Grapheme, text)
    begin = 0
    while (end := finder.toNextBoundary()) > begin:
        if units[2 * end + 1 : 2 * end + 2] and 0xDC <= units[2 * end + 1] < 0xE0:
            continue  # Qt parts some letters of rare scripts within their two units
        yield units[2 * begin : 2 * end].decode("utf-16-le", "replace")
        begin = end


def _undrawn(text: str) -> Iterator[int]:
    """Yield the places, in UTF-16, of what would be an empty box; number 0 of every font is one."""
    layout = QTextLayout(text, font(_PX))
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
    """Return whether a run has no real font; where Qt draws boxes itself, asking for a name ends the program."""
    font = run.rawFont()
    return font.fontTable("head").isEmpty() or font.familyName() in _BOXES
