"""Where a person writes: a title, the box, letters that a keyboard may lack, and what can be done with it.

What is typed, composed by an input method or pasted is kept. Digits are text here. A word that an input method has
not finished counts as written, so that no key loses it. Nobody depends on a keyboard layout to write their language.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QMimeData, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFontMetrics, QGuiApplication, QInputMethodEvent, QKeyEvent, QKeySequence, QTextOption
from PySide6.QtWidgets import QSizePolicy, QTextEdit, QVBoxLayout, QWidget

from review.desktop.parts.buttons import Button
from review.desktop.parts.flow import FlowLayout
from review.desktop.parts.texts import Line, announce, capital, said
from review.log.payloads import MOST_TEXT
from review.session.record import as_kept, harmless
from review.session.words.catalogue import Words, msgid

# So long after a key what is written is kept as a draft, however fast the next ones come
PAUSE_MILLISECONDS = 400
FEWEST_LINES, MOST_LINES = 2, 6  # Lines of text that the box shows before it scrolls

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
        self._unfinished = ""  # What an input method shows and has not given yet
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MILLISECONDS)
        self._pause.timeout.connect(lambda: self.paused.emit(self.written))
        self.setAcceptRichText(False)
        self.setTabChangesFocus(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        # Option by which each paragraph runs in the direction of its letters, and even a word
        # without blanks breaks.
        option = QTextOption()
        option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.document().setDefaultTextOption(option)
        self.textChanged.connect(self._changed)

    @property
    def written(self) -> str:
        """The text in the form in which it is kept, with the word that is being composed."""
        text = self.toPlainText()
        if self._unfinished:
            before = text.encode("utf-16-le", "surrogatepass")[: 2 * self.textCursor().position()].decode("utf-16-le")
            text = before + self._unfinished + text[len(before) :]
        return as_kept(harmless(text))

    def begin(self, text: str, start: str = "") -> None:
        """Start typing; ``start`` is what the up key inserts into an empty box."""
        self._start = harmless(start)[:MOST_TEXT]
        self._unfinished = ""
        self.setPlainText(harmless(text)[:MOST_TEXT])
        self.moveCursor(self.textCursor().MoveOperation.End)
        self._pause.stop()
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def begin_with_start(self) -> None:
        """Insert the start into an empty box."""
        if not self.written and not self.isReadOnly():
            self.insertPlainText(self._start)
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def insert(self, text: str) -> None:
        """Insert text at the cursor, as if it were typed."""
        if not self.isReadOnly():
            self.finish_word()
            self.insertPlainText(harmless(text))
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def hold(self, *, still: bool) -> None:
        """Accept nothing while something is being saved; what is still here after that is kept as a draft."""
        self.setReadOnly(still)
        if not still:
            self._pause.start()

    def finish_word(self) -> None:
        """Commit what an input method shows; what it does not give counts as written all the same."""
        if self._unfinished:
            QGuiApplication.inputMethod().commit()
        if self._unfinished:
            word, self._unfinished = self._unfinished, ""
            event = QInputMethodEvent()
            event.setCommitString(word)
            self.inputMethodEvent(event)

    # what Qt asks

    def keyPressEvent(self, event: QKeyEvent) -> None:
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
        super().inputMethodEvent(event)
        self._unfinished = event.preeditString()
        self._changed()

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Accept nothing but text."""
        return source.hasText()

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Insert pasted text without what would act on a screen, as far as there is room."""
        self.finish_word()
        room = MOST_TEXT - len(self.toPlainText()) + len(self.textCursor().selectedText())
        self.insertPlainText(harmless(source.text())[: max(0, room)])

    def sizeHint(self) -> QSize:
        """Return the text's height, clamped to the line limits."""
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
        """Return whether a key is the page's: to take back an answer, or to scroll, where nothing here answers to it."""
        undoes = event.matches(QKeySequence.StandardKey.Undo)
        rates = event.modifiers() == _CONTROL and Qt.Key.Key_0 <= event.key() <= Qt.Key.Key_9
        scrolls = event.key() in _SCROLLING and self.verticalScrollBar().maximum() == 0
        return rates or scrolls or (undoes and not self.document().isUndoAvailable())

    def _changed(self) -> None:
        # Delete before the cursor what is more than can be kept.
        cursor = self.textCursor()
        while len(self.toPlainText()) > MOST_TEXT and not cursor.atStart():
            cursor.deletePreviousChar()
        self.updateGeometry()
        if self.hasFocus() and not self._pause.isActive():
            self._pause.start()


CAPITALS: Final = msgid("Capital letters")
SMALLS: Final = msgid("Lower-case letters")
MORE: Final = msgid("More letters ({n} of {of})")

# Letters beside which box and sentence stay in view; of more there are pages, which one button
# turns
MOST_AT_ONCE: Final = 33

_STEPS: Final = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}


