"""Sweeps in the store: their plans, and which run each cell of theirs is.

A cell has the id of its run before the run begins. Who works on which run is known by the locks of runs
(``harness.store.live_runs``) alone; there is no queue.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from corpora.files.json_types import JsonObject
from harness.core.failures import UsageError
from harness.core.storage import storable
from harness.store.live_runs import is_held
from harness.store.sqlite.database import open_store
from harness.store.sqlite.trouble import rows_by_name, stored_object, transaction


@dataclass(frozen=True, slots=True)
class NewCell:
    """A cell as its plan names it."""

    name: str
    labels: Mapping[str, str]  # Axis → label
    replicate: int
    setup_hash: str
    entries: int


BETWEEN = " · "  # The labels in the name of a cell, and its replicate


def configuration_name(name: str, replicate: int) -> str:
    """Return a cell's name without its replicate: what all repetitions of it share."""
    return name.removesuffix(f"{BETWEEN}#{replicate + 1}")


@dataclass(frozen=True, slots=True)
class StoredCell:
    """A cell with its run."""

    place: int
    """From 0."""
    named: NewCell
    run_id: str
    reused: bool
    """Whether the store had the run before the sweep came to it."""
    trouble: str | None
    """Why it stopped on its own, or could not begin."""
    raced_out: JsonObject | None
    """What decided that it cannot be the best (``harness.sweep.record.RacedOutRecord``); None where nothing did."""


@dataclass(frozen=True, slots=True)
class StoredSweep:
    """A sweep as it was begun last."""

    number: int
    key: str  # SHA-256 over what its cells are; a plan that says the same is the same sweep
    name: str
    created: float  # Unix time
    plan: str  # JSON, with absolute paths
    file: str
    budget_usd: float | None
    workers: int
    stopping: bool

    @property
    def id(self) -> str:
        """Return its short id, shown beside its name."""
        return self.key[:8]


_READ = "SELECT id AS number, key, name, created, plan, file, budget_usd, workers, stopping FROM sweeps"


def _sweep(row: sqlite3.Row) -> StoredSweep:
    return StoredSweep(**{**dict(row), "stopping": bool(row["stopping"])})


def keep_sweep(
    connection: sqlite3.Connection,
    *,
    key: str,
    name: str,
    plan: str,
    file: str,
    budget_usd: float | None,
    workers: int,
    cells: Sequence[NewCell],
) -> StoredSweep:
    """Store a sweep, or take up the one of the same cells with what its plan says now."""
    with transaction(connection):
        connection.execute(
            "INSERT INTO sweeps (key, name, created, plan, file, budget_usd, workers)"
            " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET name = excluded.name,"
            " plan = excluded.plan, file = excluded.file, budget_usd = excluded.budget_usd,"
            " workers = excluded.workers, stopping = 0",
            (key, name, time.time(), plan, storable(file), budget_usd, workers),
        )
        stored_sweep = _sweep(rows_by_name(connection, f"{_READ} WHERE key = ?", (key,))[0])
        connection.executemany(
            "INSERT OR IGNORE INTO sweep_cells"
            " (sweep, place, name, labels, replicate, setup_hash, entries, run_id)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    stored_sweep.number, place, cell.name, json.dumps(dict(cell.labels)), cell.replicate,
                    cell.setup_hash, cell.entries, str(uuid.uuid4()),
                )
                for place, cell in enumerate(cells)
            ],
        )  # fmt: skip
    return stored_sweep


def list_sweeps(connection: sqlite3.Connection) -> list[StoredSweep]:
    """Return all sweeps, the newest first."""
    rows = rows_by_name(connection, f"{_READ} ORDER BY created DESC, id DESC", ())
    return [_sweep(row) for row in rows]


def worker_lock(sweep: StoredSweep, place: int) -> str:
    """Return what holds one of the places of a sweep's workers (``harness.store.live_runs.alone``)."""
    return f"sweep-{sweep.id}-{place}"


def at_work(path: Path, sweep: StoredSweep) -> bool:
    """Return whether a worker of this computer is at a sweep; ``path`` is the store's."""
    return any(is_held(path, worker_lock(sweep, place)) for place in range(sweep.workers))


def sweep_of_key(connection: sqlite3.Connection, key: str) -> StoredSweep | None:
    """Return the sweep of these runs; None where there is none yet."""
    rows = rows_by_name(connection, f"{_READ} WHERE key = ?", (key,))
    return _sweep(rows[0]) if rows else None


