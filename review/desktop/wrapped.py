"""A text that is broken into lines to fit a width: its height, and how it is drawn."""

from __future__ import annotations

from math import ceil

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QPainter,
    QTextLayout,
    QTextLine,
    QTextOption,
)


class Wrapped:
    """Breaks between words, and within a word only where it is wider than a whole line."""

    def __init__(self, text: str, font: QFont, direction: Qt.LayoutDirection) -> None:
        self._paragraphs = [_layout(part, font, direction) for part in text.split("\n")]
        metrics = QFontMetrics(font)
        self.wide = ceil(max(metrics.horizontalAdvance(part) for part in text.split("\n"))) + 1
        """Pixels of its longest paragraph on one line."""
        self.widest_word = 1 + max(map(metrics.horizontalAdvance, text.split()), default=0)
        """Pixels of its longest word."""

    def height(self, width: int) -> int:
        """Break the text to a width; gives its height in pixels."""
        top = 0.0
        for layout in self._paragraphs:
            layout.beginLayout()
            while (line := layout.createLine()).isValid():
                line.setLineWidth(max(1, width))
                line.setPosition(QPointF(0, top))
                top += line.height()
            layout.endLayout()
        return ceil(top)

    def drawn_width(self) -> int:
        """Give the width of the longest line, after the text was broken."""
        return ceil(max((line.naturalTextWidth() for line in self._lines()), default=0))

    def draw(self, painter: QPainter, left: int, top: int, colour: QColor) -> None:
        """Draw the text as it was broken last."""
        painter.setPen(colour)
        for layout in self._paragraphs:
            layout.draw(painter, QPointF(left, top))

    def _lines(self) -> list[QTextLine]:
        return [each.lineAt(n) for each in self._paragraphs for n in range(each.lineCount())]


def _layout(text: str, font: QFont, direction: Qt.LayoutDirection) -> QTextLayout:
    layout = QTextLayout(text, font)
    right = direction is Qt.LayoutDirection.RightToLeft
    option = QTextOption(Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft)
    option.setTextDirection(direction)
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    return layout
