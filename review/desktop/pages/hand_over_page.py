"""Submitting: finding the stick or a folder, the sealed file on it, six words, and when the stick may be pulled."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QDir, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QVBoxLayout, QWidget
from shiboken6 import isValid

from harness.core.failures import HarnessError
from harness.sealed.carried_files import ReviewFile, is_kind
from harness.sealed.stick import stick_error
from review.desktop.frame.page import Page, harmless_lines
from review.desktop.frame.work import AppContext
from review.desktop.look import shown
from review.desktop.parts.choosing import ChoiceRows
from review.desktop.parts.flow import Offers
from review.desktop.parts.texts import Line, TextPane, announce
from review.session.view import View
from review.session.waiting import Exported
from review.session.words import page as page_words
from review.session.words.keys import KEYS, Act, NextAction, act_of
from review.session.words.troubles import trouble

# ---- Finding a folder or a file on this computer, one step at a time, in the letters and words
# of the program.
#
# The dialogs of systems and of Qt note outside the data folder which folders were examined.

_MOST = 2000  # Folders that are listed of one place


class _Listed(NamedTuple):
    above: tuple[Path, ...] = ()
    folders: tuple[Path, ...] = ()
    files: tuple[Path, ...] = ()  # Those of the kind that is looked for


class Folders(QWidget):
    """Shows the folders in a folder, and files of one kind; each folder opens when it is chosen."""

    moved = Signal()  # Another folder is open now, or was listed
    found = Signal(object)  # The Path of the file that was chosen
    # A Trouble: a folder could not be listed, and the one before is still open
    told = Signal(object)

    def __init__(self, desk: AppContext, start: Path, wanted: ReviewFile | None = None) -> None:
        """``wanted`` is the kind of the files that are shown; without it none are."""
        super().__init__()
        self._desk, self._wanted = desk, wanted
        self.here = start  # The folder that is open
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._path, self._listing = Line(role="strong"), QWidget()
        for widget in (self._path, self._listing):
            self._column.addWidget(widget)
        self._show(start, _Listed(_parent(start)))
        self.open(start)

    def open(self, folder: Path) -> None:
        """List a folder away from the window; where that fails, stay."""
        self._desk.work.do(partial(_listed, folder, self._wanted), partial(self._opened, folder), self._not_opened)

    def _opened(self, folder: Path, listed: _Listed) -> None:
        if isValid(self):
            self._show(folder, listed)
            self.moved.emit()

    def _not_opened(self, error: HarnessError) -> None:
        if isValid(self):
            self.told.emit(trouble(self._desk.words, error))

    def _show(self, folder: Path, listed: _Listed) -> None:
        above, folders, files = listed
        self.here = folder
        self._path.setText(shown(str(folder)))
        words, listing = self._desk.words, QWidget()
        column = QVBoxLayout(listing)
        column.setContentsMargins(0, 0, 0, 0)
        up = [words("Up to {folder}", folder=path.name or str(path)) for path in above]
        self._add(column, up, above, self.open)
        if self._wanted and listed != _Listed(above):
            heading = words("Files with sentences") if files else words("There is no such file here.")
            column.addWidget(Line(heading, "strong" if files else "quiet"))
        self._add(column, [file.name for file in files], files, self.found.emit)
        if folders:
            column.addWidget(Line(words("Folders"), "strong"))
        self._add(column, [path.name for path in folders], folders, self.open)
        self._column.replaceWidget(self._listing, listing)
        self._listing.hide()
        self._listing.deleteLater()
        self._listing = listing

    def _add(
        self, column: QVBoxLayout, names: Sequence[str], paths: Sequence[Path], choose: Callable[[Path], object]
    ) -> None:
        if names:
            rows = ChoiceRows(self._desk.words, [shown(name) for name in names])
            rows.chosen.connect(lambda number: choose(paths[number]))
            column.addWidget(rows)


def first_folder() -> Path:
    """Return the person's own folder, or where the system knows none, the one in which all others lie."""
    try:
        return Path.home()
    except RuntimeError:
        return Path(Path.cwd().anchor)


def _parent(folder: Path) -> tuple[Path, ...]:
    """Return the folder above, where there is one."""
    return () if folder.parent == folder else (folder.parent,)


