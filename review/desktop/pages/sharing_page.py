"""Whether what a person writes may be used: a question of its own, to which no answer is given for them."""

from __future__ import annotations

from review.desktop.frame.work import Desk
from review.desktop.pages.first_page import QuestionPage
from review.files.batch_form import BatchManifest
from review.session.words import page as page_words
from review.session.words.keys import may_share


class SharingPage(QuestionPage):
    """Yes or no; Enter alone answers nothing."""

    def __init__(self, desk: Desk, manifest: BatchManifest, now: bool | None = None) -> None:
        """``now`` is what holds until something else is chosen; None where it was not asked yet."""
        super().__init__(desk)
        words = self.words
        self.place(page_words.before_you_begin(words) if now is None else page_words.using(words))
        translating = manifest.task == "translate"
        self.paragraph(page_words.may_be_used(words, translating=translating), "strong")
        for sentence in page_words.what_using_means(words, manifest.organisation.name):
            self.paragraph(sentence)
        yes, no = page_words.yes_or_no(words)
        slip = words("Press 1 for yes or 2 for no.")
        answers = self.ask({yes: True, no: False}, may_share, slip)
        if now is not None:
            answers.mark([0 if now else 1])
