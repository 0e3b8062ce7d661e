"""Whether locks work in a folder: tried with SQLite on an empty file, where it helps from a second process.

On storage without locks SQLite says that a file is busy, as if another program had it. On storage that grants every
lock two programs write at once and damage a store.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from enum import StrEnum
from pathlib import Path

from harness.core.storage_problems import StorageProblem, storage_problem

_SECONDS = 30.0
"""How long the second process may take to start and answer."""

_IS_BUSY = 3
SECOND_PROCESS = f"""
import sqlite3, sys
store = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)
try:
    store.execute("BEGIN EXCLUSIVE")
except sqlite3.OperationalError:
    sys.exit({_IS_BUSY})
"""
"""What the second process does with the file that the first has locked."""


class Locks(StrEnum):
    """What became of a lock in a folder."""

    WORK = "work"
    MISSING = "missing"
    """The storage refuses every lock."""
    IGNORED = "ignored"
    """Two processes have one lock at once."""
    UNKNOWN = "unknown"
    """No file can be made there, or no second process."""


def locks_are_missing(folder: Path) -> bool:
    """Return whether the storage refuses a lock on a file that nobody else has; False where none can be made."""
    try:
        with _locked_file(folder):
            return False
    except OSError:
        return False
    except sqlite3.Error as error:
        return storage_problem(error) is StorageProblem.BUSY


def examine_locks(folder: Path) -> Locks:
    """Lock a new file in a folder and try to lock it again from a second process; nothing stays there."""
    if locks_are_missing(folder):
        return Locks.MISSING
    if getattr(sys, "frozen", False) or not sys.executable:
        return Locks.UNKNOWN
    try:
        with _locked_file(folder) as path:
            command = [sys.executable, "-I", "-S", "-c", SECOND_PROCESS, str(path)]
            done = subprocess.run(  # noqa: S603  our own program
                command, capture_output=True, timeout=_SECONDS, check=False
            )
    except (OSError, sqlite3.Error, subprocess.SubprocessError):
        return Locks.UNKNOWN
    return {0: Locks.IGNORED, _IS_BUSY: Locks.WORK}.get(done.returncode, Locks.UNKNOWN)


@contextmanager
def _locked_file(folder: Path) -> Iterator[Path]:
    """Lock a new empty file, which is deleted after the block; OSError or sqlite3.Error where it fails."""
    handle, name = tempfile.mkstemp(prefix=".locks-", dir=folder)
    os.close(handle)
    path = Path(name)
    try:
        with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as file:
            file.execute("BEGIN EXCLUSIVE")
            yield path
    finally:
        path.unlink(missing_ok=True)
