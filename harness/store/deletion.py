"""Deleting a run: put into the trash first, so that it can be undone, then erased with every text that only it needs."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator

from harness.core.failures import StoreError, UsageError
from harness.store.corpora.entries import forget_unused_secrets, holds_secrets
from harness.store.live_runs import alone, forget_lock
from harness.store.replies import forget_findings, unpack_attempts
from harness.store.runs import Run, read_run, under_way
from harness.store.sqlite.database import store_path
from harness.store.sqlite.trouble import sweep_texts, transaction

KEPT_SECONDS = 7 * 24 * 3600.0  # How long a run in the trash can be brought back


class HoldsSecrets(UsageError):  # noqa: N818  said of the run
    """The run has entries of a secret segment: it is not kept for an undo, only erased at once."""


def trash(connection: sqlite3.Connection, run: int) -> None:
    """Delete a run so that it can be brought back: no list, count or name finds it any more.

    Secret entries of its corpus that no run has are erased now; stores filled by older versions hold some.
    Raises UsageError where it is under way, and HoldsSecrets where only ``delete_run`` will do, because who
    deletes secret texts wants them gone.
    """
    trashed = read_run(connection, run)
    if holds_secrets(connection, trashed):
        raise HoldsSecrets(
            f"Run {trashed.run_id[:8]} holds secret entries, so it is erased for good when it is "
            f"deleted: `rosetta runs delete --now {trashed.run_id[:8]}`."
        )
    with alone(store_path(connection), trashed.run_id):
        refuse_under_way(trashed)
        with transaction(connection):
            connection.execute("UPDATE runs SET put_away = ? WHERE id = ?", (time.time(), run))
            erased = forget_unused_secrets(connection)
            if erased:
                sweep_texts(connection)
        if erased:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def bring_back(connection: sqlite3.Connection, run: int) -> None:
    """Undo a deletion; raises StoreError where the run has been erased since."""
    changed = connection.execute("UPDATE runs SET put_away = NULL WHERE id = ?", (run,)).rowcount
    if not changed:
        raise StoreError("The run has been erased for good; it cannot be brought back.")


def purge(connection: sqlite3.Connection, older_than: float = KEPT_SECONDS) -> int:
    """Erase the runs that went into the trash more than that many seconds ago; gives how many.

    One that is brought back meanwhile stays, and so does one that another process holds until the next time.
    """
    before = time.time() - older_than
    rows = connection.execute("SELECT id, run_id FROM runs WHERE put_away < ? ORDER BY id", (before,)).fetchall()
    return sum(_purge(connection, run, run_id, before) for run, run_id in rows)


def _purge(connection: sqlite3.Connection, run: int, run_id: str, before: float) -> bool:
    try:
        with alone(store_path(connection), run_id):
            gone = delete_run(connection, run, trashed_before=before)
    except UsageError:  # held by another process
        return False
    if gone:
        forget_lock(store_path(connection), run_id)
    return gone


def erase(connection: sqlite3.Connection, run: Run) -> None:
    """Delete a run for good; raises UsageError where it is under way."""
    with alone(store_path(connection), run.run_id):
        refuse_under_way(run)
        delete_run(connection, run.id)
    forget_lock(store_path(connection), run.run_id)


def refuse_under_way(run: Run) -> None:
    """Raise UsageError where a process is at work on a run."""
    if under_way(run):
        raise UsageError(f"Run {run.run_id[:8]} is under way. Stop it first, then delete it.")


def delete_run(connection: sqlite3.Connection, run: int, *, trashed_before: float | None = None) -> bool:
    """Erase a run, its replies, and the corpus and texts that nothing else needs; gives whether it did.

    With ``trashed_before`` (Unix seconds) only where it went into the trash before then and still is.
    A reply that another run was given too stays; one that only this run was given could be of use
    later, but a person who deletes a run wants its texts gone. So do words that an analyser was asked for:
    what annotators found is forgotten, and found again when it is wanted.
    """
    with transaction(connection):
        away = "SELECT 1 FROM runs WHERE id = ? AND put_away < ?"
        asked = (run, trashed_before)
        if trashed_before is not None and connection.execute(away, asked).fetchone() is None:
            return False
        doomed = set(_reply_keys(connection, "run = ?", run))
        if doomed:
            doomed.difference_update(_reply_keys(connection, "run <> ?", run))
        connection.executemany("DELETE FROM replies WHERE key = ?", [(key,) for key in doomed])
        connection.execute("DELETE FROM runs WHERE id = ?", (run,))
        connection.execute("DELETE FROM corpora WHERE id NOT IN (SELECT corpus FROM runs)")
        forget_unused_secrets(connection)
        sweep_texts(connection)
        forget_findings(connection)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return True


def _reply_keys(connection: sqlite3.Connection, condition: str, run: int) -> Iterator[bytes]:
    """Yield the keys of the replies about some runs: those that their attempts name, and scorings asked for."""
    for table in ("results", "annotations"):
        rows = connection.execute(f"SELECT trace FROM {table} WHERE {condition} AND trace IS NOT NULL", (run,))
        for (trace,) in rows:
            for attempt in unpack_attempts(trace):
                if attempt.reply_key is not None:
                    yield attempt.reply_key
    for (key,) in connection.execute(f"SELECT reply FROM asked_about WHERE {condition}", (run,)):
        yield key
