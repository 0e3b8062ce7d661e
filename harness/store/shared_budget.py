"""Money that the runs of a sweep share: one ledger in the store for all processes.

Each run holds a part of the budget, and the parts never add up to more than the whole. A process takes more for its
run before it makes the call that needs it, in a transaction that is on the disk by then, and leaves what it did not
spend when it ends. What a killed process held counts as spent until its run continues, and is its run's again then.
What a run paid is in its stretches (``harness.store.holding``): the greater of both counts.
"""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

from harness.store.file.database import open_store
from harness.store.file.transaction import transaction
from harness.store.holding import is_held

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
        "INSERT OR IGNORE INTO sweep_money (sweep, run_id, held_usd, busy) VALUES (?, ?, 0, 0)",
        (sweep, run_id),
    )


def committed_usd(connection: sqlite3.Connection, sweep: int) -> float:
    """Return what the runs of a sweep paid, or may have to pay."""
    return float(connection.execute(_COMMITTED, (sweep, "")).fetchone()[0])


def purse_of(
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
    connection.execute(
        "UPDATE sweep_money SET held_usd = ?, busy = 0 WHERE run_id = ?", (committed, run_id)
    )


class SharedBudget:
    """One run's part of a shared budget; see ``harness.endpoint.budget.CallBudget``."""

    def __init__(
        self, path: Path, sweep: int, run_id: str, held: float, own_cap: float | None = None
    ) -> None:
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
            return True if taken else self._hope(connection)

    def _take(self, connection: sqlite3.Connection, wanted: float, spent: float | None) -> bool:
        if spent is not None:
            self.held = spent
        row = connection.execute("SELECT budget_usd FROM sweeps WHERE id = ?", (self._sweep,))
        budget = row.fetchone()[0]
        self.budget = float("inf") if budget is None else budget
        self.others = connection.execute(_COMMITTED, (self._sweep, self._run_id)).fetchone()[0]
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

    def _hope(self, connection: sqlite3.Connection) -> bool | None:
        """Return None where another process may give money back, else False."""
        rows = connection.execute(
            "SELECT run_id FROM sweep_money WHERE sweep = ? AND busy AND run_id <> ?",
            (self._sweep, self._run_id),
        ).fetchall()
        return None if any(is_held(self._path, run_id) for (run_id,) in rows) else False
