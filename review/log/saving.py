"""Writing to a store of events so that it holds, and saying in words why it did not."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.core.failures import StoreError
from harness.core.storage_problems import (
    StorageProblem,
    error_name,
    storage_problem,
    words_for,
)

_WORDS = {
    StorageProblem.DISK_FULL: "the disk is full. Free some space, then do it again",
    StorageProblem.READ_ONLY: "the file can be read but not changed. Give yourself the right to write it",
    StorageProblem.GONE: "the file is gone from its place. Put it back, then do it again",
    StorageProblem.BUSY: "another program uses the file. Close the other window, then do it again",
    StorageProblem.DAMAGED: "the file is damaged. Keep it, ask for help, and name another data folder",
    StorageProblem.NOT_OURS: "it is the file of another program. Move it away, or name another data folder",
    StorageProblem.OTHER: "the disk or the file system gives an error. Do it again, or restart the computer",
}

_MAY_BE_GONE = {
    StorageProblem.READ_ONLY,
    StorageProblem.NOT_OPENED,
    StorageProblem.DISK_FAILS,
    StorageProblem.OTHER_FORM,
    StorageProblem.OTHER,
}
"""What SQLite says of an open file that was moved or removed, where it says no more."""


class NotSaved(StoreError):  # noqa: N818  says what happened to what the person gave
    """Nothing was saved, and nothing that was there before is lost."""

    def __init__(self, problem: StorageProblem, path: Path, detail: str) -> None:
        self.problem = problem
        self.detail = detail
        """One technical line for whoever helps; no text of a reviewer or a batch."""
        self.words = f"{words_for(_WORDS, problem)} ({detail})"
        """What is wrong and what to do."""
        super().__init__(f"Not saved to {path}: {self.words}.")


def not_saved(error: sqlite3.Error | OSError, path: Path) -> NotSaved:
    """Say why an attempt to use the file failed."""
    problem = storage_problem(error)
    if isinstance(error, sqlite3.Error) and problem in _MAY_BE_GONE and _is_gone(path):
        problem = StorageProblem.GONE
    return NotSaved(problem, path, error_name(error))


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