def _listed(folder: Path, wanted: ReviewFile | None) -> _Listed:
    """List the folders in a folder and its files of one kind, without hidden ones; raises StickError in words."""
    try:
        with os.scandir(folder) as entries:
            seen = [entry for entry in entries if not entry.name.startswith(".")]
            folders = [entry for entry in seen if _is_folder(entry)]
    except OSError as error:
        raise stick_error(folder, error) from None
    rest = [entry for entry in seen if entry not in folders]
    files = [entry for entry in rest if wanted and is_kind(Path(entry.path), wanted)]
    # above the last folder are the other drives of this computer
    drives = [Path(drive.absoluteFilePath()) for drive in QDir.drives()]
    above = _parent(folder) or tuple(drive for drive in drives if drive != folder)
    return _Listed(above, _by_name(folders), _by_name(files))


def _by_name(entries: Sequence[os.DirEntry[str]]) -> tuple[Path, ...]:
    named = sorted(entries, key=lambda entry: entry.name.casefold())
    return tuple(Path(entry.path) for entry in named[:_MOST])


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False  # a failing stick


# How soon a stick that is put in is seen; nobody has to wait for it, or to be quicker
LOOK_MILLISECONDS = 2000

# The six words are copied by hand: they stand in letters larger than those of the page
_PHRASE_SCALE = 1.6

# Writes everything that is to be handed in into a folder, and reads it back
Export = Callable[[Path], Sequence[Exported]]


class _Place(NamedTuple):
    path: Path
    on_stick: bool


class _Written(NamedTuple):
    files: Sequence[Exported]
    on_stick: bool


