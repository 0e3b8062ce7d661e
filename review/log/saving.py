"""Writing to a store of events so that it holds, and saying in words why it did not."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

from harness.core.failures import StoreError


class StorageProblem(StrEnum):
    """Why something was not saved; each face has its own words for these, in the reviewer's language."""

    DISK_FULL = "disk_full"
    READ_ONLY = "read_only"
    MOVED = "moved"
    BUSY = "busy"
    """Another program holds the file."""
    DAMAGED = "damaged"
    NOT_OURS = "not_ours"
    """The file is something else."""
    OTHER = "other"


_WORDS = {
    StorageProblem.DISK_FULL: "the disk is full. Free some space, then do it again",
    StorageProblem.READ_ONLY: "the file can be read but not changed. Give yourself the right to write it",
    StorageProblem.MOVED: "the file is gone from its place. Put it back, then do it again",
    StorageProblem.BUSY: "another program uses the file. Close the other window, then do it again",
    StorageProblem.DAMAGED: "the file is damaged. Keep it, ask for help, and name another data folder",
    StorageProblem.NOT_OURS: "it is the file of another program. Move it away, or name another data folder",
    StorageProblem.OTHER: "the disk or the file system gives an error. Do it again, or restart the computer",
}

_NAMES = (
    ("SQLITE_READONLY_DBMOVED", StorageProblem.MOVED),
    ("SQLITE_FULL", StorageProblem.DISK_FULL),
    ("SQLITE_READONLY", StorageProblem.READ_ONLY),
    ("SQLITE_CANTOPEN", StorageProblem.READ_ONLY),
    ("SQLITE_PERM", StorageProblem.READ_ONLY),
    ("SQLITE_BUSY", StorageProblem.BUSY),
    ("SQLITE_LOCKED", StorageProblem.BUSY),
    ("SQLITE_CORRUPT", StorageProblem.DAMAGED),
    ("SQLITE_IOERR_SHORT_READ", StorageProblem.DAMAGED),
    ("SQLITE_NOTADB", StorageProblem.NOT_OURS),
)
"""Beginning of SQLite's error name → problem; the first that fits."""

_NUMBERS = {
    errno.ENOSPC: StorageProblem.DISK_FULL,
    errno.EDQUOT: StorageProblem.DISK_FULL,
    errno.EACCES: StorageProblem.READ_ONLY,
    errno.EPERM: StorageProblem.READ_ONLY,
    errno.EROFS: StorageProblem.READ_ONLY,
}


class NotSaved(StoreError):  # noqa: N818  says what happened to what the person gave
    """Nothing was saved, and nothing that was there before is lost."""

    def __init__(self, problem: StorageProblem, path: Path, detail: str) -> None:
        self.problem = problem
        self.detail = detail
        """One technical line for whoever helps; no text of a reviewer or a batch."""
        self.words = f"{_WORDS[problem]} ({detail})"
        """What is wrong and what to do."""
        super().__init__(f"Not saved to {path}: {self.words}.")


def not_saved(error: sqlite3.Error | OSError, path: Path) -> NotSaved:
    """Say why an attempt to use the file failed."""
    if isinstance(error, OSError):
        number = error.errno or 0
        name = errno.errorcode.get(number, type(error).__name__)
        return NotSaved(_NUMBERS.get(number, StorageProblem.OTHER), path, name)
    name = getattr(error, "sqlite_errorname", None) or type(error).__name__
    fits = (problem for beginning, problem in _NAMES if name.startswith(beginning))
    problem = next(fits, StorageProblem.OTHER)
    if problem in {StorageProblem.READ_ONLY, StorageProblem.OTHER} and _is_gone(path):
        problem = StorageProblem.MOVED
    return NotSaved(problem, path, name)


def _is_gone(path: Path) -> bool:
    try:
        return not path.exists()
    except OSError:
        return False  # where one may not look, it is not known


@contextmanager
def saying(path: Path) -> Iterator[None]:
    """Raise NotSaved for every failure of SQLite or the file system within."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise not_saved(error, path) from error
