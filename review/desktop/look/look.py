"""How things look: three sets of colours and six sizes of letters, changed at once and remembered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Final

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication

from review.desktop.look import fonts
from review.desktop.look.fonts import forget_fonts
from review.desktop.look.style import COLOURS, HIDES_KEYS, Colours, Theme, sheet
from review.files.font_file import CarriedFont

SIZES: Final = (16, 20, 25, 30, 40, 48)
"""Pixels of the letters of a page: 80, 100, 125, 150, 200 and 240 % of the usual ones."""
LARGE: Final = 30
"""Pixels of letters for which the window takes all of the screen."""


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
        self.shows_keys = True
        """False where the buttons are to show no letters of keys; the keys work all the same."""
        self._keep = keep
        self._app: QApplication | None = None

    @property
    def colours(self) -> Colours:
        """The colours of now."""
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
        """Set the next larger size, where there is one."""
        self.set_size(SIZES[min(SIZES.index(self.size) + 1, len(SIZES) - 1)])

    def smaller(self) -> None:
        """Set the next smaller size, where there is one."""
        self.set_size(SIZES[max(SIZES.index(self.size) - 1, 0)])

    def apply(self, app: QApplication) -> None:
        """Dress the program in this look, now and at each change."""
        if self._app is None:
            app.setStyle("Fusion")
        self._app = app
        app.setProperty(HIDES_KEYS, not self.shows_keys)
        app.setPalette(palette(self.colours))
        app.setFont(fonts.font(self.size))
        app.setStyleSheet(sheet(self.colours, self.size))

    def take_fonts(self, carried: Sequence[CarriedFont]) -> None:
        """Draw with the fonts of a batch, too, from the next page on."""
        before = fonts.families()
        fonts.carry(carried)
        forget_fonts()
        if self._app is not None and fonts.families() != before:
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
