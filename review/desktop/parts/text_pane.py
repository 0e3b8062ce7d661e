"""A text to be read: each paragraph runs in the direction of its own letters, and nothing in it acts.

It can be selected and copied, read by a screen reader, and is as high as its text where there is room.

A text in its full height: the page around it scrolls, because two bars beside each other lead nobody.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFont, QFontMetrics, QPaintEvent, QTextOption
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextEdit, QWidget
from shiboken6 import isValid

_FEWEST_LINES = 2
"""Lines that are seen even where there is little room."""


class TextPane(QTextEdit):
    """Shows plain text and tells when it was really painted."""

    drawn = Signal()
    """The text that was shown last is on the screen, as far as there is room; once for each."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._scale = 1.0
        self._untold = False
        self.setReadOnly(True)
        self.setAcceptRichText(False)
        self.setUndoRedoEnabled(False)
        self.setTabChangesFocus(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        self.document().setDefaultTextOption(_own_direction())
        self.document().documentLayout().documentSizeChanged.connect(
            lambda _: self.updateGeometry()
        )

    @property
    def more_below(self) -> bool:
        """Whether a part of the text is still below what is seen."""
        bar = self.verticalScrollBar()
        return bar.value() < bar.maximum()

    def show_text(self, text: str, scale: float = 1.0) -> None:
        """Show a text from its beginning, its letters ``scale`` times as large as those of the page."""
        self._scale = scale
        self._untold = True
        self._set_size()
        self.setPlainText(text)
        self.verticalScrollBar().setValue(0)
        self.viewport().update()

    def sizeHint(self) -> QSize:
        """Ask for the room of the whole text."""
        height = int(self.document().size().height()) + 1 + self._frame()
        return QSize(12 * self._line(), max(height, self._line() + self._frame()))

    def minimumSizeHint(self) -> QSize:
        """Be content with the first lines."""
        least = _FEWEST_LINES * self._line() + self._frame()
        return QSize(4 * self._line(), min(least, self.sizeHint().height()))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the text and tell so, once it is on the screen."""
        super().paintEvent(event)
        if self._untold:
            self._untold = False
            QTimer.singleShot(0, self._tell)

    def changeEvent(self, event: QEvent) -> None:
        """Follow the size of the page's letters."""
        super().changeEvent(event)
        if event.type() in {QEvent.Type.FontChange, QEvent.Type.StyleChange}:
            self._set_size()

    def _tell(self) -> None:
        if isValid(self) and not self._untold:
            self.drawn.emit()

    def _set_size(self) -> None:
        font = QFont(self.font())
        font.setPixelSize(max(1, round(font.pixelSize() * self._scale)))
        if self.document().defaultFont() != font:
            self.document().setDefaultFont(font)
            self.updateGeometry()

    def _line(self) -> int:
        return QFontMetrics(self.document().defaultFont()).lineSpacing()

    def _frame(self) -> int:
        """Pixels above and below the text together."""
        self.ensurePolished()
        margins = self.contentsMargins()
        return margins.top() + margins.bottom()


def _own_direction() -> QTextOption:
    option = QTextOption()
    option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    return option


class WholeText(TextPane):
    """Has no bar of its own, and is never laid out for one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
