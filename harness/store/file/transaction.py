"""Writing to SQLite: all of it or nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Do everything within or nothing; it is on the disk when the block ends.

    The connection has ``isolation_level=None``. Taking the lock first keeps two processes from changing what
    both have read.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk ends it by itself
            connection.execute("ROLLBACK")
        raise


@contextmanager
def undone(connection: sqlite3.Connection) -> Iterator[None]:
    """Do everything within and take it back: for reading what would be stored; nothing reaches the disk."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        if connection.in_transaction:  # a full disk ends it by itself
            connection.execute("ROLLBACK")
