"""Writing to SQLite: all of it or nothing, and each text once, however many rows refer to it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from harness.core.storage_problems import storable


def digest(text: str) -> int:
    """Return 32 bits by which equal texts are found; texts that share them are distinguished by comparison."""
    from hashlib import blake2b  # a list of runs starts without OpenSSL

    return int.from_bytes(blake2b(text.encode(), digest_size=4).digest(), "big", signed=True)


def intern_text(connection: sqlite3.Connection, text: str) -> int:
    """Return the id of a text, storing it where it is new."""
    text = storable(text)
    mark = digest(text)
    row = connection.execute(
        "SELECT id FROM texts WHERE digest = ? AND body = ?", (mark, text)
    ).fetchone()
    if row is not None:
        return int(row[0])
    inserted = connection.execute("INSERT INTO texts (digest, body) VALUES (?, ?)", (mark, text))
    return int(inserted.lastrowid or 0)


def read_texts(connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, str]:
    """Return the texts of these ids."""
    texts: dict[int, str] = {}
    wanted = sorted(set(ids))
    for start in range(0, len(wanted), 500):
        chunk = wanted[start : start + 500]
        marks = ",".join("?" * len(chunk))
        texts.update(connection.execute(f"SELECT id, body FROM texts WHERE id IN ({marks})", chunk))
    return texts


def sweep_texts(connection: sqlite3.Connection) -> int:
    """Erase texts that nothing refers to any more; gives how many."""
    return connection.execute("""
        DELETE FROM texts WHERE id NOT IN (
            SELECT source FROM entries UNION SELECT reference FROM entries
            UNION SELECT output FROM results WHERE output IS NOT NULL
            UNION SELECT raw FROM results WHERE raw IS NOT NULL
            UNION SELECT head FROM replies UNION SELECT body FROM replies
            UNION SELECT tail FROM replies WHERE tail IS NOT NULL
        )
    """).rowcount


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Run the block in a transaction, all or nothing; it is on the disk when the block ends.

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
    """Run the block in a transaction and roll it back: for reading what would be stored; nothing reaches the disk."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        if connection.in_transaction:  # a full disk ends it by itself
            connection.execute("ROLLBACK")
