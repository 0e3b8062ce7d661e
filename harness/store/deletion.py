"""Erasing a run, with every text that only it needs."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from harness.store.findings import forget_findings
from harness.store.results import unpack_attempts
from harness.store.texts import sweep_texts


def delete_run(connection: sqlite3.Connection, run: int) -> None:
    """Erase a run, its replies, and the corpus and texts that nothing else needs.

    A reply that another run was given too stays; one that only this run was given could be of use
    later, but a person who deletes a run wants its texts gone. So do words that an analyser was asked for:
    what annotators found is forgotten, and found again when it is wanted.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        doomed = set(_reply_keys(connection, "run = ?", run))
        if doomed:
            doomed.difference_update(_reply_keys(connection, "run <> ?", run))
        connection.executemany("DELETE FROM replies WHERE key = ?", [(key,) for key in doomed])
        connection.execute("DELETE FROM runs WHERE id = ?", (run,))
        connection.execute("DELETE FROM corpora WHERE id NOT IN (SELECT corpus FROM runs)")
        sweep_texts(connection)
        forget_findings(connection)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _reply_keys(connection: sqlite3.Connection, condition: str, run: int) -> Iterator[bytes]:
    """Give the keys of the replies that the attempts of some runs name."""
    rows = connection.execute(
        f"SELECT trace FROM results WHERE {condition} AND trace IS NOT NULL", (run,)
    )
    for (trace,) in rows:
        for attempt in unpack_attempts(trace):
            if attempt.reply_key is not None:
                yield attempt.reply_key
