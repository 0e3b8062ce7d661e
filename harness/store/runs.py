"""One run in the store: its beginning, how it is found again, its heartbeat and its seal."""

from __future__ import annotations

import json
import re
import sqlite3
import time
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from corpora.files.json_types import Json, JsonObject
from harness.core.failures import RunState, StoreError, UsageError
from harness.core.storage import storable
from harness.method.method_names import submission_number
from harness.store.sqlite.schema import fill_run_scores
from harness.store.sqlite.trouble import (
    inflated,
    pack_positions,
    rows_by_name,
    stored_object,
    stored_word,
    unpack_positions,
    unpacks,
)
from harness.store.withdrawn import refuse_withdrawn_run

if TYPE_CHECKING:
    from harness.method.method import Setup
    from harness.store.run_list import RunSummary, SweepRun
    from harness.store.sqlite.openings import Live, RunOpening


class Run(NamedTuple):
    """One run as the store knows it."""

    id: int
    """The store's own number of the run."""
    run_id: str
    """UUID v4 (benchmark-specification §3.1)."""
    corpus: int
    state: RunState
    created: float
    """Unix time of the first start."""
    positions: Sequence[int]
    setup: Setup
    setup_hash: str
    plan: JsonObject
    opening: RunOpening
    live: Live | None
    harness_version: str
    imported: bool
    dataset_id: str
    language_pair: str
    fingerprint_hash: str
    trashed: float | None = None
    """Unix time at which it was deleted; it can be brought back for some days."""

    @property
    def submission(self) -> str:
        """Number of the submission that its method came in; empty for any other method."""
        return submission_number(self.setup.method, self.setup.method_sha256)

    @property
    def outputs(self) -> Path | None:
        """The file of outputs made elsewhere that its plan names; None for none."""
        options = self.plan.get("options")
        named = options.get("outputs") if isinstance(options, Mapping) else None
        return Path(named) if isinstance(named, str) else None

    @property
    def goes_on_with(self) -> str:
        """The command that continues with it where it was cut; that of a submission begins a run again."""
        if self.submission:
            return f"rosetta submission run {self.submission}"
        return f"rosetta resume {self.run_id[:8]}"


_READ = """
    SELECT id, run_id, corpus, state, created, positions, setup, setup_hash, plan, opening, live,
           harness_version, imported IS NOT NULL AS imported, dataset_id, language_pair,
           fingerprint_hash, put_away AS trashed
    FROM runs
"""


@unpacks
def _run(row: sqlite3.Row) -> Run:
    # a list of runs has neither, and starts without pydantic
    from harness.method.method import Setup
    from harness.store.sqlite.openings import Live, RunOpening

    read = {
        "state": stored_word(row["state"], RunState),
        "positions": unpack_positions(row["positions"]),
        "setup": Setup.model_validate_json(row["setup"]),
        "plan": stored_object(row["plan"]),
        "opening": RunOpening.read(row["opening"]),
        "live": None if row["live"] is None else Live.read(row["live"]),
        "imported": bool(row["imported"]),
    }
    return Run(**{**dict(row), **read})


def create_run(
    connection: sqlite3.Connection,
    *,
    run_id: str,
    corpus: int,
    positions: Sequence[int],
    setup: Setup,
    setup_hash: str,
    fingerprint_hash: str,
    plan: JsonObject,
    opening: RunOpening,
    dataset_id: str,
    language_pair: str,
    harness_version: str,
    created: float | None = None,
    imported: bytes | None = None,
) -> int:
    """Store the beginning of a run and give its number; called within a transaction."""
    fields: dict[str, Json] = {
        "run_id": run_id,
        "corpus": corpus,
        "state": RunState.STOPPED,
        "created": time.time() if created is None else created,
        "positions": pack_positions(positions),
        "setup": setup.model_dump_json(),
        "setup_hash": setup_hash,
        "plan": json.dumps(plan),
        "opening": opening.as_text(),
        "harness_version": harness_version,
        "imported": None if imported is None else zlib.compress(imported),
        "model_slug": setup.model_slug,
        "condition": setup.condition,
        "dataset_id": dataset_id,
        "language_pair": language_pair,
        "fingerprint_hash": fingerprint_hash,
    }
    names, marks = ", ".join(fields), ", ".join("?" * len(fields))
    query = f"INSERT INTO runs ({names}) VALUES ({marks})"
    inserted = connection.execute(query, tuple(fields.values()))
    return int(inserted.lastrowid or 0)


