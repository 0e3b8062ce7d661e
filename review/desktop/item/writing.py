"""Where a person writes: a title, the box, letters that a keyboard may lack, and what can be done with it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from review.desktop.look.own_words import capital
from review.desktop.parts.buttons import Button
from review.desktop.parts.flow import FlowLayout
from review.desktop.parts.labels import Line
from review.desktop.parts.letter_row import LetterRow
from review.desktop.parts.typing_box import TypingBox
from review.session.words.catalogue import Words


class Writing(QWidget):
    """Every button has a key, and every key a button; nothing typed is lost by any of them."""

    paused = Signal(str)
    """The person stopped typing for a moment; the draft can be kept."""
    saved = Signal(str)
    """The text is ready."""
    left = Signal(str)
    """The person went back without saving; the draft stays."""

    def __init__(self, words: Words, letters: Sequence[str] = ()) -> None:
        super().__init__()
        self._box = TypingBox()
        self._title = Line(role="strong").name_of(self._box)
        self._start = Button(capital(words("copy the translation here")), "↑")
        self._start.clicked.connect(self.begin_with_start)
        self._box.paused.connect(self.paused)
        self._box.saved.connect(self.saved)
        self._box.left.connect(self.left)
        self.acts = QWidget()
        """What can be done with the text: it stands where it stays in sight, whatever the size of the letters."""
        self._lay_out(words, letters)

    @property
    def text(self) -> str:
        """What stands in the box: composed letters, no blanks around it."""
        return self._box.written

    def begin(self, title: str, text: str, start: str = "") -> None:
        """Let the person write on from this text; ``start`` can be brought into an empty box."""
        self._title.setText(title)
        self._title.setVisible(bool(title))
        self._box.setAccessibleName(title)
        self._start.setVisible(bool(start))
        self.show()
        self._box.begin(text, start)

    def begin_with_start(self) -> None:
        """Bring the start into an empty box."""
        self._box.begin_with_start()

    def take_keys(self) -> None:
        """Let the next key be text."""
        self._box.setFocus(Qt.FocusReason.OtherFocusReason)

    def take(self, text: str) -> None:
        """Take text that came before the box had the focus, or after a click took it away."""
        self._box.insert(text)

    def hold(self, *, still: bool) -> None:
        """Take no keys while something is being saved: they were not meant for what comes next."""
        self._box.hold(still=still)

    def save(self) -> None:
        """Give what stands in the box."""
        self._box.finish_word()
        self.saved.emit(self.text)

    def leave(self) -> None:
        """Go back; what stands in the box stays a draft."""
        self._box.finish_word()
        self.left.emit(self.text)

    def _lay_out(self, words: Words, letters: Sequence[str]) -> None:
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
