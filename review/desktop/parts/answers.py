"""Answers to choose from: each a large button with its key, its word and what it means, always in full.

They stand in one row, in two or one below the other, by the room there is.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QKeyEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPalette,
    QPen,
)
from PySide6.QtWidgets import QWidget

from review.desktop.look.own_words import said
from review.desktop.parts.buttons import RADIUS, Button, key_said
from review.desktop.parts.flow import FlowColumns
from review.desktop.parts.wrapped import Wrapped
from review.session.words.catalogue import msgid
from review.session.words.item import Answer

__all__ = ["Answer", "Answers"]

CHOSEN: Final = msgid("Chosen.")

_SMALLEST = 15
"""Pixels of the letters of a meaning, at least."""
_GIVEN_EDGE = 4
"""Pixels."""
_ARROWS: Final = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}


class Answers(QWidget):
    """The arrow keys go from one to the next; Tab does, too."""

    picked = Signal(int)
    """The number of the answer, from 0."""

    def __init__(self, answers: Sequence[Answer], sizes: Sequence[int] = ()) -> None:
        """``sizes`` are pixels of the letters of each word; without them all have those of the page."""
        super().__init__()
        self._columns = FlowColumns(self)
        each = itertools.zip_longest(answers, sizes[: len(answers)])
        self._buttons = [_AnswerButton(answer, size) for answer, size in each]
        for number, button in enumerate(self._buttons):
            button.clicked.connect(lambda _=False, number=number: self.picked.emit(number))
            self._columns.addWidget(button)

    def add_beside(self, button: Button) -> None:
        """Put a button that is no answer after the last one."""
        self._columns.addWidget(button)

    def mark(self, indices: Collection[int]) -> None:
        """Show which were given; the others lose their sign."""
        for number, button in enumerate(self._buttons):
            button.mark(given=number in indices)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go to the answer that stands where an arrow points."""
        step = _ARROWS.get(Qt.Key(event.key()))
        at = next((n for n, each in enumerate(self._buttons) if each.hasFocus()), None)
        if step is None or at is None or event.modifiers():
            event.ignore()
            return
        aside, down = step
        if self.layoutDirection() is Qt.LayoutDirection.RightToLeft:
            aside = -aside
        to = at + aside + down * self._columns.columns(self._columns.geometry().width())
        if 0 <= to < len(self._buttons):
            self._buttons[to].setFocus(Qt.FocusReason.TabFocusReason)


class _AnswerButton(Button):
    """A word, what it means below it, and a sign where it was given."""

    def __init__(self, answer: Answer, size: int | None = None) -> None:
        self._meaning = answer.meaning
        self._size = size
        self._given = False
        super().__init__(answer.word, answer.key)
        self.setAccessibleName(
            f"{answer.word}. {answer.meaning}" if answer.meaning else answer.word
        )

    def mark(self, *, given: bool) -> None:
        """Show whether it was given, and say so."""
        if given is not self._given:
            self._given = given
            parts = [key_said(self._key), said(CHOSEN) if given else ""]
            self.setAccessibleDescription(". ".join(part for part in parts if part))
            self.updateGeometry()
            self.update()

    def _words(self) -> list[Wrapped]:
        direction = self.layoutDirection()
        parts = [Wrapped(self.text(), self._text_font(), direction)]
        if self._meaning:
            parts.append(Wrapped(self._meaning, self._meaning_font(), direction))
        return parts

    def _inks(self) -> Iterator[QColor]:
        yield self._ink(QPalette.ColorRole.ButtonText)
        if self._meaning:
            yield self._ink(QPalette.ColorRole.PlaceholderText)

    def _text_font(self) -> QFont:
        font = super()._text_font()
        font.setBold(bool(self._meaning))
        if self._size is not None:
            font.setPixelSize(self._size)
        return font

    def _meaning_font(self) -> QFont:
        font = QFont(self.font())
        font.setPixelSize(max(_SMALLEST, font.pixelSize() * 4 // 5))
        return font

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the button, and a tick in its upper corner where it was given."""
        super().paintEvent(event)
        if self._given:
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._draw_sign(painter)

    def _key_colours(self) -> tuple[QColor, QColor, QColor]:
        if not self._given:
            return super()._key_colours()
        return self._ground(), self._ground(), self._on_ground()

    def _draw_sign(self, painter: QPainter) -> None:
        """Draw a thicker edge, and a round sign where no letter stands: above the height of the first line."""
        box = self._box()
        painter.setPen(QPen(self._ground(), _GIVEN_EDGE))
        painter.drawRoundedRect(box, RADIUS, RADIUS)
        radius = max(9.0, self.font().pixelSize() * 0.3)
        right = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
        aside = radius + RADIUS
        middle = QPointF(box.left() + aside if right else box.right() - aside, radius + 1)
        painter.setPen(QPen(self._on_ground(), 1.5))
        painter.setBrush(self._ground())
        painter.drawEllipse(middle, radius, radius)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self._on_ground(), max(2.0, radius / 4)))
        painter.drawPath(_tick(middle, radius))

    def _ground(self) -> QColor:
        return self._colour(QPalette.ColorRole.Highlight)

    def _on_ground(self) -> QColor:
        return self._colour(QPalette.ColorRole.HighlightedText)

    def _colour(self, role: QPalette.ColorRole) -> QColor:
        return self.palette().color(role)


def _tick(middle: QPointF, radius: float) -> QPainterPath:
    tick = QPainterPath(middle + QPointF(-0.45, 0.05) * radius)
    tick.lineTo(middle + QPointF(-0.12, 0.4) * radius)
    tick.lineTo(middle + QPointF(0.5, -0.35) * radius)
    return tick
