"""A page with one line to type, by keyboard or mouse: the code on the person's card, or the words that open a file."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from review.desktop.frame.work import Desk
from review.desktop.pages.first_page import FirstPage
from review.desktop.parts.buttons import Button
from review.desktop.parts.flow import FlowLayout
from review.desktop.parts.letter_row import LetterRow
from review.session.opening_words import AskedLine

_LONGEST = 400


class AskingPage(FirstPage):
    """What was typed stays there when it was not right."""

    def __init__(self, desk: Desk, asked: AskedLine, typed: str = "") -> None:
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
        self._box.textEdited.connect(lambda _: self._scroll.bring(self._box))
        self._add_letters(asked.letters)
        self.paragraph(asked.about, "quiet")
        words = self.words
        self.button(words("Go on"), self.enter, words("Enter"), main=True)
        self.way_back()

    def _add_letters(self, letters: Sequence[str]) -> None:
        """Let the answer be typed with the mouse alone; Tab needs one step past all of it."""
        place = QWidget()
        column, row = QVBoxLayout(place), FlowLayout()
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        signs = LetterRow([each for each in letters if each.strip()], capitals=False)
        signs.typed.connect(self._take)
        column.addWidget(signs)
        column.addLayout(row)
        if " " in letters:
            space = Button(self.words("Space"))
            space.clicked.connect(lambda: self._take(" "))
            row.addWidget(space)
        rub = Button(self.words("Take away the last letter"))
        rub.clicked.connect(self._rub)
        row.addWidget(rub)
        self.add(place)

    def _take(self, letter: str) -> None:
        self._box.insert(letter)
        self._box.setFocus()

    def _rub(self) -> None:
        """Take away the letter before the cursor, or what is selected."""
        self._box.backspace()
        self._box.setFocus()

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
