"""The head of every page: where the person is, what was just done, and the way to other letters and to the settings.

The quiet message stands below the row for large letters and in a narrow window, where the row would break its words.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from review.desktop.look import fonts
from review.desktop.look.look import Look
from review.desktop.parts.buttons import Button
from review.desktop.parts.texts import Line
from review.session.words.catalogue import Words

INSET = 5
"""Pixels by which text is set in, so that it begins where the box of a button begins."""
_APART, _TOGETHER = "\u2066", "\u2069"
"""Between them a sign keeps its side of a letter, whatever the direction of the page."""
_LARGE = 26
"""Pixels of letters from which on the message stands below the row."""
_FURTHER = 1.15
"""Factor by which "Sentence 100 of 100" may be wider than "Sentence 1 of 100"."""


class PageHead(QWidget):
    """Stays in sight, or scrolls with the texts; ``under`` takes further widgets below it."""

    def __init__(self, words: Words, look: Look, to_settings: Callable[[], object]) -> None:
        super().__init__()
        self._look = look
        self.place = Line().as_narrow_as_needed()
        self.said = Line(role="quiet").as_narrow_as_needed()
        self.under = QVBoxLayout()
        self._row, self._signs, self._below_row = QHBoxLayout(), QHBoxLayout(), QVBoxLayout()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        for line in (self.place, self.said):
            line.setContentsMargins(INSET, 0, INSET, 0)
        self._row.addWidget(self.place, 1)
        self._row.addLayout(self._signs)
        self._signs.addWidget(self._sign("A−", words("Smaller letters"), look.smaller))
        self._signs.addWidget(self._sign("A+", words("Larger letters"), look.larger))
        self.settings = self._sign(words("Settings"), words("Settings"), to_settings)
        self._signs.addWidget(self.settings)
        for layout in (self._row, self._below_row, self.under):
            self._column.addLayout(layout)
        self.said.hide()

    def _sign(self, sign: str, name: str, act: Callable[[], object]) -> Button:
        button = Button(f"{_APART}{sign}{_TOGETHER}", parent=self)
        button.setAccessibleName(name)
        button.clicked.connect(lambda _: act())
        return button

    def dress(self, px: int) -> None:
        """Set the size of the letters in pixels; a change of parent undoes it."""
        self.place.setFont(fonts.font(px if px >= _LARGE else px + max(4, px // 4), bold=True))
        for part in (self.said, *self.findChildren(Button)):
            part.setFont(letters(self._look, px))

    def fit(self, px: int, width: int, gap: int) -> None:
        """Place the parts for a size of letters, a width and a gap between lines, all in pixels."""
        self.dress(px)
        self._column.setSpacing(gap)
        self._signs.invalidate()  # or else it asks for the room that the letters before needed
        signs = self._signs.sizeHint().width()
        metrics = QFontMetrics(self.place.font())
        place = _FURTHER * metrics.horizontalAdvance(self.place.text())
        stacked = 2 * signs > width or place > width - signs
        down, aside = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self._row.setDirection(down if stacked else aside)
        beginning = Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeading
        self._row.setAlignment(self._signs, beginning if stacked else Qt.AlignmentFlag.AlignTop)
        if px >= _LARGE or stacked or 2 * place > width - signs:
            self._below_row.addWidget(self.said)
        else:
            self._row.insertWidget(1, self.said, 1)

    @property
    def most_high(self) -> int:
        """Return the height in pixels with a message of one line, and a line kept for the hint that more is below."""
        stacked = self._row.direction() is QBoxLayout.Direction.TopToBottom
        lines = 2 + stacked + (self._below_row.count() > 0)
        return self.settings.sizeHint().height() + lines * self.said.fontMetrics().lineSpacing()


def letters(look: Look, px: int) -> QFont:
    """Return the font of a size in pixels; for the page's size one that follows later changes."""
    return QFont() if px == look.size else fonts.font(px)
