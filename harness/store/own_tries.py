"""Tries that were a run's own: a retry has rows that came over from the run before, with their tries."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from harness.store.mixed_setups import tried_before
from harness.store.results import read_tries
from harness.store.runs import Run


def own_tries(run: Run, rows: Iterable[tuple[int, int, int]]) -> list[tuple[int, int]]:
    """Return for each row how often the run tried its entry after the first time, and was answered with 429.

    A row is given as in ``read_tries``. What was tried before the run is left out; entries that a retry did not
    ask for again count nothing.
    """
    before = tried_before(run)
    return [
        (max(0, attempts - 1 - before.get(position, 0)), limited)
        if not before or position in before
        else (0, 0)
        for position, attempts, limited in rows
    ]


def sum_tries(connection: sqlite3.Connection, run: Run) -> tuple[int, int]:
    """Return the retries and the 429 replies of a run, over all its stored entries."""
    own = own_tries(run, read_tries(connection, run.id))
    return sum(retries for retries, _ in own), sum(limited for _, limited in own)
