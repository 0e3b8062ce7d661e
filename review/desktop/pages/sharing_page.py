"""Whether what a person writes may be used: a question of its own, to which no answer is given for them."""

from __future__ import annotations

from PySide6.QtCore import Signal

from review.desktop.frame.work import Desk
from review.desktop.pages.first_page import QuestionPage
from review.files.batch_form import BatchManifest
from review.session.words import page as page_words
from review.session.words.keys import may_share


class SharingPage(QuestionPage):
    """Yes or no; Enter alone answers nothing."""

    chosen = Signal(bool)

    def __init__(self, desk: Desk, manifest: BatchManifest, now: bool | None = None) -> None:
        """``now`` is what holds until something else is chosen; None where it was not asked yet."""
        super().__init__(desk)
        words = self.words
        self.place(page_words.before_you_begin(words) if now is None else page_words.using(words))
        translating = manifest.task == "translate"
        self.paragraph(page_words.may_be_used(words, translating=translating), "strong")
        for sentence in page_words.what_using_means(words, manifest.organisation.name):
            self.paragraph(sentence)
        answers = self.ask(page_words.yes_or_no(words))
        if now is not None:
            answers.mark([0 if now else 1])
        answers.picked.connect(lambda number: self.chosen.emit(number == 0))

    def typed(self, character: str) -> bool:
        """Take the answer that a digit names."""
        shares = may_share(character)
        if shares is not None:
            self.chosen.emit(shares)
        return shares is not None

    def enter(self) -> None:
        """Say that an answer is wanted: nobody agrees to this by a slip."""
        self.say(self.words("Press 1 for yes or 2 for no."))
