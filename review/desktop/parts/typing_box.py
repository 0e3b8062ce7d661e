"""The box for words of the person's own: what is typed, composed by an input method or pasted is kept.

Digits are text here. A word that an input method has not finished counts as written, so that no key loses it.
"""

from __future__ import annotations

from PySide6.QtCore import QMimeData, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QFontMetrics,
    QGuiApplication,
    QInputMethodEvent,
    QKeyEvent,
    QKeySequence,
    QTextOption,
)
from PySide6.QtWidgets import QSizePolicy, QTextEdit

from review.log.payloads import MOST_TEXT
from review.session.drafts import as_kept, harmless

PAUSE_MILLISECONDS = 400
"""So long after a key what is written is kept as a draft, however fast the next ones come."""
FEWEST_LINES, MOST_LINES = 2, 6
"""Lines of text that the box shows before it scrolls."""

_ENTER = frozenset({Qt.Key.Key_Return, Qt.Key.Key_Enter})
_SCROLLING = frozenset({Qt.Key.Key_PageUp, Qt.Key.Key_PageDown})
_SHIFT = Qt.KeyboardModifier.ShiftModifier
_CONTROL = Qt.KeyboardModifier.ControlModifier


class TypingBox(QTextEdit):
    """Plain text whose paragraphs run in their own direction; Enter saves, Esc leaves."""

    paused = Signal(str)
    saved = Signal(str)
    left = Signal(str)

    def __init__(self, fewest: int = FEWEST_LINES, most: int = MOST_LINES) -> None:
        """``fewest`` and ``most`` are the lines of text that are seen before it scrolls."""
        super().__init__()
        self._fewest, self._most = fewest, most
        self._start = ""
        self._unfinished = ""
        """What an input method shows and has not given yet."""
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MILLISECONDS)
        self._pause.timeout.connect(lambda: self.paused.emit(self.written))
        self.setAcceptRichText(False)
        self.setTabChangesFocus(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().setDefaultTextOption(_own_direction())
        self.textChanged.connect(self._changed)

    @property
    def written(self) -> str:
        """The text in the form in which it is kept, with the word that is being composed."""
        text = self.toPlainText()
        if self._unfinished:
            before = _units(text)[: 2 * self.textCursor().position()].decode("utf-16-le")
            text = before + self._unfinished + text[len(before) :]
        return as_kept(harmless(text))

    def begin(self, text: str, start: str = "") -> None:
        """Take the keys; ``start`` is what the up key brings into an empty box."""
        self._start = harmless(start)[:MOST_TEXT]
        self._unfinished = ""
        self.setPlainText(harmless(text)[:MOST_TEXT])
        self.moveCursor(self.textCursor().MoveOperation.End)
        self._pause.stop()
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def begin_with_start(self) -> None:
        """Bring the start into an empty box."""
        if not self.written and not self.isReadOnly():
            self.insertPlainText(self._start)
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def insert(self, text: str) -> None:
        """Take text in at the cursor, as if it were typed."""
        if not self.isReadOnly():
            self.finish_word()
            self.insertPlainText(harmless(text))
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def hold(self, *, still: bool) -> None:
        """Take nothing while something is being saved; what still stands here after that is kept as a draft."""
        self.setReadOnly(still)
        if not still:
            self._pause.start()

    def finish_word(self) -> None:
        """Let an input method give what it shows; what it does not give counts as written all the same."""
        if self._unfinished:
            QGuiApplication.inputMethod().commit()
        if self._unfinished:
            word, self._unfinished = self._unfinished, ""
            self.inputMethodEvent(_commit(word))

    # what Qt asks

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Save, leave, begin a new line; everything else is text or moves in it."""
        key = Qt.Key(event.key())
        if key in _ENTER and event.modifiers() & _SHIFT and not self.isReadOnly():
            self.textCursor().insertBlock()
            self.ensureCursorVisible()
        elif key in _ENTER or key == Qt.Key.Key_Escape:
            self._end(event)
        elif key == Qt.Key.Key_Up and self._start and not self.written:
            self.begin_with_start()
        elif self._is_not_ours(event):
            event.ignore()
        else:
            super().keyPressEvent(event)

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        """Note what is shown and not given yet."""
        super().inputMethodEvent(event)
        self._unfinished = event.preeditString()
        self._changed()

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Take in nothing but text."""
        return source.hasText()

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Take pasted text in without what would act on a screen, as far as there is room."""
        self.finish_word()
        room = MOST_TEXT - len(self.toPlainText()) + len(self.textCursor().selectedText())
        self.insertPlainText(harmless(source.text())[: max(0, room)])

    def sizeHint(self) -> QSize:
        """Be as high as the text, within the lines that were asked for."""
        line = QFontMetrics(self.font()).lineSpacing()
        margins = self.contentsMargins()
        frame = margins.top() + margins.bottom() + 2 * int(self.document().documentMargin())
        text = int(self.document().size().height()) + margins.top() + margins.bottom()
        height = max(self._fewest * line + frame, min(text, self._most * line + frame))
        return QSize(12 * line, height)

    def minimumSizeHint(self) -> QSize:
        """Never be lower than the text asks for."""
        return QSize(4 * QFontMetrics(self.font()).lineSpacing(), self.sizeHint().height())

    # what happens

    def _end(self, event: QKeyEvent) -> None:
        if event.isAutoRepeat():
            return
        self.finish_word()
        self._pause.stop()
        escape = event.key() == Qt.Key.Key_Escape
        (self.left if escape else self.saved).emit(self.written)

    def _is_not_ours(self, event: QKeyEvent) -> bool:
        """Tell whether a key is the page's: to take back an answer, or to scroll, where nothing here answers to it."""
        undoes = event.matches(QKeySequence.StandardKey.Undo)
        rates = event.modifiers() == _CONTROL and Qt.Key.Key_0 <= event.key() <= Qt.Key.Key_9
        scrolls = event.key() in _SCROLLING and self.verticalScrollBar().maximum() == 0
        return rates or scrolls or (undoes and not self.document().isUndoAvailable())

    def _changed(self) -> None:
        self._shorten()
        self.updateGeometry()
        if self.hasFocus() and not self._pause.isActive():
            self._pause.start()

    def _shorten(self) -> None:
        """Take away before the cursor what is more than can be kept."""
        cursor = self.textCursor()
        while len(self.toPlainText()) > MOST_TEXT and not cursor.atStart():
            cursor.deletePreviousChar()


def _own_direction() -> QTextOption:
    """Let each paragraph run in the direction of its own letters, and break even a word without blanks."""
    option = QTextOption()
    option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    return option


def _commit(word: str) -> QInputMethodEvent:
    event = QInputMethodEvent()
    event.setCommitString(word)
    return event


def _units(text: str) -> bytes:
    """Return the units in which Qt counts positions, two bytes each."""
    return text.encode("utf-16-le", "surrogatepass")
