"""A text that is broken into lines to fit a width: its height, and how it is drawn."""

from __future__ import annotations

from math import ceil

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QPainter,
    QTextLayout,
    QTextLine,
    QTextOption,
)

_LINE_END, _ENDLESS = "\u2028", 1_000_000


class Wrapped:
    """Breaks between words, and within a word only where it is wider than a whole line."""

    def __init__(self, text: str, font: QFont, direction: Qt.LayoutDirection) -> None:
        self._paragraphs = [_layout(part, font, direction) for part in text.split("\n")]
        self._text, self._font, self._direction = text, font, direction

    @property
    def wide(self) -> int:
        """Pixels of the longest paragraph on one line."""
        return self._widest(self._text.split("\n"))

    @property
    def widest_word(self) -> int:
        """Pixels of the longest word."""
        return self._widest(self._text.split())

    def height(self, width: int) -> int:
        """Break the text to a width; gives its height in pixels."""
        top = 0.0
        for layout in self._paragraphs:
            top = _break(layout, top, max(1, width))
        return ceil(top)

    @property
    def lines(self) -> int:
        """Lines, after the text was broken."""
        return len(self._lines())

    @property
    def first_line(self) -> int:
        """Pixels of the height of the first line, after the text was broken."""
        return ceil(self._lines()[0].height())

    @property
    def drawn_width(self) -> int:
        """Return the width of the longest line, after the text was broken."""
        return ceil(max((line.naturalTextWidth() for line in self._lines()), default=0))

    def draw(self, painter: QPainter, left: int, top: int, colour: QColor) -> None:
        """Draw the text as it was broken last."""
        painter.setPen(colour)
        for layout in self._paragraphs:
            layout.draw(painter, QPointF(left, top))

    def _widest(self, parts: list[str]) -> int:
        """Measure with the letters joined as they are drawn: some join into one picture."""
        layout = _layout(_LINE_END.join(parts), self._font, self._direction)
        _break(layout, 0.0, _ENDLESS)
        return 1 + ceil(max(layout.lineAt(n).naturalTextWidth() for n in range(layout.lineCount())))

    def _lines(self) -> list[QTextLine]:
        return [each.lineAt(n) for each in self._paragraphs for n in range(each.lineCount())]


def _break(layout: QTextLayout, top: float, width: int) -> float:
    """Break a paragraph into lines from ``top`` on; gives where the next one begins."""
    layout.beginLayout()
    while (line := layout.createLine()).isValid():
        line.setLineWidth(width)
        line.setPosition(QPointF(0, top))
        top += line.height()
    layout.endLayout()
    return top


def _layout(text: str, font: QFont, direction: Qt.LayoutDirection) -> QTextLayout:
    layout = QTextLayout(text, font)
    right = direction is Qt.LayoutDirection.RightToLeft
    option = QTextOption(Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft)
    option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)  # a path keeps its first sign
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    return layout
