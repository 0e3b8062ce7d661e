"""How things look: the bundled fonts, the letters that cannot be drawn, colours, sizes and the style sheet.

Every page is set in the bundled fonts, so that what a person judges looks the same on every computer. Which letters cannot be
drawn Qt is asked in one go, for each question alone would cost as much as a page of text.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import accumulate
from pathlib import Path
from typing import Final, NamedTuple

from PySide6.QtCore import QObject, QTextBoundaryFinder, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QPalette, QTextLayout, QTextOption
from PySide6.QtWidgets import QApplication

from corpora.text.visible import readable
from review.files.font_file import CarriedFont, FontError, legible_without, seen_of

FOLDER: Final = Path(__file__).parent / "fonts"

# In the order in which a letter is looked for; letters of other scripts come from the computer. The
# names are our own: where another version of Noto is installed, Qt would mix the two.
FAMILIES: Final = (
    "Rosetta Noto Sans",
    "Rosetta Noto Sans Canadian Aboriginal",
    "Rosetta Noto Sans Arabic",
    "Rosetta Noto Sans Symbols",
)

_FILES: Final = tuple(f"{f.replace(' ', '')}-{weight}.ttf" for f in FAMILIES for weight in ("Regular", "Bold"))


_CARRIED: dict[str, int] = {}  # Family of a font of the batch that is open → Qt's number for it


def load() -> list[Path]:
    """Register the fonts with Qt, before anything is drawn; gives the files that are not there or damaged."""
    return [file for file in (FOLDER / name for name in _FILES) if QFontDatabase.addApplicationFont(str(file)) == -1]


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
    made = QFont()
    made.setFamilies(families())
    made.setPixelSize(px)
    made.setBold(bold)
    return made


def font_label(px: int) -> str:
    """Name the font as it is recorded with each rating: the families of letters, and the size of the page."""
    return f"{' / '.join([*FAMILIES[:2], *_CARRIED])} {px} px"


_PX = 20  # Which letters a font has does not depend on its size
# Families of fonts whose every letter is an empty box
_BOXES = frozenset({"LastResort", ".LastResort"})
# Stands before each letter: a sign that many scripts share takes the fonts of the script before it
_APART = " a "
# Character → whether the fonts of now have it, as far as that was asked; no more than there are
# characters
_DRAWN_ALONE: dict[str, bool] = {}
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
        # A run without a real font; where Qt draws boxes itself, asking for a name ends the program
        drawn = run.rawFont()
        boxes = drawn.fontTable("head").isEmpty() or drawn.familyName() in _BOXES
        for picture, place in zip(run.glyphIndexes(), run.stringIndexes(), strict=True):
            if boxes or picture == 0:
                yield place


# ---- The style sheet: what Qt's own widgets look like in our colours ----
#
# Three sets of colours.
#
# Every text has a contrast of at least 7 to its ground (WCAG 2, level AAA), every border and the
# ring around what has the focus at least 3. A colour only repeats what a word or a sign says
# already.


class Theme(StrEnum):
    LIGHT = "light"
    DARK = "dark"
    CONTRAST = "contrast"


class Colours(NamedTuple):
    ground: QColor
    field: QColor  # Behind what is read, typed or pressed
    text: QColor
    quiet: QColor
    border: QColor
    accent: QColor
    on_accent: QColor
    good: QColor
    warn: QColor
    focus: QColor  # The ring around what has the focus


def _colours(*names: str) -> Colours:
    return Colours(*map(QColor, names))


COLOURS: Final = {
    Theme.LIGHT: _colours(
        "#f6f3ec", "#fffefb", "#1d1c19", "#4a4740", "#7a756a",
        "#0b4a5c", "#ffffff", "#0d5030", "#8a2c0a", "#8b2fa8",
    ),
    Theme.DARK: _colours(
        "#17191c", "#212429", "#f1efe9", "#c6c3ba", "#8b8a84",
        "#8fd0dc", "#0c1a1e", "#9adfb0", "#ffb98a", "#f5c84b",
    ),
    Theme.CONTRAST: _colours(
        "#000000", "#000000", "#ffffff", "#ffffff", "#ffffff",
        "#ffe500", "#000000", "#7dff9b", "#ffb47a", "#00ffff",
    ),
}  # fmt: skip


TARGET = 44  # Pixels: the smallest thing to press that a shaking hand hits

HIDES_KEYS = "hidesKeys"  # Property of the application: true where no button shows its key


def sheet(colours: Colours, px: int) -> str:
    """Return the style sheet for colours and a size of letters in pixels."""
    # where ground and field differ, what is only read needs no edge: an edge means that one can type
    card = colours.field if colours.ground != colours.field else colours.border
    names = {name: colour.name() for name, colour in colours._asdict().items()}
    title = px + max(4, px // 4)
    template = Path(__file__).with_name("sheet.qss").read_text("utf-8")
    return template.format(**names, card=card.name(), title=title, target=TARGET, inside=max(TARGET - 12, px * 3 // 2))


# ---- How things look: three sets of colours and six sizes of letters, changed at once and
# remembered.

# Pixels of the letters of a page: 80, 100, 125, 150, 200 and 240 % of the usual ones
SIZES: Final = (16, 20, 25, 30, 40, 48)
LARGE: Final = 30  # Pixels of letters for which the window takes all of the screen


class Setting(StrEnum):
    """Name of a setting in the laptop's file."""

    COLOURS = "window colours"
    TEXT_SIZE = "window text size"
    SHOWS_KEYS = "window shows keys"


