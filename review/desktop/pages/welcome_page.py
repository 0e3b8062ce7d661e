"""Welcome back: the person who was here last goes on with one key, and anybody else types a code."""

from __future__ import annotations

from functools import partial

from review.desktop.frame.work import Desk
from review.desktop.pages.first_page import FirstPage
from review.session.flow import Other, WasHere


class WelcomePage(FirstPage):
    """Several people may share a computer, so nobody goes on as somebody else without a word."""

    def __init__(self, desk: Desk, title: str, last: WasHere) -> None:
        """The first letters of a code are enough to know one's own card, too little to answer as another."""
        super().__init__(desk)
        words = self.words
        self.place(words("Welcome back"))
        self.paragraph(title, "strong")
        self.paragraph(words("{done} of {total} done", done=last.done, total=last.total))
        self.paragraph(words("The code on your card begins with:"))
        self.paragraph(f"{last.letters} …", "title")
        self.button(words("Go on"), partial(self.answered.emit, ""), words("Enter"), main=True)
        self.button(words("I have another card"), partial(self.answered.emit, Other.CARD))
        self.way_back()
