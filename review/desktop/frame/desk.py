"""What every page of the window needs: how to open a review, where to work, how things look, the words."""

from __future__ import annotations

from dataclasses import dataclass

from review.desktop.frame.work import Work
from review.desktop.look.look import Look
from review.session.opening import Opening
from review.session.words.catalogue import Words


@dataclass(frozen=True)
class Desk:
    """One for the whole run of the program."""

    opening: Opening
    work: Work
    look: Look

    @property
    def words(self) -> Words:
        """The words of the reviewer's language, which may change between two pages."""
        return self.opening.words
