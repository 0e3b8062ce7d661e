"""A page with one line to type: the code on the person's card, or the words that open a file."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit

from review.desktop.desk import Desk
from review.desktop.first_page import FirstPage
from review.session.opening_words import Asked

_LONGEST = 400


class AskingPage(FirstPage):
    """What was typed stays there when it was not right."""

    answered = Signal(str)

    def __init__(self, desk: Desk, asked: Asked, typed: str = "") -> None:
        super().__init__(desk)
        self.place(asked.place)
        label = self.paragraph(
            asked.asked.replace("&", "&&"), "strong"
        )  # of a buddy, & names a key
        self._box = QLineEdit(typed)
        self._box.setMaxLength(_LONGEST)
        self._box.setAccessibleName(asked.asked)
        self._box.setAccessibleDescription(asked.about)
        label.setBuddy(self._box)
        self.add(self._box)
        self.paragraph(asked.about, "quiet")
        self.tell_more_below()
        words = self.words
        self.button(words("Go on"), self.enter, words("Enter"), main=True)
        self.button(words("Back"), self.back, words("Esc"))

    @property
    def text(self) -> str:
        """What stands in the line now."""
        return self._box.text()

    def begin(self) -> None:
        """Let the person type at once."""
        super().begin()
        self._box.setFocus()
        self._box.selectAll()

    def enter(self) -> None:
        """Give the answer; an empty line is none."""
        if self.text.strip():
            self.answered.emit(self.text)
        else:
            self._box.setFocus()
