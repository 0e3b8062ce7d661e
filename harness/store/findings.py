"""What annotators found before, kept in the store for later runs (``harness.annotators.annotator.Memo``)."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from harness.core.storable import storable
from harness.store.file.database import open_store
from harness.store.file.transaction import transaction


class StoredFindings:
    """A memo in the store; opens it for each look, so that any thread may ask."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def recall(self, maker: str, keys: Sequence[str] | None = None) -> dict[str, bytes]:
        """See ``Memo``."""
        with closing(open_store(self._path)) as connection:
            return recall_findings(connection, maker, keys)

    def keep(self, maker: str, found: Mapping[str, bytes]) -> None:
        """See ``Memo``."""
        if not found:
            return
        with closing(open_store(self._path)) as connection, transaction(connection):
            keep_findings(connection, maker, found)


def recall_findings(
    connection: sqlite3.Connection, maker: str, keys: Sequence[str] | None = None
) -> dict[str, bytes]:
    """Return what a maker found for these keys; for all of its keys where None."""
    query = "SELECT key, value FROM findings WHERE maker = (SELECT id FROM makers WHERE name = ?)"
    if keys is None:
        return dict(connection.execute(query, (maker,)))
    found: dict[str, bytes] = {}
    for start in range(0, len(keys), 500):
        chunk = [storable(key) for key in keys[start : start + 500]]
        marks = ",".join("?" * len(chunk))
        found.update(connection.execute(f"{query} AND key IN ({marks})", (maker, *chunk)))
    return found


def keep_findings(connection: sqlite3.Connection, maker: str, found: Mapping[str, bytes]) -> None:
    """Keep what a maker found; called within a transaction."""
    connection.execute("INSERT OR IGNORE INTO makers (name) VALUES (?)", (maker,))
    number = connection.execute("SELECT id FROM makers WHERE name = ?", (maker,)).fetchone()[0]
    connection.executemany(
        "INSERT OR REPLACE INTO findings VALUES (?, ?, ?)",
        [(number, storable(key), value) for key, value in found.items()],
    )


def forget_findings(connection: sqlite3.Connection) -> None:
    """Erase all findings: their keys may be words of a text that is to be gone."""
    connection.execute("DELETE FROM findings")
    connection.execute("DELETE FROM makers")