def find_sweep(connection: sqlite3.Connection, name: str) -> StoredSweep:
    """Return the sweep of this name, of the id that begins so, or ``last``; of equal names the newest.

    Raises UsageError where there is none.
    """
    known = list_sweeps(connection)
    if name == "last" and known:
        return known[0]
    for sweep in known:
        if sweep.name == name or (len(name) >= 4 and sweep.key.startswith(name.lower())):
            return sweep
    raise UsageError(f"There is no sweep {name[:60]!r}. `rosetta sweep list` shows which there are.")


def sweep_that_made(connection: sqlite3.Connection, run_id: str) -> StoredSweep | None:
    """Return the sweep that a run was begun for; None where it was begun alone, whichever sweep counts it too."""
    query = f"{_READ} WHERE id IN (SELECT sweep FROM sweep_cells WHERE run_id = ? AND NOT reused)"
    rows = rows_by_name(connection, query, (run_id,))
    return _sweep(rows[0]) if rows else None


def read_sweep(connection: sqlite3.Connection, number: int) -> StoredSweep:
    """Return a sweep by the store's own number."""
    return _sweep(rows_by_name(connection, f"{_READ} WHERE id = ?", (number,))[0])


def read_cells(connection: sqlite3.Connection, sweep: int, place: int | None = None) -> list[StoredCell]:
    """Return the cells of a sweep, in order, or the one at a place alone."""
    rows = rows_by_name(
        connection,
        "SELECT place, name, labels, replicate, setup_hash, entries, run_id, reused, trouble, raced_out"
        " FROM sweep_cells WHERE sweep = :sweep AND (:place IS NULL OR place = :place)"
        " ORDER BY place",
        {"sweep": sweep, "place": place},
    )
    return [
        StoredCell(
            row["place"],
            NewCell(row["name"], {name: str(label) for name, label in stored_object(row["labels"]).items()}, *row[3:6]),
            row["run_id"],
            bool(row["reused"]),
            row["trouble"],
            None if row["raced_out"] is None else stored_object(row["raced_out"]),
        )
        for row in rows
    ]


def stored_entries(connection: sqlite3.Connection, sweep: int) -> int:
    """Return how many entries the runs of a sweep have."""
    row = connection.execute(
        "SELECT count(*) FROM sweep_cells c JOIN runs u ON u.run_id = c.run_id"
        " JOIN results r ON r.run = u.id WHERE c.sweep = ?",
        (sweep,),
    )
    return int(row.fetchone()[0])


def set_run(connection: sqlite3.Connection, sweep: int, place: int, run_id: str, *, reused: bool) -> None:
    """Record which run a cell is."""
    connection.execute(
        "UPDATE sweep_cells SET run_id = ?, reused = ?, trouble = NULL WHERE sweep = ? AND place = ?",
        (run_id, reused, sweep, place),
    )


def set_trouble(connection: sqlite3.Connection, sweep: int, place: int, words: str) -> None:
    """Record why the run of a cell stopped on its own; no worker takes it up until the sweep continues."""
    connection.execute(
        "UPDATE sweep_cells SET trouble = ? WHERE sweep = ? AND place = ?", (storable(words), sweep, place)
    )


def set_raced_out(connection: sqlite3.Connection, sweep: int, places: Sequence[int], decided: str) -> None:
    """Record what decided that these cells go no further, as JSON; what was decided of one before stays."""
    connection.executemany(
        "UPDATE sweep_cells SET raced_out = ? WHERE sweep = ? AND place = ? AND raced_out IS NULL",
        [(decided, sweep, place) for place in places],
    )


def forget_troubles(connection: sqlite3.Connection, sweep: int) -> None:
    """Clear the troubles, so that every cell is tried again."""
    connection.execute("UPDATE sweep_cells SET trouble = NULL WHERE sweep = ?", (sweep,))


def set_stopping(connection: sqlite3.Connection, sweep: int, *, stopping: bool) -> None:
    """Request the workers of a sweep to end after the entries under way, or take that back."""
    connection.execute("UPDATE sweeps SET stopping = ? WHERE id = ?", (stopping, sweep))


# ---- Money that the runs of a sweep share: one ledger in the store for all processes ----
#
# Each run holds a part of the budget, and the parts never add up to more than the whole. A
# process takes more for its run before it makes the call that needs it, in a transaction that is
# on the disk by then, and leaves what it did not spend when it ends. What a killed process held
# counts as spent until its run continues, and is its run's again then. What a run paid is in its
# stretches (``harness.store.live_runs``): the greater of both counts.

