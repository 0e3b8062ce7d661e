"""What the person agrees to, in plain words, before anything is begun."""

from __future__ import annotations

from functools import partial

from review.desktop.frame.work import Desk
from review.desktop.pages.first_page import FirstPage
from review.files.batch_form import BatchManifest
from review.session.words import page as page_words


class ConsentPage(FirstPage):
    """Who asks for what, what holds for everybody, and the organisation's own words; all of it is shown first.

    Whether what a person writes may be used is asked on a page of its own.
    """

    def __init__(self, desk: Desk, manifest: BatchManifest) -> None:
        super().__init__(desk)
        words = self.words
        self.place(page_words.before_you_begin(words))
        self.paragraph(manifest.title.strip(), "strong")
        self.paragraph(manifest.organisation.name, "quiet")
        self.paragraph(page_words.what_comes(words, manifest))
        self.paragraph("\n".join(f"• {each}" for each in page_words.promises(words, manifest)))
        self._given(page_words.consent(words, manifest))
        if manifest.labels:
            self.paragraph(" · ".join(manifest.labels), "quiet")
        if (guide := page_words.guide(words, manifest)).text:
            translating = manifest.task == "translate"
            self.paragraph(page_words.how_to_judge(words, translating=translating), "strong")
            self._given(guide)
        self.agree_by(words("I agree"), partial(self.answered.emit, True))
        self.way_back(words("Not now"))

    def _given(self, given: page_words.Given) -> None:
        """Show what the organisation wrote, and before it that it is in another language."""
        if given.note:
            self.paragraph(given.note, "quiet")
        self.paragraph(given.text)
