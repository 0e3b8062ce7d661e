"""Finding a folder or a file on this computer, one step at a time, in the letters and words of the program.

The dialogs of systems and of Qt note outside the data folder which folders were examined.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QDir, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget
from shiboken6 import isValid

from harness.core.failures import HarnessError
from harness.sealed.carried_files import ReviewFile
from harness.sealed.found_files import is_kind
from harness.sealed.stick import stick_error
from review.desktop.frame.work import AppContext
from review.desktop.look.fonts import shown
from review.desktop.parts.choosing import ChoiceRows
from review.desktop.parts.texts import Line
from review.session.words.troubles import trouble

_MOST = 2000
"""Folders that are listed of one place."""


class _Listed(NamedTuple):
    """What a folder leads to."""

    above: tuple[Path, ...] = ()
    folders: tuple[Path, ...] = ()
    files: tuple[Path, ...] = ()
    """Those of the kind that is looked for."""


class Folders(QWidget):
    """Shows the folders in a folder, and files of one kind; each folder opens when it is chosen."""

    moved = Signal()
    """Another folder is open now, or was listed."""
    found = Signal(object)
    """The Path of the file that was chosen."""
    told = Signal(object)
    """A Trouble: a folder could not be listed, and the one before is still open."""

    def __init__(self, desk: AppContext, start: Path, wanted: ReviewFile | None = None) -> None:
        """``wanted`` is the kind of the files that are shown; without it none are."""
        super().__init__()
        self._desk, self._wanted = desk, wanted
        self.here = start
        """The folder that is open."""
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._path, self._listing = Line(role="strong"), QWidget()
        for widget in (self._path, self._listing):
            self._column.addWidget(widget)
        self._show(start, _Listed(_parent(start)))
        self.open(start)

    def open(self, folder: Path) -> None:
        """List a folder away from the window; where that fails, stay."""
        self._desk.work.do(
            partial(_listed, folder, self._wanted), partial(self._opened, folder), self._not_opened
        )

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
        self._add(column, "", up, above, self.open)
        if self._wanted and listed != _Listed(above):
            said = words("Files with sentences") if files else words("There is no such file here.")
            column.addWidget(Line(said, "strong" if files else "quiet"))
        self._add(column, "", [each.name for each in files], files, self.found.emit)
        title = words("Folders") if folders else ""
        self._add(column, title, [folder.name for folder in folders], folders, self.open)
        self._column.replaceWidget(self._listing, listing)
        self._listing.hide()
        self._listing.deleteLater()
        self._listing = listing

    def _add(
        self,
        column: QVBoxLayout,
        title: str,
        names: Sequence[str],
        paths: Sequence[Path],
        choose: Callable[[Path], object],
    ) -> None:
        """Add a list under its title: what is opened here looks like nothing that is read."""
        if title:
            column.addWidget(Line(title, "strong"))
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


def _other_drives(folder: Path) -> tuple[Path, ...]:
    """Return what lies above the last folder: the other drives of this computer."""
    drives = [Path(drive.absoluteFilePath()) for drive in QDir.drives()]
    return tuple(drive for drive in drives if drive != folder)


def _listed(folder: Path, wanted: ReviewFile | None) -> _Listed:
    """List the folders in a folder and its files of one kind, without hidden ones; raises StickError in words."""
    try:
        with os.scandir(folder) as entries:
            seen = [entry for entry in entries if not entry.name.startswith(".")]
            folders = [entry for entry in seen if _is_folder(entry)]
    except OSError as error:
        raise stick_error(folder, error) from None
    files = [
        entry
        for entry in seen
        if wanted and not _is_folder(entry) and is_kind(Path(entry.path), wanted)
    ]
    above = _parent(folder) or _other_drives(folder)
    return _Listed(above, _by_name(folders), _by_name(files))


def _by_name(entries: Sequence[os.DirEntry[str]]) -> tuple[Path, ...]:
    named = sorted(entries, key=lambda entry: entry.name.casefold())
    return tuple(Path(entry.path) for entry in named[:_MOST])


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False  # a failing stick
