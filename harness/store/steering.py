"""Wishes for runs under way, from the process that asks to the one that is at the run (``harness.events.steering``)."""

from __future__ import annotations

import sqlite3
import time


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