def find_run(connection: sqlite3.Connection, name: str, *, withdrawn: bool = False) -> Run:
    """Return the run whose id is, or begins with, this name; ``last`` is the newest, ``last~1`` the one before.

    Raises UsageError where none or several match, or it is in the trash; Withdrawn unless ``withdrawn``, to delete it.
    """
    rows = _named(connection, name, "put_away IS NULL", "created")
    if not rows:
        deleted = bool(_begin_with(connection, name, "put_away IS NOT NULL"))
        raise UsageError(
            f"Run {name!r} was deleted. `rosetta runs delete --undo {name}` brings it back."
            if deleted
            else f"No run is named {name!r}. `rosetta runs list` shows all runs."
        )
    run = _only(rows, name)
    if not withdrawn:
        refuse_withdrawn_run(connection, run.id, run.run_id[:8])
    return run


def find_trashed(connection: sqlite3.Connection, name: str) -> Run:
    """Return the run in the trash; ``last`` is the one that was deleted last, ``last~1`` the one before.

    Raises UsageError where none or several match.
    """
    rows = _named(connection, name, "put_away IS NOT NULL", "put_away")
    if not rows:
        raise UsageError(f"No deleted run {name!r} can be brought back. `rosetta runs list --deleted` shows which can.")
    return _only(rows, name)


_NEWEST = "ORDER BY created DESC, id DESC LIMIT 1"
_BACK = re.compile(r"last(?:~([0-9]{1,9}))?")


def runs_back(name: str) -> int | None:
    """Return how many runs before the newest a name means: 0 for ``last``, 2 for ``last~2``; None for an id."""
    match = _BACK.fullmatch(name)
    return None if match is None else int(match[1] or 0)


def _named(connection: sqlite3.Connection, name: str, condition: str, order: str) -> list[sqlite3.Row]:
    """Return at most two runs that a name may mean; ``order`` is the column by which ``last`` is found."""
    if (back := runs_back(name)) is None:
        return _begin_with(connection, name, condition)
    query = f"{_READ} WHERE {condition} ORDER BY {order} DESC, id DESC LIMIT 1 OFFSET ?"
    return rows_by_name(connection, query, (back,))


def _begin_with(connection: sqlite3.Connection, name: str, condition: str) -> list[sqlite3.Row]:
    """Return at most two runs whose id begins with a name, the one that it names wholly first."""
    prefix = storable(name.lower())
    # the bounds let SQLite search its index
    query = f"""
        {_READ} WHERE ? AND run_id >= ? AND run_id < ? AND substr(run_id, 1, ?) = ? AND {condition}
        ORDER BY run_id = ? DESC LIMIT 2
    """
    return rows_by_name(connection, query, (bool(prefix), prefix, f"{prefix}\U0010ffff", len(prefix), prefix, prefix))


def _only(rows: Sequence[sqlite3.Row], name: str) -> Run:
    if len(rows) > 1 and rows[0]["run_id"] != name.lower():
        raise UsageError(f"Several runs begin with {name!r}. Write more of the id.")
    return _run(rows[0])


def find_open_run(connection: sqlite3.Connection, back: int = 0) -> Run:
    """Return the newest run that can continue, or one that many before it; UsageError where there is none."""
    waiting = "run_card IS NULL AND imported IS NULL AND put_away IS NULL"
    rows = rows_by_name(connection, f"{_READ} WHERE {waiting} {_NEWEST} OFFSET ?", (back,))
    if not rows:
        further = " that far back" if back else ""
        raise UsageError(f"No run is waiting to continue{further}. `rosetta runs list` shows all.")
    return _run(rows[0])


