"""A review of which this computer can show nothing: nobody is asked to judge empty boxes."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from review.desktop.frame.work import Desk
from review.desktop.pages.first_page import FirstPage

_MOST = 8
"""Letters that are named; one is enough for whoever helps."""


class MissingPage(FirstPage):
    """Says which letters are missing and what to do; a review of which anything can be read never comes here."""

    def __init__(self, desk: Desk, letters: Sequence[str], organisation: str) -> None:
        """``letters``: one at least, each one character or several that are drawn as one."""
        super().__init__(desk)
        words = self.words
        self.place(words("This computer cannot show the letters of this review"))
        self.paragraph(words("You would see empty boxes where letters should be."), "strong")
        self.paragraph(words("Nobody can judge what cannot be seen, so you are not asked to."))
        self.paragraph(
            words(
                "Tell the people who asked you: {organisation}. They can help with a newer version of this program, "
                "with another computer, or with a review that brings its letters along.",
                organisation=organisation,
            )
        )
        detail = ", ".join(map(letter_names, letters[:_MOST]))
        self.paragraph(words("For whoever helps: {detail}", detail=detail), "quiet")
        self.way_back(main=True)


def letter_names(letter: str) -> str:
    """Name each character by its number and, where it has one, its Unicode name."""
    return ", ".join(
        f"U+{ord(each):04X} {unicodedata.name(each, '')}".strip() for each in letter[:_MOST]
    )