AHEAD = 32
"""How many calls' money a run takes at once, where there is plenty: one transaction for all of them."""

_COMMITTED = """
    SELECT coalesce(sum(max(m.held_usd, coalesce(
        (SELECT sum(s.spent_usd) FROM stretches s JOIN runs r ON r.id = s.run
         WHERE r.run_id = m.run_id), 0))), 0)
    FROM sweep_money m WHERE m.sweep = ? AND m.run_id <> ?
"""


def share_money(connection: sqlite3.Connection, sweep: int, run_id: str) -> None:
    """Register a run to pay out of the budget of a sweep from now on."""
    connection.execute(
        "INSERT OR IGNORE INTO sweep_money (sweep, run_id, held_usd, busy) VALUES (?, ?, 0, 0)", (sweep, run_id)
    )


def committed_usd(connection: sqlite3.Connection, sweep: int) -> float:
    """Return what the runs of a sweep paid, or may have to pay."""
    return float(connection.execute(_COMMITTED, (sweep, "")).fetchone()[0])


def shared_budget_of(
    connection: sqlite3.Connection, path: Path, run_id: str, own_cap: float | None = None
) -> SharedBudget | None:
    """Return what a run pays from where it shares a budget; None where it does not.

    ``own_cap``: a budget of the run alone, which holds as well.
    """
    row = connection.execute(
        "SELECT m.sweep, m.held_usd FROM sweep_money m JOIN sweeps s ON s.id = m.sweep"
        " WHERE m.run_id = ? AND s.budget_usd IS NOT NULL",
        (run_id,),
    ).fetchone()
    return None if row is None else SharedBudget(path, row[0], run_id, row[1], own_cap)


def leave_money(connection: sqlite3.Connection, run_id: str, committed: float) -> None:
    """Record what a run spent, or may have, when its process ends; the rest is the others' again."""
    connection.execute("UPDATE sweep_money SET held_usd = ?, busy = 0 WHERE run_id = ?", (committed, run_id))


class SharedBudget:
    """One run's part of a shared budget; see ``harness.endpoint.budget.CallBudget``."""

    def __init__(self, path: Path, sweep: int, run_id: str, held: float, own_cap: float | None = None) -> None:
        self.held = held
        self.budget = 0.0
        self.others = 0.0
        self._path = path
        self._sweep = sweep
        self._run_id = run_id
        self._own_cap = own_cap

    async def take(self, wanted: float, spent: float | None) -> bool | None:
        """Reserve more without blocking the loop; see ``CallBudget``."""
        return await asyncio.to_thread(self.take_now, wanted, spent)

    def take_now(self, wanted: float, spent: float | None) -> bool | None:
        """Reserve more; blocks. See ``CallBudget``."""
        with closing(open_store(self._path)) as connection:
            with transaction(connection):
                taken = self._take(connection, wanted, spent)
            if taken:
                return True
            rows = connection.execute(
                "SELECT run_id FROM sweep_money WHERE sweep = ? AND busy AND run_id <> ?", (self._sweep, self._run_id)
            ).fetchall()
            # another process may give money back
            return None if any(is_held(self._path, run_id) for (run_id,) in rows) else False

    def _take(self, connection: sqlite3.Connection, wanted: float, spent: float | None) -> bool:
        if spent is not None:
            self.held = spent
        row = connection.execute("SELECT budget_usd FROM sweeps WHERE id = ?", (self._sweep,))
        budget = row.fetchone()[0]
        self.budget = float("inf") if budget is None else budget
        self.others = connection.execute(_COMMITTED, (self._sweep, self._run_id)).fetchone()[0]
        # A run holds 1.00 and a call needs 1.02. Where it may have 9.00, it takes 32 calls' money (0.64) at once; where
        # it may have 1.10, only half of the rest (0.05), so that others can go on near the end of the budget.
        most = self.budget - self.others
        if self._own_cap is not None:
            most = min(most, self._own_cap)
        if fits := wanted <= most:
            ahead = min((wanted - self.held) * AHEAD, (most - self.held) / 2)
            self.held = max(wanted, self.held + ahead)
        connection.execute(
            "UPDATE sweep_money SET held_usd = ?, busy = ? WHERE run_id = ?",
            (self.held, fits or spent is None, self._run_id),
        )
        return fits
