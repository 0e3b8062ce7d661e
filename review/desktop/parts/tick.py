"""A check box whose words wrap: it is never cut off, whatever the size of the letters."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QCheckBox, QSizePolicy, QStyle

from review.desktop.look.style import TARGET
from review.desktop.parts.wrapped import Wrapped

_GAP = 12
_RING = 3


class Tick(QCheckBox):
    """All of it can be clicked; Space ticks it."""

    def __init__(self, text: str, *, ticked: bool = False) -> None:
        super().__init__()
        self._words = text
        self.setAccessibleName(text)
        self.setChecked(ticked)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def hasHeightForWidth(self) -> bool:
        """Tell the layout that the height follows from the width."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height at which every word is seen."""
        return max(TARGET, self._wrapped().height(width - self._aside()) + _GAP)

    def sizeHint(self) -> QSize:
        """Ask for the room of the words on one line; the layout may give less."""
        wide = self._wrapped().wide + self._aside()
        return QSize(wide, self.heightForWidth(wide))

    def minimumSizeHint(self) -> QSize:
        """Wrap rather than widen the window."""
        return QSize(self._aside() + 4 * TARGET, TARGET)

    def hitButton(self, position: QPoint) -> bool:
        """Take a click anywhere on it."""
        return self.rect().contains(position)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002  all of it is drawn
        """Draw the square, the tick in it, the words, and the ring where it has the focus."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colour, role = self.palette().color, QPalette.ColorRole
        box, words = self._parts()
        if self.hasFocus():
            painter.setPen(QPen(colour(role.Accent), _RING))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(2, 2, -2, -2), 9, 9)
        painter.setPen(QPen(colour(role.WindowText), 2))
        painter.setBrush(colour(role.Highlight if self.isChecked() else role.Base))
        painter.drawRoundedRect(QRectF(box).adjusted(1, 1, -1, -1), 5, 5)
        if self.isChecked():
            painter.setPen(QPen(colour(role.HighlightedText), max(3, box.width() // 8)))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawPath(_sign(QRectF(box)))
        text = self._wrapped()
        top = words.top() + (words.height() - text.height(words.width())) // 2
        text.draw(painter, words.left(), top, colour(role.WindowText))

    def _wrapped(self) -> Wrapped:
        return Wrapped(self._words, self.font(), self.layoutDirection())

    def _aside(self) -> int:
        """Pixels of the width that the words do not have."""
        return self._box() + 3 * _GAP

    def _box(self) -> int:
        """Side of the square in pixels, as high as a capital letter and a little more."""
        return max(20, self.fontMetrics().capHeight() + 8)

    def _parts(self) -> tuple[QRect, QRect]:
        """Return the square and the room of the words, mirrored where one reads from the right."""
        side = self._box()
        inside = self.rect().adjusted(_GAP, 0, -_GAP, 0)
        box = QRect(inside.left(), inside.center().y() - side // 2, side, side)
        words = inside.adjusted(side + _GAP, 0, 0, 0)
        direction = self.layoutDirection()
        return (
            QStyle.visualRect(direction, self.rect(), box),
            QStyle.visualRect(direction, self.rect(), words),
        )


def _sign(box: QRectF) -> QPainterPath:
    """Return the tick, which is the same whatever the reading direction."""
    tick = QPainterPath(box.topLeft() + QPointF(box.width() * 0.24, box.height() * 0.52))
    tick.lineTo(box.topLeft() + QPointF(box.width() * 0.43, box.height() * 0.72))
    tick.lineTo(box.topLeft() + QPointF(box.width() * 0.77, box.height() * 0.3))
    return tick
