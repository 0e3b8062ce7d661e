"""How near a person is to the method that is judged: asked once, before the first sentence, and nothing is presumed."""

from __future__ import annotations

from PySide6.QtCore import Signal

from review.desktop.answers import Answers
from review.desktop.desk import Desk
from review.desktop.first_page import FirstPage
from review.desktop.letters import set_letters
from review.rating import Relation
from review.session import page_words
from review.session.item_words import Answer
from review.session.keys import relation_of


class RelationPage(FirstPage):
    """One of three answers; Enter alone answers nothing."""

    chosen = Signal(Relation)

    def __init__(self, desk: Desk) -> None:
        self._answers: Answers | None = None
        super().__init__(desk)
        words = self.words
        self.place(page_words.before_you_begin(words))
        self.paragraph(page_words.how_near(words), "strong")
        self.paragraph(page_words.why_how_near(words))
        told = enumerate(page_words.relations(words), 1)
        answers = Answers([Answer(str(number), said) for number, said in told])
        answers.picked.connect(lambda number: self.chosen.emit(list(Relation)[number]))
        self.hold(answers)
        self._answers = answers
        self._fit()
        self.tell_more_below()
        self.button(words("Back"), self.back, words("Esc"))

    def _fit(self) -> None:
        """Give the answers letters that leave room for what they mean."""
        super()._fit()
        if self._answers is not None:
            set_letters(self._answers, self.around())

    def typed(self, character: str) -> bool:
        """Take the answer that a digit names."""
        relation = relation_of(character)
        if relation is not None:
            self.chosen.emit(relation)
        return relation is not None

    def enter(self) -> None:
        """Say that an answer is wanted: nobody says this by a slip."""
        self.say(self.words("Press 1, 2 or 3."))
