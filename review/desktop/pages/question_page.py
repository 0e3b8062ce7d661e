"""A page before the first sentence that asks one question: a digit or a click answers, Enter alone does not."""

from __future__ import annotations

from collections.abc import Iterable

from review.desktop.pages.first_page import FirstPage
from review.desktop.parts.answers import Answers
from review.session.words.item import Answer


class QuestionPage(FirstPage):
    """Words to read, then numbered answers."""

    def ask(self, told: Iterable[str]) -> Answers:
        """Put the answers below the words and return them; their numbers are their keys, from 1 on."""
        answers = Answers([Answer(str(number), said) for number, said in enumerate(told, 1)])
        self.hold(answers)
        self.button(self.words("Back"), self.back, self.words("Esc"))
        return answers
