"""Words in the window: text from anywhere is shown as it stands, nothing in it acts, and it can be spoken.

A label of Qt guesses on its own whether a text is markup, and makes a shortcut of a sign in the name of a box.
A text to be read can be selected and copied; each of its paragraphs runs in the direction of its letters.
Words that a widget says of itself come from the translator that the program gave to Qt: a button is made in many
places, and none of them has to hand it the words for "Key 1".
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QEvent, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QFont,
    QFontMetrics,
    QPaintEvent,
    QResizeEvent,
    QTextOption,
)
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QTextEdit, QWidget
from shiboken6 import isValid


def capital(words: str) -> str:
    """Return words with their first letter as a capital; ``title`` would keep apart what is one letter, as ǆ."""
    return words[:1].title() + words[1:]


def said(text: str, **facts: str) -> str:
    """Return a text of the catalogue (marked with ``msgid``); ``{name}`` in it becomes the fact of that name."""
    words = QCoreApplication.translate("", text)
    for name, fact in facts.items():
        words = words.replace(f"{{{name}}}", fact)
    return words


def announce(widget: QWidget, text: str) -> None:
    """Announce a text on behalf of a widget; nothing happens where nobody listens or the text is empty."""
    if text and QAccessible.isActive():
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(widget, text))


class Line(QLabel):
    """Plain text that is broken to the width there is; ``role`` is one of the look's."""

    def __init__(self, text: str = "", role: str = "", *, wraps: bool = True, selectable: bool = False) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(wraps)
        self.setProperty("role", role)
        if selectable:
            self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setText(text)

    def as_narrow_as_needed(self) -> Line:
        """Set that no word widens the page; return the line."""
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        return self

    def name_of(self, box: QWidget) -> Line:
        """Set the line as the name of a box or pane, for those who hear the page; return the line."""
        text = self.text()
        self.setBuddy(box)
        self.setText(text)
        return self

    def setText(self, text: str) -> None:
        """Show a text; in a name a single ``&`` would make a shortcut of the letter behind it."""
        super().setText(text if self.buddy() is None else text.replace("&", "&&"))


class OneLine(Line):
    """A line whose end is left out where there is no room for it."""

    def __init__(self, text: str = "", role: str = "") -> None:
        self._whole = text
        super().__init__(text, role, wraps=False, selectable=True)
        self.as_narrow_as_needed()

    def setText(self, text: str) -> None:
        """Show as much of a text as there is room for."""
        self._whole = text
        self._show_beginning()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_beginning()

    def changeEvent(self, event: QEvent) -> None:
        """Show as much of it as there is room for in other letters."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange:
            self._show_beginning()

    def _show_beginning(self) -> None:
        end = Qt.TextElideMode.ElideRight
        super().setText(self.fontMetrics().elidedText(self._whole, end, self.width()))


_FEWEST_LINES = 2  # Lines that are seen even where there is little room


class TextPane(QTextEdit):
    """Shows plain text and tells when it was really painted."""

    # The text that was shown last is on the screen, as far as there is room; once for each
    drawn = Signal()

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
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        option = QTextOption()
        option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.document().setDefaultTextOption(option)
        self.document().documentLayout().documentSizeChanged.connect(lambda _: self.updateGeometry())

    @property
    def more_below(self) -> bool:
        """Return whether a part of the text is still below what is seen."""
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
        height = int(self.document().size().height()) + 1 + self._frame()
        return QSize(12 * self._line(), max(height, self._line() + self._frame()))

    def minimumSizeHint(self) -> QSize:
        least = _FEWEST_LINES * self._line() + self._frame()
        return QSize(4 * self._line(), min(least, self.sizeHint().height()))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the text and tell so, once it is on the screen."""
        super().paintEvent(event)
        if self._untold:
            self._untold = False
            QTimer.singleShot(0, self._tell)

    def changeEvent(self, event: QEvent) -> None:
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


class WholeText(TextPane):
    """Has no own bar, and is never arranged for one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
