"""The last page: everything is deleted, or what could not be, by name; nothing is left to do but to close."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from harness.core.failures import HarnessError
from review.desktop.frame.page import Page
from review.desktop.frame.work import Desk
from review.session.erasing import Remains, finish_erasing
from review.session.words.troubles import trouble


class ErasedPage(Page):
    """Stays until the window is closed; there is nothing to go back to."""

    def __init__(self, desk: Desk, remains: tuple[Remains, ...]) -> None:
        super().__init__(desk)
        self._folder: Path = desk.opening.laptop.path.parent
        self._fill(remains)

    def back(self) -> None:
        """Stay: nothing lies behind this page."""

    def _fill(self, remains: tuple[Remains, ...]) -> None:
        words = self.words
        self.clear()
        if remains:
            self.place(words("Not everything is deleted"))
            told = self.paragraph(words("This could not be deleted:"), "warn").text()
            for each in remains:
                self.copyable(self._named(each), told)
            self.paragraph(words("Show this to whoever helps you with this computer."))
            self.button(words("Try again"), self._again)
        else:
            self.place(words("Everything is deleted"))
            self.paragraph(
                words("Nothing of your answers and sentences is left on this computer."), "good"
            )
            self.paragraph(words("Thank you for your work."))
        self.button(
            words("Close the program"),
            lambda: self.window().close(),
            words("Enter"),
            main=True,
        )

    def _named(self, each: Remains) -> str:
        """Name what is left; why, in the words of the system, stands beside it for whoever helps."""
        if each.in_keyring:
            name = self.words(
                "the keys of this computer in its password store ({name})", name=each.name
            )
        else:
            name = each.name
        return f"{name} – {each.detail}"

    def _again(self) -> None:
        self.desk.work.do(partial(finish_erasing, self._folder), self._tried, self._failed)

    def _tried(self, remains: tuple[Remains, ...]) -> None:
        self._fill(remains)
        self.begin()

    def _failed(self, error: HarnessError) -> None:
        self.tell(trouble(self.words, error))