def read_run(connection: sqlite3.Connection, number: int) -> Run:
    """Return a run by the store's own number; raises StoreError where it was deleted."""
    rows = rows_by_name(connection, f"{_READ} WHERE id = ? AND put_away IS NULL", (number,))
    if not rows:
        raise StoreError("The run has been deleted.")
    return _run(rows[0])


def find_by_id(connection: sqlite3.Connection, run_id: str) -> Run | None:
    """Return a run by its whole id, in the trash or not; None where there is none."""
    rows = rows_by_name(connection, f"{_READ} WHERE run_id = ?", (run_id,))
    return _run(rows[0]) if rows else None


SILENT_SECONDS = 10.0
"""A run that says it is going, but whose last heartbeat is older than this, has lost its process."""


def under_way(run: Run | RunSummary | SweepRun) -> bool:
    """Return whether a process is at work on a run now: by its state, and by how old its heartbeat is.

    A heartbeat from the future, left behind where the clock was set back, counts as old too.
    """
    if run.state in {RunState.STOPPED, RunState.COMPLETE} or run.live is None:
        return False
    return abs(silent_seconds(run)) <= SILENT_SECONDS


def silent_seconds(run: Run | RunSummary | SweepRun) -> float:
    """Return the age of a run's heartbeat in seconds; below 0 where the clock was set back since."""
    from harness.store.sqlite.openings import Live

    return time.time() - (run.live or Live()).at


def set_live(connection: sqlite3.Connection, run: int, state: RunState, live: Live | None) -> None:
    """Write the run's state, and its heartbeat, which a second terminal reads, or its score so far and why it stopped."""
    connection.execute(
        "UPDATE runs SET state = ?, live = ? WHERE id = ?", (state, None if live is None else live.as_text(), run)
    )


def leave_run(connection: sqlite3.Connection, run: int) -> None:
    """Record that no process is at the run any more; a sealed one stays complete.

    A stopped one tells why; of any other only its score so far is kept.
    """
    connection.execute(
        """UPDATE runs SET state = ?, live = CASE
            WHEN NOT json_valid(live) THEN NULL
            WHEN state = ? AND live ->> '$.reason' IS NOT NULL THEN live
            WHEN live -> '$.so_far' IS NOT NULL THEN json_object('so_far', live -> '$.so_far')
        END
        WHERE id = ? AND run_card IS NULL""",
        (RunState.STOPPED, RunState.STOPPED, run),
    )


def forget_failed(connection: sqlite3.Connection, run: int) -> int:
    """Erase the rows of failed entries, so that they are asked for again; gives how many."""
    return connection.execute("DELETE FROM results WHERE run = ? AND error_class IS NOT NULL", (run,)).rowcount


def seal_run(connection: sqlite3.Connection, run: int, card: str) -> None:
    """Store a finished run's card (without results[]) and its columns; a sealed card never changes."""
    changed = connection.execute(
        "UPDATE runs SET state = ?, live = NULL, run_card = ? WHERE id = ? AND run_card IS NULL",
        (RunState.COMPLETE, card, run),
    ).rowcount
    if not changed:
        raise StoreError("The run has a sealed card already; a sealed card never changes.")
    fill_run_scores(connection, run)


def read_card(connection: sqlite3.Connection, run: int) -> dict[str, Json] | None:
    """Return the sealed card without results[], None where the run is not complete."""
    row = connection.execute("SELECT run_card FROM runs WHERE id = ?", (run,)).fetchone()
    return None if row is None or row[0] is None else stored_object(row[0])


def read_imported(connection: sqlite3.Connection, run: int) -> bytes | None:
    """Return the card's own bytes as they came from elsewhere, None where the run was made here."""
    row = connection.execute("SELECT imported FROM runs WHERE id = ?", (run,)).fetchone()
    return None if row is None or row[0] is None else inflated(row[0])