class Look(QObject):
    """The look of now; whatever draws on its own listens to ``changed``."""

    changed = Signal()

    def __init__(self, theme: Theme, size: int, keep: Callable[[Setting, str], None]) -> None:
        """``keep`` remembers a setting."""
        super().__init__()
        self.theme, self.size = theme, _nearest(size)
        # False where the buttons are to show no letters of keys; the keys work all the same
        self.shows_keys = True
        self._keep = keep
        self._app: QApplication | None = None

    @property
    def colours(self) -> Colours:
        return COLOURS[self.theme]

    def set_theme(self, theme: Theme) -> None:
        if theme is not self.theme:
            self.theme = theme
            self._change(Setting.COLOURS, theme.value)

    def set_size(self, px: int) -> None:
        """Set the size that is nearest to this many pixels."""
        if (size := _nearest(px)) != self.size:
            self.size = size
            self._change(Setting.TEXT_SIZE, str(size))

    def set_shows_keys(self, shows: bool) -> None:
        """Show on each button the key that does the same, or only its words."""
        if shows is not self.shows_keys:
            self.shows_keys = shows
            self._change(Setting.SHOWS_KEYS, "yes" if shows else "no")

    def larger(self) -> None:
        self.set_size(SIZES[min(SIZES.index(self.size) + 1, len(SIZES) - 1)])

    def smaller(self) -> None:
        self.set_size(SIZES[max(SIZES.index(self.size) - 1, 0)])

    def apply(self, app: QApplication) -> None:
        """Dress the program in this look, now and at each change."""
        if self._app is None:
            app.setStyle("Fusion")
        self._app = app
        app.setProperty(HIDES_KEYS, not self.shows_keys)
        app.setPalette(palette(self.colours))
        app.setFont(font(self.size))
        app.setStyleSheet(sheet(self.colours, self.size))

    def take_fonts(self, carried: Sequence[CarriedFont]) -> None:
        """Draw with the fonts of a batch, too, from the next page on."""
        before = families()
        carry(carried)
        forget_fonts()
        if self._app is not None and families() != before:
            self.apply(self._app)

    def _change(self, name: Setting, value: str) -> None:
        if self._app is not None:
            self.apply(self._app)
        self._keep(name, value)
        self.changed.emit()


def palette(colours: Colours) -> QPalette:
    """Return Qt's palette of a theme; what cannot be used keeps its contrast and is shown by other means."""
    role = QPalette.ColorRole
    made = QPalette()
    for colour, roles in (
        (colours.ground, (role.Window,)),
        (colours.field, (role.Base, role.AlternateBase, role.Button, role.ToolTipBase)),
        (colours.text, (role.WindowText, role.Text, role.ButtonText, role.ToolTipText)),
        (colours.quiet, (role.PlaceholderText,)),
        (colours.border, (role.Mid, role.Dark, role.Light, role.Midlight, role.Shadow)),
        (colours.accent, (role.Highlight, role.Link, role.LinkVisited)),
        (colours.on_accent, (role.HighlightedText, role.BrightText)),
        (colours.focus, (role.Accent,)),
    ):
        for color_role in roles:
            made.setColor(color_role, colour)
    return made


def _nearest(px: int) -> int:
    return min(SIZES, key=lambda size: abs(size - px))
