"""Holding a run, so that one process at a time goes on with it or deletes it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import filelock

from harness.core.failures import StoreError, UsageError
from harness.core.storage_problems import StorageProblem, storage_problem
from harness.store.file.database import private_folder
from harness.store.file.trouble import read_only_words

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
