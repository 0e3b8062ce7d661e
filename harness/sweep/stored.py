"""What the store has of a sweep before it is begun: a complete run that need not be made again."""

from __future__ import annotations

import sqlite3

from harness.core.run_state import RunState
from harness.setup.plan import scoring_of
from harness.store.runs import Run, read_run
from harness.store.withdrawn import withdrawn_runs
from harness.sweep.expansion import SweepCell, run_key


def find_same(connection: sqlite3.Connection, cell: SweepCell) -> Run | None:
    """Return a complete run of the store that is what a cell asks for, the newest; None where there is none."""
    rows = connection.execute(
        "SELECT id FROM runs WHERE setup_hash = ? AND state = ? AND imported IS NULL"
        " AND put_away IS NULL ORDER BY created DESC, id DESC",
        (cell.setup_hash, RunState.COMPLETE),
    ).fetchall()
    for (number,) in rows:
        run = read_run(connection, number)
        scoring = scoring_of(run).model_dump(mode="json")
        same = run_key(run.setup_hash, run.positions, scoring) == cell.key
        if same and run.id not in withdrawn_runs(connection, run.id):
            return run
    return None
