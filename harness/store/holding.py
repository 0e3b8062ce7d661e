"""Holding a run, so that one process at a time goes on with it or deletes it.

Wishes for runs under way, from the process that asks to the one that is at the run (``harness.events.steering``).
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import filelock

from harness.core.failures import StoreError, UsageError
from harness.core.storage_problems import StorageProblem, storage_problem
from harness.store.file.database import private_folder
from harness.store.file.trouble import read_only_words


def write_wish(connection: sqlite3.Connection, run: int, wish: str, calls: int | None) -> int:
    """Write a wish down; returns its number."""
    inserted = connection.execute(
        "INSERT INTO steering (run, asked, wish, calls) VALUES (?, ?, ?, ?)",
        (run, time.time(), wish, calls),
    )
    return int(inserted.lastrowid or 0)


def open_wishes(connection: sqlite3.Connection, run: int) -> list[tuple[int, str, int | None]]:
    """Return number, wish and calls of what nobody answered yet, the oldest first."""
    return connection.execute(
        "SELECT id, wish, calls FROM steering WHERE run = ? AND answer IS NULL ORDER BY id", (run,)
    ).fetchall()


def answer_wish(connection: sqlite3.Connection, number: int, words: str) -> None:
    """Write down what came of a wish."""
    connection.execute("UPDATE steering SET answer = ? WHERE id = ?", (words, number))


def answer_of(connection: sqlite3.Connection, number: int) -> str:
    """Return what came of a wish, "" while nobody answered it."""
    row = connection.execute("SELECT answer FROM steering WHERE id = ?", (number,)).fetchone()
    return "" if row is None or row[0] is None else str(row[0])


def forget_wishes(connection: sqlite3.Connection, run: int, number: int | None = None) -> None:
    """Erase one wish for a run, or all of them: who begins a stretch owes earlier ones nothing."""
    connection.execute(
        "DELETE FROM steering WHERE run = ? AND (? IS NULL OR id = ?)", (run, number, number)
    )


LOOK_SECONDS = 0.2
"""How long is waited for a run that is held: who only looks whether it is holds it for a moment."""


@contextmanager
def alone(path: Path, run_id: str) -> Iterator[None]:
    """Make sure that no other process is at the run; ``path`` is the store's.

    Raises UsageError where one is.
    """
    lock = filelock.FileLock(_lock(path, run_id), mode=0o600)
    try:
        private_folder(path.parent / "locks")
        lock.acquire(timeout=LOOK_SECONDS, poll_interval=LOOK_SECONDS / 10)
    except filelock.Timeout as error:
        raise UsageError(
            f"Run {run_id[:8]} is under way in another process. `rosetta watch {run_id[:8]}` shows it."
        ) from error
    except OSError as error:
        if storage_problem(error) is StorageProblem.READ_ONLY:
            raise StoreError(read_only_words(path)) from error
        raise
    try:
        yield
    finally:
        lock.release()


def is_held(path: Path, run_id: str) -> bool:
    """Tell whether a process of this machine is at the run; True also where that cannot be found out."""
    lock = filelock.FileLock(_lock(path, run_id), mode=0o600)
    try:
        lock.acquire(timeout=0)
    except (filelock.Timeout, OSError):
        return True
    lock.release()
    return False


def forget_lock(path: Path, run_id: str) -> None:
    """Erase the file by which a run was held, after the run itself; who holds it now finds no run any more."""
    with suppress(OSError):  # another process has it open: some systems keep it then
        _lock(path, run_id).unlink(missing_ok=True)


def _lock(path: Path, run_id: str) -> Path:
    return path.parent / "locks" / f"{run_id}.lock"
