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
    of_one = "" if only is None else "AND run = :run"
    rows = connection.execute(
        f"SELECT run, error_class, count(*) FROM results WHERE error_class IS NOT NULL {of_one}"
        " GROUP BY run, error_class ORDER BY count(*) DESC, error_class",
        {"run": only},
    )
    for run, error_class, count in rows:
        found.setdefault(run, {})[str(error_class)] = count
    return found


def done_by_run(connection: sqlite3.Connection, only: int | None = None) -> dict[int, int]:
    """Count the stored entries of runs; those of one run where ``only``."""
    of_one = "" if only is None else "WHERE run = :run"
    query = f"SELECT run, count(*) FROM results {of_one} GROUP BY run"
    return dict(connection.execute(query, {"run": only}))
