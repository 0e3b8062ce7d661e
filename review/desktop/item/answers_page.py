"""The person's own answers in a list, from which each sentence can be looked at and answered anew."""

from __future__ import annotations

from collections.abc import Sequence

from review.desktop.frame.page import Page
from review.desktop.frame.work import Desk
from review.desktop.look.fonts import shown
from review.desktop.parts.rows import ChoiceRows
from review.session.view import ShownItem
from review.session.words.catalogue import Words
from review.session.words.item import beginning
from review.session.words.labels import answer_label


class AnswersPage(Page):
    """Shows nobody else's answers, and none that was taken back."""

    def __init__(
        self, desk: Desk, answered: Sequence[ShownItem], *, translating: bool = False
    ) -> None:
        """``translating`` tells whether these are translations instead of ratings."""
        super().__init__(desk)
        words = self.words
        self.place(words("Your answers"))
        if answered:
            self.paragraph(words("Choose a sentence to look at it, and to change your answer."))
        else:
            self.paragraph(words("You have not answered anything yet."), "strong")
        rows = ChoiceRows(words, [_row(words, item, translating=translating) for item in answered])
        rows.chosen.connect(lambda number: self.answered.emit(answered[number].id))
        self.add(rows)
        self.way_back(main=True)


def _row(words: Words, item: ShownItem, *, translating: bool) -> str:
    """Name an item by its number, the answer and the beginnings of both texts, each on its line."""
    given = answer_label(words, item, translating=translating)
    head = words("{number}: {answer}", number=item.number, answer=given)
    texts = (item.source, item.candidate or item.translation)
    return "\n".join([head, *(shown(beginning(_on_one_line(text))) for text in texts if text)])


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
