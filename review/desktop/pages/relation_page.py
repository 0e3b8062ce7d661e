"""How near a person is to the method that is judged: asked once, before the first sentence, and nothing is presumed."""

from __future__ import annotations

from review.desktop.frame.work import Desk
from review.desktop.pages.first_page import QuestionPage
from review.rating import Relation
from review.session.words import page as page_words
from review.session.words.keys import relation_of


class RelationPage(QuestionPage):
    """One of three answers; Enter alone answers nothing."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        words = self.words
        self.place(page_words.before_you_begin(words))
        self.paragraph(page_words.how_near(words), "strong")
        self.paragraph(page_words.why_how_near(words))
        self.ask(
            dict(zip(page_words.relations(words), Relation, strict=True)),
            relation_of,
            words("Press 1, 2 or 3."),
        )
