"""How near a person is to the method that is judged: asked once, before the first sentence, and nothing is presumed."""

from __future__ import annotations

from PySide6.QtCore import Signal

from review.desktop.frame.work import Desk
from review.desktop.pages.first_page import QuestionPage
from review.rating import Relation
from review.session.words import page as page_words
from review.session.words.keys import relation_of


class RelationPage(QuestionPage):
    """One of three answers; Enter alone answers nothing."""

    chosen = Signal(Relation)

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        words = self.words
        self.place(page_words.before_you_begin(words))
        self.paragraph(page_words.how_near(words), "strong")
        self.paragraph(page_words.why_how_near(words))
        answers = self.ask(page_words.relations(words))
        answers.picked.connect(lambda number: self.chosen.emit(list(Relation)[number]))

    def typed(self, character: str) -> bool:
        """Take the answer that a digit names."""
        relation = relation_of(character)
        if relation is not None:
            self.chosen.emit(relation)
        return relation is not None

    def enter(self) -> None:
        """Say that an answer is wanted: nobody says this by a slip."""
        self.say(self.words("Press 1, 2 or 3."))
