"""Finding the file of a review anywhere on this computer or a stick, in the letters and words of the program."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from review.desktop.frame.work import Desk
from review.desktop.look.fonts import shown
from review.desktop.pages.first_page import FirstPage
from review.desktop.pages.folders import Folders, first_folder
from review.files.finding import BATCH_SUFFIX
from review.session import opening_words


class FilePage(FirstPage):
    """Begins at the stick, where there is one."""

    def __init__(self, desk: Desk, sticks: Sequence[Path]) -> None:
        super().__init__(desk)
        words = self.words
        self.place(words("Choose a file"))
        self.paragraph(opening_words.which_file(words))
        folders = Folders(desk, next(iter(sticks), first_folder()), BATCH_SUFFIX)
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
        self._scroll.show_beginning()
