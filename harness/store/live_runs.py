"""Runs under way: who holds one, what is wished of it, and the times in which it was under way.

One process at a time holds a run, to continue with it or to delete it. Wishes come from the process that asks to the
one that is at the run (``harness.run.following``). Each stretch of time says what it paid.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import filelock

from harness.core.failures import StoreError, UsageError
from harness.core.storage import StorageProblem, private_folder, storage_problem
from harness.store.sqlite.trouble import read_only_words


@dataclass(frozen=True, slots=True)
class RunSegment:
    """A time in which this process has a run under way."""

    number: int  # Of its row in the store
    began: float  # Monotonic seconds; the clock of the computer may be set back meanwhile


def begin_stretch(connection: sqlite3.Connection, run: int) -> RunSegment:
    """Record that the run is under way from now on."""
    now = time.time()
    inserted = connection.execute(
        "INSERT INTO stretches (run, started, last, spent_usd) VALUES (?, ?, ?, 0)", (run, now, now)
    )
    return RunSegment(int(inserted.lastrowid or 0), time.monotonic())


def touch_stretch(connection: sqlite3.Connection, segment: RunSegment, spent_usd: float) -> None:
    """Record that the run is still under way, and what this segment has paid or may have to pay."""
    connection.execute(
        "UPDATE stretches SET last = started + ?, spent_usd = ? WHERE id = ?",
        (time.monotonic() - segment.began, spent_usd, segment.number),
    )


def pay_stretch(connection: sqlite3.Connection, segment: RunSegment, spent_usd: float) -> None:
    """Record what a segment has paid or may have to pay, where its entries are all in."""
    connection.execute("UPDATE stretches SET spent_usd = ? WHERE id = ?", (spent_usd, segment.number))


def elapsed_seconds(connection: sqlite3.Connection, run: int) -> float:
    """Return the seconds during which the run was under way, over all its stretches.

    One that ends before its beginning, by a clock that was set back, counts as 0.
    """
    row = connection.execute(
        "SELECT coalesce(sum(max(last - started, 0)), 0) FROM stretches WHERE run = ?", (run,)
    ).fetchone()
    return float(row[0])


def spent_usd(connection: sqlite3.Connection, run: int) -> float:
    """Return what the run paid, over all its stretches; calls that a kill cut off count as paid."""
    row = connection.execute("SELECT coalesce(sum(spent_usd), 0) FROM stretches WHERE run = ?", (run,)).fetchone()
    return float(row[0])


def copy_stretches(connection: sqlite3.Connection, run: int, to: int, *, paid: bool = True) -> None:
    """Copy the stretches to another run, as if it had paid for them or not; within a transaction."""
    connection.execute(
        "INSERT INTO stretches (run, started, last, spent_usd)"
        " SELECT ?, started, last, CASE WHEN ? THEN spent_usd ELSE 0 END FROM stretches"
        " WHERE run = ? ORDER BY id",
        (to, paid, run),
    )


def write_wish(connection: sqlite3.Connection, run: int, wish: str, calls: int | None) -> int:
    """Write a wish down; returns its number."""
    inserted = connection.execute(
        "INSERT INTO steering (run, asked, wish, calls) VALUES (?, ?, ?, ?)", (run, time.time(), wish, calls)
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
    connection.execute("DELETE FROM steering WHERE run = ? AND (? IS NULL OR id = ?)", (run, number, number))


LOOK_SECONDS = 0.2
"""How long is waited for a run that is held: who only looks whether it is holds it for a moment."""


@contextmanager
def alone(path: Path, run_id: str) -> Iterator[None]:
    """Make sure that no other process is at the run; ``path`` is the store's.

    Raises UsageError where one is.
    """
    lock = filelock.FileLock(_lock(path, run_id), mode=0o600)
    try:
        private_folder(lock_folder(path))
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
    """Return whether a process of this machine is at the run; True also where that cannot be found out."""
    lock = filelock.FileLock(_lock(path, run_id), mode=0o600)
    try:
        lock.acquire(timeout=0)
    except (filelock.Timeout, OSError):
        return True
    lock.release()
    return False


def forget_lock(path: Path, run_id: str) -> None:
    """Erase the file by which a run was held, and its log, after the run itself; who holds it now finds no run any more."""
    for file in (_lock(path, run_id), log_file(path, run_id)):
        with suppress(OSError):  # another process has it open: some systems keep it then
            file.unlink(missing_ok=True)


def log_file(path: Path, run_id: str) -> Path:
    """Return where the lines of a run without a terminal go; they hold no text of an entry."""
    return path.parent / "logs" / f"{run_id}.log"


def lock_folder(path: Path) -> Path:
    """Return the folder beside a store in which processes hold its runs."""
    return path.parent / "locks"


def _lock(path: Path, run_id: str) -> Path:
    return lock_folder(path) / f"{run_id}.lock"
