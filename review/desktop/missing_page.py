"""A review whose letters this computer cannot draw: nobody is asked to judge empty boxes."""

from __future__ import annotations

import unicodedata

from review.desktop.desk import Desk
from review.desktop.first_page import FirstPage


class MissingPage(FirstPage):
    """Says which letter is missing and what to do; there is no way round it."""

    def __init__(self, desk: Desk, letter: str, organisation: str) -> None:
        """``letter`` is one character, or several that are drawn as one."""
        super().__init__(desk)
        words = self.words
        self.place(words("This computer cannot show some letters"))
        self.paragraph(words("You would see empty boxes where letters should be."), "strong")
        self.paragraph(words("Nobody can judge what cannot be seen, so you are not asked to."))
        self.paragraph(
            words(
                "Tell the people who asked you: {organisation}. "
                "They can help with another computer or a newer version of this program.",
                organisation=organisation,
            )
        )
        self.paragraph(words("For whoever helps: {detail}", detail=letter_names(letter)), "quiet")
        self.tell_more_below()
        self.button(words("Back"), self.back, words("Esc"), main=True)

    def enter(self) -> None:
        """Go back."""
        self.back()


def letter_names(letter: str) -> str:
    """Name each character by its number and, where it has one, its Unicode name."""
    return ", ".join(
        f"U+{ord(each):04X} {unicodedata.name(each, '')}".strip() for each in letter[:8]
    )
