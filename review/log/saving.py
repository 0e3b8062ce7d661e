"""Writing to a store of events so that it holds, and saying in words why it did not."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

from harness.core.failures import StoreError


class Problem(StrEnum):
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
    Problem.DISK_FULL: "the disk is full. Free some space, then do it again",
    Problem.READ_ONLY: "the file can be read but not changed. Give yourself the right to write it",
    Problem.MOVED: "the file is gone from its place. Put it back, then do it again",
    Problem.BUSY: "another program uses the file. Close the other window, then do it again",
    Problem.DAMAGED: "the file is damaged. Keep it, ask for help, and name another data folder",
    Problem.NOT_OURS: "it is the file of another program. Move it away, or name another data folder",
    Problem.OTHER: "the disk or the file system gives an error. Do it again, or restart the computer",
}

_NAMES = (
    ("SQLITE_READONLY_DBMOVED", Problem.MOVED),
    ("SQLITE_FULL", Problem.DISK_FULL),
    ("SQLITE_READONLY", Problem.READ_ONLY),
    ("SQLITE_CANTOPEN", Problem.READ_ONLY),
    ("SQLITE_PERM", Problem.READ_ONLY),
    ("SQLITE_BUSY", Problem.BUSY),
    ("SQLITE_LOCKED", Problem.BUSY),
    ("SQLITE_CORRUPT", Problem.DAMAGED),
    ("SQLITE_IOERR_SHORT_READ", Problem.DAMAGED),
    ("SQLITE_NOTADB", Problem.NOT_OURS),
)
"""Beginning of SQLite's error name → problem; the first that fits."""

_NUMBERS = {
    errno.ENOSPC: Problem.DISK_FULL,
    errno.EDQUOT: Problem.DISK_FULL,
    errno.EACCES: Problem.READ_ONLY,
    errno.EPERM: Problem.READ_ONLY,
    errno.EROFS: Problem.READ_ONLY,
}


class NotSaved(StoreError):  # noqa: N818  says what happened to what the person gave
    """Nothing was saved, and nothing that was there before is lost."""

    def __init__(self, problem: Problem, path: Path, detail: str) -> None:
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
        return NotSaved(_NUMBERS.get(number, Problem.OTHER), path, name)
    name = getattr(error, "sqlite_errorname", None) or type(error).__name__
    fits = (problem for beginning, problem in _NAMES if name.startswith(beginning))
    problem = next(fits, Problem.OTHER)
    if problem in {Problem.READ_ONLY, Problem.OTHER} and _is_gone(path):
        problem = Problem.MOVED
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
