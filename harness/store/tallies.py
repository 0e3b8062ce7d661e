"""How many entries of each run are stored, and how many of them failed in which way."""

from __future__ import annotations

import sqlite3


def failures_by_run(
    connection: sqlite3.Connection, only: int | None = None
) -> dict[int, dict[str, int]]:
    """Count the failed entries of runs by class, the most frequent first; those of one run where ``only``.

    A class that this version does not know keeps its name.
    """
    found: dict[int, dict[str, int]] = {}
    rows = connection.execute(
        "SELECT run, error_class, count(*) FROM results WHERE error_class IS NOT NULL"
        " AND (? IS NULL OR run = ?) GROUP BY run, error_class ORDER BY count(*) DESC, error_class",
        (only, only),
    )
    for run, error_class, count in rows:
        found.setdefault(run, {})[str(error_class)] = count
    return found


def done_by_run(connection: sqlite3.Connection, only: int | None = None) -> dict[int, int]:
    """Count the stored entries of runs; those of one run where ``only``."""
    return dict(
        connection.execute(
            "SELECT run, count(*) FROM results WHERE ? IS NULL OR run = ? GROUP BY run",
            (only, only),
        )
    )