class LetterRow(QWidget):
    """One stop for Tab; the arrow keys go from letter to letter. A click leaves the focus with what is typed in.

    A long alphabet comes in pages of one length, so that it is never a wall below the box.
    """

    typed = Signal(str)

    def __init__(self, letters: Sequence[str], *, capitals: bool = True) -> None:
        """``capitals`` tells whether there is a button for capital letters, where the letters have any."""
        super().__init__()
        self._letters = [unicodedata.normalize("NFC", letter) for letter in letters]
        self._capital = False
        self._pages = -(-len(self._letters) // MOST_AT_ONCE)
        self._page = 0
        row = FlowLayout(self)
        row.setSpacing(0)
        self._buttons = [Button(letter) for letter in self._letters]
        for number, button in enumerate(self._buttons):
            button.clicked.connect(lambda _=False, number=number: self._type(number))
        self._case = Button(said(CAPITALS))
        self._case.clicked.connect(self._change_case)
        self._case.setVisible(capitals and any(_upper(letter) != letter for letter in self._letters))
        self._more = Button("")
        self._more.clicked.connect(self._turn)
        for button in (*self._buttons, self._more, self._case):  # its words change: no letter moves
            row.addWidget(button)
        self._show_page()
        self._stop_at(0)
        self._say_case()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = _STEPS.get(Qt.Key(event.key()), 0)
        stops = self._stops()
        at = next((n for n, stop in enumerate(stops) if stop.hasFocus()), None)
        if not step or at is None or event.modifiers():
            event.ignore()
            return
        if self.layoutDirection() is Qt.LayoutDirection.RightToLeft:
            step = -step
        to = (at + step) % len(stops)
        self._stop_at(to)
        stops[to].setFocus(Qt.FocusReason.TabFocusReason)

    def _stops(self) -> list[Button]:
        """Return the buttons that are shown now, in the order of the arrow keys."""
        return [b for b in (*self._buttons, self._more, self._case) if not b.isHidden()]

    def _stop_at(self, number: int) -> None:
        """Restrict Tab to one of the buttons."""
        here = self._stops()[number]
        for button in (*self._buttons, self._more, self._case):
            policy = Qt.FocusPolicy.TabFocus if button is here else Qt.FocusPolicy.NoFocus
            button.setFocusPolicy(policy)

    def _turn(self) -> None:
        """Show the next letters, after the last ones the first."""
        self._page = (self._page + 1) % self._pages
        self._show_page()
        self._stop_at(self._stops().index(self._more) if self._more.hasFocus() else 0)
        announce(self, self._more.text())

    def _show_page(self) -> None:
        each_page = -(-len(self._letters) // max(1, self._pages))
        for number, button in enumerate(self._buttons):
            button.setVisible(number // each_page == self._page)
        self._more.setVisible(self._pages > 1)
        self._more.setText(said(MORE, n=str(self._page + 1), of=str(self._pages)))

    def _type(self, number: int) -> None:
        letter = self._buttons[number].text()
        if self._capital:
            self._change_case()
        self.typed.emit(letter)

    def _change_case(self) -> None:
        """Show the other letters; after one capital the small ones come back."""
        self._capital = not self._capital
        for letter, button in zip(self._letters, self._buttons, strict=True):
            button.setText(_upper(letter) if self._capital else letter)
        self._say_case()
        announce(self, said(CAPITALS if self._capital else SMALLS))

    def _say_case(self) -> None:
        self._case.setText(said(SMALLS if self._capital else CAPITALS))


def _upper(letter: str) -> str:
    return unicodedata.normalize("NFC", letter.upper())


class Writing(QWidget):
    """Every button has a key, and every key a button; nothing typed is lost by any of them."""

    paused = Signal(str)  # The person stopped typing for a moment; the draft can be kept
    saved = Signal(str)  # The text is ready
    left = Signal(str)  # The person went back without saving; the draft stays

    def __init__(self, words: Words, letters: Sequence[str] = ()) -> None:
        super().__init__()
        self._box = TypingBox()
        self._title = Line(role="strong").name_of(self._box)
        self._start = Button(capital(words("copy the translation here")), "↑")
        self._start.clicked.connect(self.begin_with_start)
        self._box.paused.connect(self.paused)
        self._box.saved.connect(self.saved)
        self._box.left.connect(self.left)
        # What can be done with the text: it stands where it stays in sight, whatever the size of
        # the letters
        self.acts = QWidget()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._title)
        column.addWidget(self._box)
        if letters:
            row = LetterRow(letters)
            row.typed.connect(self.take)
            column.addWidget(row)
        save = Button(capital(words("save")), words("Enter"))
        save.setProperty("role", "main")
        save.clicked.connect(self.save)
        back = Button(capital(words("back; your words are kept")), words("Esc"))
        back.clicked.connect(self.leave)
        flow = FlowLayout()
        self.acts.setLayout(flow)
        for button in (save, back, self._start):
            flow.addWidget(button)

    @property
    def text(self) -> str:
        return self._box.written

    def begin(self, title: str, text: str, start: str = "") -> None:
        """Start writing on from this text; ``start`` can be inserted into an empty box."""
        self._title.setText(title)
        self._title.setVisible(bool(title))
        self._box.setAccessibleName(title)
        self._start.setVisible(bool(start))
        self.show()
        self._box.begin(text, start)

    def begin_with_start(self) -> None:
        """Insert the start into an empty box."""
        self._box.begin_with_start()

    def take_keys(self) -> None:
        self._box.setFocus(Qt.FocusReason.OtherFocusReason)

    def take(self, text: str) -> None:
        """Insert text that came before the box had the focus, or after a click took it away."""
        self._box.insert(text)

    def hold(self, *, still: bool) -> None:
        """Disable keys while something is being saved: they were not meant for what comes next."""
        self._box.hold(still=still)

    def save(self) -> None:
        self._box.finish_word()
        self.saved.emit(self.text)

    def leave(self) -> None:
        self._box.finish_word()
        self.left.emit(self.text)
