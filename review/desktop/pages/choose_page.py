"""Which review: those on sticks and those kept here, the newest first, or any file that the person has."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from harness.sealed.carried_files import ReviewFile
from review.desktop.frame.work import AppContext
from review.desktop.look.fonts import shown
from review.desktop.pages.first_pages import FirstPage
from review.desktop.pages.folders import Folders, first_folder
from review.desktop.parts.choosing import ChoiceRows
from review.session import opening_words
from review.session.choice import Choice
from review.session.flow import Other


class FilePage(FirstPage):
    """Begins at the stick, where there is one."""

    def __init__(self, desk: AppContext, sticks: Sequence[Path]) -> None:
        super().__init__(desk)
        words = self.words
        self.place(words("Choose a file"))
        self.paragraph(opening_words.which_file(words))
        folders = Folders(desk, next(iter(sticks), first_folder()), ReviewFile.BATCH)
        folders.found.connect(self.answered)
        folders.told.connect(self.tell)
        folders.moved.connect(self._moved)
        self.add(folders)
        for stick in sticks:
            self.button(shown(stick.name or str(stick)), partial(folders.open, stick))
        self.button(words("My own folder"), partial(folders.open, first_folder()))
        self.way_back()

    def _moved(self) -> None:
        """Show the beginning of the folder that is open now."""
        self.tell(None)
        self.reading.show_beginning()


class ChoosePage(FirstPage):
    """The list of reviews; Enter opens the newest."""

    def __init__(self, desk: AppContext, choices: Sequence[Choice], said: str = "") -> None:
        """``said`` is one quiet sentence about what led here."""
        super().__init__(desk)
        self._choices = tuple(choices)
        self.place(self.words(opening_words.REVIEW_TRANSLATIONS))
        for damaged in opening_words.damaged_words(self.words):
            self.paragraph(damaged, "warn")
        if said:
            self.paragraph(said)
        if self._choices:
            self._list()
        else:
            self._say_what_to_do()
        self._offer()

    def enter(self) -> None:
        """Open the newest, or look again."""
        self.answered.emit(self._choices[0] if self._choices else None)

    def back(self) -> None:
        """Stay: there is no page before this one."""

    def _list(self) -> None:
        self.paragraph(self.words(opening_words.WHICH_SENTENCES), "strong")
        names = [
            f"{shown(choice.title)}\n{shown(opening_words.where(self.words, choice))}"
            for choice in self._choices
        ]
        rows = ChoiceRows(self.words, names, main=True)
        rows.chosen.connect(lambda number: self.answered.emit(self._choices[number]))
        self.add(rows)

    def _say_what_to_do(self) -> None:
        words = self.words
        self.paragraph(words(opening_words.NOTHING_YET), "strong")
        self.paragraph(
            words("Put the stick that you were given into this computer, then look again.")
        )
        self.paragraph(opening_words.what_it_is_called(words), "quiet")

    def _offer(self) -> None:
        words, empty = self.words, not self._choices
        self.button(
            words("Look again"),
            partial(self.answered.emit, None),
            words("Enter") if empty else "",
            main=empty,
        )
        self.button(words("Choose a file …"), partial(self.answered.emit, Other.FILE))
        self.button(words("Close the program"), lambda: self.window().close())
