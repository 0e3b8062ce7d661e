"""Holding a run, so that one process at a time goes on with it or deletes it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import filelock

from harness.failures import UsageError
from harness.store.database import private_folder


@contextmanager
def alone(path: Path, run_id: str) -> Iterator[None]:
    """Make sure that no other process is at the run; ``path`` is the store's.

    Raises UsageError where one is.
    """
    private_folder(path.parent / "locks")
    lock = filelock.FileLock(_lock(path, run_id), mode=0o600)
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout as error:
        raise UsageError(
            f"Run {run_id[:8]} is under way in another process. `rosetta` shows it."
        ) from error
    try:
        yield
    finally:
        lock.release()


def forget_lock(path: Path, run_id: str) -> None:
    """Erase the file by which a run was held, after the run itself; who holds it now finds no run any more."""
    with suppress(OSError):  # another process has it open: some systems keep it then
        _lock(path, run_id).unlink(missing_ok=True)


def _lock(path: Path, run_id: str) -> Path:
    return path.parent / "locks" / f"{run_id}.lock"
