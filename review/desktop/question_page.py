"""A page before the first sentence that asks one question: a digit or a click answers, Enter alone does not."""

from __future__ import annotations

from collections.abc import Iterable

from review.desktop.answers import Answers
from review.desktop.desk import Desk
from review.desktop.first_page import FirstPage
from review.desktop.letters import set_letters
from review.session.item_words import Answer


class QuestionPage(FirstPage):
    """Words to read, then numbered answers."""

    def __init__(self, desk: Desk) -> None:
        self._answers: Answers | None = None
        super().__init__(desk)

    def ask(self, told: Iterable[str]) -> Answers:
        """Put the answers below the words and return them; their numbers are their keys, from 1 on."""
        self._answers = Answers([Answer(str(number), said) for number, said in enumerate(told, 1)])
        self.hold(self._answers)
        self._fit()
        self.tell_more_below()
        self.button(self.words("Back"), self.back, self.words("Esc"))
        return self._answers

    def _fit(self) -> None:
        """Give the answers letters that leave room for what they mean."""
        super()._fit()
        if self._answers is not None:
            set_letters(self._answers, self.around())
