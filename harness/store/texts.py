"""Texts are kept once, however many rows refer to them."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Sequence
from hashlib import blake2b

_SURROGATES = re.compile("[\ud800-\udfff]")


def storable(text: str) -> str:
    """Replace lone surrogates, which no encoding can carry, by the replacement character."""
    return _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", text)


def digest(text: str) -> int:
    """Give 32 bits by which equal texts are found; texts that share them are told apart by comparison."""
    return int.from_bytes(blake2b(text.encode(), digest_size=4).digest(), "big", signed=True)


def intern_text(connection: sqlite3.Connection, text: str) -> int:
    """Give the id of a text, storing it where it is new."""
    text = storable(text)
    mark = digest(text)
    row = connection.execute(
        "SELECT id FROM texts WHERE digest = ? AND body = ?", (mark, text)
    ).fetchone()
    if row is not None:
        return int(row[0])
    inserted = connection.execute("INSERT INTO texts (digest, body) VALUES (?, ?)", (mark, text))
    return int(inserted.lastrowid or 0)


def intern_texts(connection: sqlite3.Connection, texts: Iterable[str]) -> list[int]:
    """Give the ids of several texts, in order."""
    return [intern_text(connection, text) for text in texts]


def read_texts(connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, str]:
    """Give the texts of these ids."""
    found: dict[int, str] = {}
    wanted = sorted(set(ids))
    for start in range(0, len(wanted), 500):
        chunk = wanted[start : start + 500]
        marks = ",".join("?" * len(chunk))
        found.update(connection.execute(f"SELECT id, body FROM texts WHERE id IN ({marks})", chunk))
    return found


def sweep_texts(connection: sqlite3.Connection) -> int:
    """Erase texts that nothing refers to any more; gives how many."""
    return connection.execute("""
        DELETE FROM texts WHERE id NOT IN (
            SELECT source FROM entries UNION SELECT reference FROM entries
            UNION SELECT output FROM results WHERE output IS NOT NULL
            UNION SELECT head FROM replies UNION SELECT body FROM replies
            UNION SELECT tail FROM replies WHERE tail IS NOT NULL
        )
    """).rowcount
