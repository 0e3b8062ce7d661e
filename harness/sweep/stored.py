"""What the store has of a sweep before it is begun: a complete run that need not be made again."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from harness.core.run_state import RunState
from harness.setup.plan import scoring_of
from harness.setup.scoring_tools import stated_setup
from harness.store.runs import Run, read_run
from harness.store.withdrawn import withdrawn_runs
from harness.sweep.expansion import SweepCell
from scoring.core.setup import ScoringSetup


def find_same(connection: sqlite3.Connection, cell: SweepCell) -> Run | None:
    """Return a complete run of the store that is what a cell asks for, the newest; None where there is none."""
    rows = connection.execute(
        "SELECT id FROM runs WHERE setup_hash = ? AND state = ? AND imported IS NULL"
        " AND put_away IS NULL ORDER BY created DESC, id DESC",
        (cell.setup_hash, RunState.COMPLETE),
    ).fetchall()
    for (number,) in rows:
        run = read_run(connection, number)
        same = run.positions == cell.request.positions and _scored_alike(run, cell)
        if same and run.id not in withdrawn_runs(connection, run.id):
            return run
    return None


def _scored_alike(run: Run, cell: SweepCell) -> bool:
    """Return whether a run was scored as a cell asks; files are the same where their bytes are, whatever their paths."""
    before = scoring_of(run).model_dump(mode="json")
    asked = cell.request.plan.scoring.model_dump(mode="json")
    setup = stated_setup(run.opening.scoring)
    for name, sha256 in ({} if setup is None else _stated_files(setup)).items():
        if sha256 and before[name] is not None and asked[name] is not None:
            before[name], asked[name] = sha256, cell.files[str(Path(asked[name]))]
    return before == asked


def _stated_files(setup: ScoringSetup) -> dict[str, str | None]:
    """Return option of scoring → SHA-256 of the file that it named, as a run states it; None where it states none."""
    return {
        "terms": setup.terms_sha256,
        "gloss_dictionary": setup.gloss_dictionary_sha256,
        "language_card": setup.language_card_sha256,
        "analyser": None if setup.analyser is None else setup.analyser.sha256,
    }
