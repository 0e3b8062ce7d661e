"""A question that is asked beside an item, and its answers: what is wrong, why one cannot judge, whether it harms."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from review.desktop.look.own_words import capital
from review.desktop.parts.announcing import announce
from review.desktop.parts.answers import Answers
from review.desktop.parts.buttons import Button
from review.desktop.parts.flow import Offers
from review.desktop.parts.labels import Line
from review.session.words.catalogue import Words
from review.session.words.item import Answer, ItemQuestion


class QuestionBox(QWidget):
    """A question with a way back; hidden until it is asked."""

    left = Signal()
    """The person goes back without an answer."""

    def __init__(self) -> None:
        super().__init__()
        self._said = Line(role="strong").as_narrow_as_needed()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.addWidget(self._said)
        self.hide()

    def ask(self, question: ItemQuestion) -> None:
        """Ask it."""
        self._said.setText(question.said)
        self.setAccessibleName(question.said)
        self.show()
        announce(self, question.said)


class Choices(QuestionBox):
    """Several answers, each with its digit."""

    picked = Signal(int)

    def __init__(self, words: Words, answers: Sequence[Answer]) -> None:
        super().__init__()
        self._answers = Answers(answers)
        self._answers.picked.connect(self.picked)
        self._column.addWidget(self._answers)
        back = Button(capital(words("back")), words("Esc"))
        back.clicked.connect(self.left)
        self._answers.add_beside(back)  # a row of its own would push the sentence out of sight

    def mark(self, numbers: Sequence[int]) -> None:
        """Show which answers were given before."""
        self._answers.mark(numbers)


class OnceMore(QuestionBox):
    """Yes or no, for what should not happen by a slip of one key."""

    agreed = Signal()

    def __init__(self, words: Words) -> None:
        super().__init__()
        self._said.setProperty("role", "warn")
        acts = Offers()
        acts.offer(capital(words("yes")), self.agreed.emit, words("Enter"))
        acts.offer(capital(words("no")), self.left.emit, words("Esc"))
        self._column.addWidget(acts)
