"""Seals of keys beside the runs whose cards they name; gone with their run."""

from __future__ import annotations

import sqlite3

from harness.store.file.database import has_table


def keep_seal(connection: sqlite3.Connection, run: int, signer: str, file: bytes) -> None:
    """Store the file of a seal beside a run, instead of an earlier one of the same key (hexadecimal)."""
    connection.execute("INSERT OR REPLACE INTO card_seals VALUES (?, ?, ?)", (run, signer, file))


def seals_of(connection: sqlite3.Connection, run: int) -> list[bytes]:
    """Return the files of the seals beside a run; rows of a wrong type count as absent, and an older store has none."""
    if not has_table(connection, "card_seals"):
        return []
    rows = connection.execute("SELECT file FROM card_seals WHERE run = ? ORDER BY signer", (run,))
    return [file for (file,) in rows if isinstance(file, bytes)]
