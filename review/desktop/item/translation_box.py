"""The box for a translation, under its name, with the letters that a keyboard may lack."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from review.desktop.parts.labels import Line
from review.desktop.parts.letter_row import LetterRow
from review.desktop.parts.typing_box import TypingBox
from review.session.words import item as item_words
from review.session.words.catalogue import Words

_FEWEST_LINES, _MOST_LINES = 3, 8


class TranslationBox(QWidget):
    """Stays open for every sentence; Enter saves, Shift with Enter begins a new line, Esc leaves it."""

    paused = Signal(str)
    """The person stopped typing for a moment; the draft can be kept."""
    saved = Signal(str)
    """The text is ready."""
    typing = Signal()
    """The text in the box changed."""
    left = Signal(str)
    """The person went to what else can be done; the draft stays."""

    def __init__(self, words: Words, letters: Sequence[str]) -> None:
        super().__init__()
        self._box = TypingBox(_FEWEST_LINES, _MOST_LINES)
        self._box.setAccessibleName(words(item_words.YOUR_TRANSLATION))
        self._box.paused.connect(self.paused)
        self._box.saved.connect(self.saved)
        self._box.left.connect(self.left)
        self._box.textChanged.connect(self.typing)
        name = Line(words(item_words.YOUR_TRANSLATION), "strong").name_of(self._box)
        hint = words("Shift and Enter begin a new line. For the other keys, press Esc first.")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(name)
        column.addWidget(self._box)
        if letters:
            row = LetterRow(letters)
            row.typed.connect(self._box.insert)
            column.addWidget(row)
        column.addWidget(Line(hint, "quiet"))
        self.setFocusProxy(self._box)

    @property
    def text(self) -> str:
        """What stands in the box: composed letters, no blanks around it."""
        return self._box.written

    @property
    def is_used(self) -> bool:
        """Whether keys go into it now."""
        return self._box.isVisible() and self._box.hasFocus()

    def line_in(self, widget: QWidget) -> QRect:
        """Return the place of the line on which a person types, in the measure of a widget around it."""
        line = self._box.cursorRect()
        return QRect(self._box.viewport().mapTo(widget, line.topLeft()), line.size())

    def begin(self, text: str) -> None:
        """Let the person write on from this text."""
        self._box.begin(text)

    def take(self, text: str) -> None:
        """Take text that came before the box had the focus, or after a click took it away."""
        self._box.insert(text)

    def save(self) -> None:
        """Give what stands in the box, as if Enter was pressed."""
        self._box.finish_word()
        self.saved.emit(self.text)

    def hold(self, *, still: bool) -> None:
        """Take no keys while something is being saved: they were not meant for what comes next."""
        self._box.hold(still=still)
