"""One window for each person: a second start hands its files to the window that is open, and ends.

Anyone who clicks a file twice, or has lost the window behind others, gets the same window with the same
sentences. The lock is the operating system's: it ends with the program, however that ends.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal

from harness.core.written_files import private_folder

FOLDER = "window"
"""In the data folder; empty, or gone, while no window is open."""

PATIENCE_SECONDS = 5.0
"""How long a window that does not answer is waited for; then another one opens, which does no harm."""
_PAUSE = 0.05
_MOST_BYTES = 2**16


class OneWindow(QObject):
    """The right to be the window; ``files_asked`` are those of later starts."""

    files_asked = Signal(object)
    """A list of Paths; an empty one only asks for the window."""

    def __init__(self, home: Path) -> None:
        super().__init__()
        self._home = home
        self._lock: sqlite3.Connection | None = None
        self._watcher: QFileSystemWatcher | None = None

    @property
    def _folder(self) -> Path:
        return self._home / FOLDER

    @property
    def _request(self) -> Path:
        return self._folder / "files"

    def is_ours(self, files: Sequence[Path]) -> bool:
        """Become the window; False where the one that is open has taken these files.

        True also where a folder that cannot be written, or a window that hangs, leaves it open.
        """
        try:
            private_folder(self._home)
            private_folder(self._folder)
            if self._taken() or not self._handed_over(files):
                self._watch()
                return True
        except (OSError, sqlite3.Error):
            return True
        return False

    def close(self) -> None:
        """Remove all traces of the window."""
        self._watcher = None
        for file in (self._request, self._folder / "lock") if self._lock else ():
            with suppress(OSError):
                file.unlink(missing_ok=True)
        if self._lock is not None:
            self._lock.close()
        for folder in (self._folder, self._home):  # a folder with anything in it stays
            with suppress(OSError):
                folder.rmdir()

    def _taken(self) -> bool:
        """Acquire the lock; False where another program has it."""
        path = self._folder / "lock"
        if not path.exists():
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        lock = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            lock.close()
            return False
        self._lock = lock
        return True

    def _handed_over(self, files: Sequence[Path]) -> bool:
        """Request the open window to show these files, and wait until it has taken them."""
        self._ask(files)
        patience = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < patience:
            if not self._request.exists():
                return True
            if self._taken():
                break
            time.sleep(_PAUSE)
        self._request.unlink(missing_ok=True)
        return False

    def _ask(self, files: Sequence[Path]) -> None:
        new = self._folder / f"files.{os.getpid()}"
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump([str(file.absolute()) for file in files], file)
        new.replace(self._request)

    def _watch(self) -> None:
        self._watcher = QFileSystemWatcher([str(self._folder)])
        self._watcher.directoryChanged.connect(lambda _: self._look())
        QTimer.singleShot(0, self._look)  # a start may have asked in the moment before

    def _look(self) -> None:
        """Read what a later start left."""
        try:
            with self._request.open("rb") as file:
                written = file.read(_MOST_BYTES)
            self._request.unlink()
            names = json.loads(written)
        except (OSError, ValueError, RecursionError):
            return
        if isinstance(names, list):
            self.files_asked.emit([Path(name) for name in names if isinstance(name, str)])