class HandOverPage(Page):
    """Writes to the stick that is chosen; a stick that is put in appears on its own."""

    def __init__(
        self, desk: AppContext, export: Export, places: Callable[[], Sequence[Path]], view: View | None = None
    ) -> None:
        """``places`` lists the folders to choose from, sticks above all; both are called away from the window.

        ``view`` tells how far the person is; None where several reviews are submitted.
        """
        super().__init__(desk)
        self._view = view
        self._export, self._find = export, places
        self._places: tuple[_Place, ...] | None = None
        self._rows: ChoiceRows | None = None
        self._folders: Folders | None = None
        self._saving = False
        self._settled = False  # True while a file is being written, and when it is there
        # Whether the settings were offered before that: they would lead away from the six words
        self._offered_settings = True
        self._came_of_it = ""  # What came of the last try
        self._timer = QTimer(self, interval=LOOK_MILLISECONDS)
        self._timer.timeout.connect(self._look_quietly)
        self.place(self.words(page_words.HAND_OVER))
        self._ask()
        self.look()

    def back(self) -> None:
        if self._folders is not None:
            self._ask()
        elif not self._saving:
            self.left.emit()

    # where

    def look(self) -> None:
        on_stick = self.desk.opening.on_stick

        def places() -> tuple[_Place, ...]:  # away from the window
            return tuple(_Place(path, on_stick(path)) for path in self._find())

        self.desk.work.do(places, self._found, self._not_found)

    def _look_quietly(self) -> None:
        if not self._settled and self._folders is None and not self.desk.work.busy:
            self.look()

    def _found(self, places: tuple[_Place, ...]) -> None:
        """Show what was found, where it is something else than before."""
        if not isValid(self) or self._settled or self._folders is not None:
            return
        before, self._places = self._places, places
        if self._places != before:
            self._ask()

    def _not_found(self, error: HarnessError) -> None:
        if isValid(self):
            self.tell(trouble(self.words, error))

    def _ask(self) -> None:
        words, places = self.words, self._places or ()
        stick = next((place for place in places if place.on_stick), None)
        self._clear()
        if self._came_of_it:
            self.paragraph(self._came_of_it, "warn")
        question = words("Looking for your stick …")
        if self._places is not None:
            folders = any(not place.on_stick for place in places)
            question = page_words.where_is_stick(words, sticks=stick is not None, folders=folders)
        asked = " ".join([*self._how_far(), self.paragraph(question, "strong").text()])
        if places:
            names = [
                harmless_lines(page_words.place_to_save(words, path, on_stick=on_stick)) for path, on_stick in places
            ]
            self._rows = ChoiceRows(words, names, main=stick is not None, keys=True)
            self._rows.chosen.connect(lambda number: self.save(places[number].path))
            self.add(self._rows)
        if stick is None:
            self.button(words("Look again"), self.look, words("Enter"), main=True)
        self.button(words("Another folder …"), self._choose_folder)
        self.way_back()
        if stick is not None:
            self._main = partial(self.save, stick.path)
        self._timer.start()
        self._heard(f"{self._came_of_it} {asked}".strip())

    def _how_far(self) -> list[str]:
        """Return how far the person is, and what is only a draft and so not submitted."""
        if self._view is None:
            return []
        far = page_words.how_far(self.words, self._view)
        self.paragraph(far)
        if not (unsaved := page_words.unsaved(self.words, self._view)):
            return [far]
        self.paragraph(unsaved, "warn")
        ways = Offers()
        ways.offer(
            self.words(page_words.LOOK_AT_UNSAVED),
            partial(self.answered.emit, NextAction.UNSAVED),
            KEYS[Act.UNSAVED][0],
        )
        self.add(ways)
        return [far, unsaved]

    def typed(self, character: str) -> bool:
        """Save in a place by its key, or look at what is only a draft, while nothing is being written."""
        if self._rows is not None and self._rows.typed(character):
            return True
        wanted = act_of(character) is Act.UNSAVED and self._folders is None and not self._settled
        if wanted and self._view is not None and self._view.unsaved:
            self.answered.emit(NextAction.UNSAVED)
            return True
        return super().typed(character)

    def _choose_folder(self) -> None:
        """Show other folders to choose from, beginning at the one at home."""
        words = self.words
        self._clear()
        self._folders = Folders(self.desk, first_folder())
        self._folders.told.connect(self.tell)
        self._folders.moved.connect(self._moved)
        self.add(self._folders)
        self.button(words("Save here"), self._save_in_folder, words("Enter"), main=True)
        self.way_back()
        self._heard(words("Choose a folder."))

    def _moved(self) -> None:
        if self._folders is not None:
            self.tell(None)
            self.reading.show_beginning()
            self._heard(shown(str(self._folders.here)))

    def _save_in_folder(self) -> None:
        if self._folders is not None:
            self.save(self._folders.here)

    # saving

    def save(self, folder: Path) -> None:
        if self._settled:
            return
        self._settled = self._saving = True
        self._offered_settings = self.offers_settings
        self.offer_settings(False)
        self._came_of_it = ""
        self._clear()
        self._heard(self.paragraph(self.words(page_words.SAVING), "strong").text())

        def write() -> _Written:  # everything, and whether that is a stick; away from the window
            on_stick = self.desk.opening.on_stick(folder)
            return _Written(self._export(folder), on_stick)

        self.desk.work.do(write, self._saved, self._not_saved)

    def _not_saved(self, error: HarnessError) -> None:
        """Show the places again to choose another at once; nothing of the person's is lost."""
        if not isValid(self):
            return
        self._settled = self._saving = False
        self.offer_settings(self._offered_settings)
        self._came_of_it = self.words(page_words.NOT_WRITTEN)
        self._ask()
        self.tell(trouble(self.words, error))
        self.look()

    def _saved(self, written: _Written) -> None:
        if not isValid(self):
            return
        self._saving = False
        words = self.words
        self._clear()
        confirmation = page_words.saved(words, on_stick=written.on_stick)
        self.paragraph(confirmation, "good")
        for file in written.files:
            self._show(file)
        self.paragraph(words(page_words.WRITE_THEM_DOWN))
        self.paragraph(words("Where the file is:"), "quiet")
        for file in written.files:
            self.copyable(str(file.path), shown(file.path.name))
        self.button(words("Continue"), self.left.emit, words("Enter"), main=True)
        phrases = " ".join(file.phrase for file in written.files)
        self._heard(f"{confirmation} {phrases}")

    def _show(self, file: Exported) -> None:
        self.paragraph(self.words(page_words.SIX_WORDS_OF_FILE))
        phrase = TextPane()
        phrase.setAccessibleName(self.words(page_words.SIX_WORDS_OF_FILE))
        phrase.show_text(file.phrase, _PHRASE_SCALE)
        self.add(phrase)
        copies = Offers()
        copies.offer(self.words("Copy the six words"), partial(self._copy, file.phrase))
        self.add(copies)

    def _copy(self, phrase: str) -> None:
        QGuiApplication.clipboard().setText(phrase)
        self.say(self.words("Copied."))

    # what pages of one way share

    def _clear(self) -> None:
        """Make room for the next step of the way; sticks are looked for only while they are asked about."""
        self._timer.stop()
        self._rows = self._folders = None
        self.tell(None)
        self.clear()
        self.reading.show_beginning()

    def _heard(self, said: str) -> None:
        """Focus the page again after something went away, and announce the step."""
        self.setFocus()
        announce(self, said)
