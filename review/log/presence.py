"""Which programs have a laptop's file open, even while they do nothing with it.

SQLite locks a file only for the moment of a transaction. Whoever deletes everything must know of a window
that merely stands open, so each holds a shared lock on an empty file beside the ratings.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path

FILE_NAME = "review.open"


class Presence:
    """A shared lock, held from the opening of the laptop's file to its closing."""

    def __init__(self, folder: Path, busy_seconds: float) -> None:
        """Raises sqlite3.OperationalError (SQLITE_BUSY) while everything is being deleted, and OSError."""
        path = folder / FILE_NAME
        if not path.exists():
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        self._connection = sqlite3.connect(
            path, timeout=busy_seconds, isolation_level=None, check_same_thread=False
        )
        try:
            self._share()
        except BaseException:
            self.close()
            raise

    def be_alone(self) -> None:
        """Let nobody else in until this is closed; sqlite3.OperationalError where another program is in."""
        self._connection.rollback()
        try:
            self._connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            with suppress(sqlite3.OperationalError):
                self._share()
            raise

    def close(self) -> None:
        """Give the lock back."""
        self._connection.close()

    def _share(self) -> None:
        self._connection.execute("BEGIN")
        self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
