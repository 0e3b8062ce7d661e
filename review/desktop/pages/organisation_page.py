"""Who asks: an organisation that this computer does not know, once, with the six words of its key."""

from __future__ import annotations

from functools import partial

from review.desktop.frame.work import Desk
from review.desktop.pages.first_page import FirstPage
from review.files.batch import Batch
from review.session.words import page as page_words


class OrganisationPage(FirstPage):
    """The person compares six words with those on the card."""

    def __init__(self, desk: Desk, batch: Batch) -> None:
        super().__init__(desk)
        words = self.words
        self.place(page_words.who_asks(words))
        self.paragraph(page_words.comes_from(words))
        self.paragraph(batch.manifest.organisation.name, "strong")
        self.paragraph(page_words.its_six_words(words))
        self.paragraph(batch.organisation_phrase, "title")
        self.paragraph(page_words.compare_them(words))
        self.agree_by(words("They are the same"), partial(self.answered.emit, True))
        self.way_back(words("Not now"))
