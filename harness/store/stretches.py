"""The times in which a run was under way, and what each of them paid."""

from __future__ import annotations

import sqlite3
import time


def begin_stretch(connection: sqlite3.Connection, run: int) -> int:
    """Note that the run is under way from now on; gives the stretch's number."""
    now = time.time()
    inserted = connection.execute(
        "INSERT INTO stretches (run, started, last, spent_usd) VALUES (?, ?, ?, 0)",
        (run, now, now),
    )
    return int(inserted.lastrowid or 0)


def touch_stretch(connection: sqlite3.Connection, stretch: int, spent_usd: float) -> None:
    """Note that the run is still under way, and what this stretch has paid or may have to pay."""
    connection.execute(
        "UPDATE stretches SET last = ?, spent_usd = ? WHERE id = ?",
        (time.time(), spent_usd, stretch),
    )


def elapsed_seconds(connection: sqlite3.Connection, run: int) -> float:
    """Return the wall-clock seconds during which the run was under way, over all its stretches."""
    row = connection.execute(
        "SELECT coalesce(sum(last - started), 0) FROM stretches WHERE run = ?", (run,)
    ).fetchone()
    return float(row[0])


def read_stretches(connection: sqlite3.Connection, run: int) -> list[tuple[float, float]]:
    """Return beginning and end of each stretch as Unix times, in order."""
    return connection.execute(
        "SELECT started, last FROM stretches WHERE run = ? ORDER BY started, id", (run,)
    ).fetchall()


def spent_usd(connection: sqlite3.Connection, run: int) -> float:
    """Return what the run paid, over all its stretches; calls that a kill cut off count as paid."""
    row = connection.execute(
        "SELECT coalesce(sum(spent_usd), 0) FROM stretches WHERE run = ?", (run,)
    ).fetchone()
    return float(row[0])


def copy_stretches(connection: sqlite3.Connection, run: int, to: int, *, paid: bool = True) -> None:
    """Give another run the same stretches, as if it had paid for them or not; within a transaction."""
    connection.execute(
        "INSERT INTO stretches (run, started, last, spent_usd)"
        " SELECT ?, started, last, CASE WHEN ? THEN spent_usd ELSE 0 END FROM stretches"
        " WHERE run = ? ORDER BY id",
        (to, paid, run),
    )
