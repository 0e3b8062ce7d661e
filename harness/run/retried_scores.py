"""What a run is worth without the entries that were asked for again, so that a reader sees what they did."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from harness.setup.scoring_tools import stored_scorer
from harness.store.corpora.entries import read_entries
from harness.store.mixed_setups import tried_before
from harness.store.results import read_statistics
from harness.store.runs import Run, find_by_id, read_card
from scoring.core.scorer import RunningTotals


@dataclass(frozen=True, slots=True)
class RetriedScores:
    """A retried run beside itself without the entries asked for again, and beside the run before."""

    asked: int
    """Entries that were asked for again."""
    failed: int
    """Of these, entries that failed once more."""
    kept: int
    """All other entries of the run."""
    without: dict[str, float | None]
    """Metric id, or ``composite`` → value over the kept entries alone."""
    before: dict[str, float | None]
    """The same of the run before, whose failed entries count as wrong; empty where it is gone."""


SHOWN = ("chrf_plus_plus", "exact_match_rate", "composite")
"""Values that are laid side by side."""


def retried_scores(connection: sqlite3.Connection, run: Run) -> RetriedScores | None:
    """Return both values of a run whose entries are all stored; None for one that is no retry."""
    origin, again = run.opening.retry_of, tried_before(run)
    if origin is None or not again:
        return None
    failed = connection.execute(
        "SELECT count(*) FROM results WHERE run = ? AND error_class IS NOT NULL", (run.id,)
    ).fetchone()[0]
    return RetriedScores(
        asked=len(again),
        failed=failed,
        kept=len(run.positions) - len(again),
        without=_without(connection, run, set(again)),
        before=_before(connection, origin.run_id),
    )


def _without(connection: sqlite3.Connection, run: Run, again: set[int]) -> dict[str, float | None]:
    stored = read_statistics(connection, run.id)
    entries = read_entries(connection, run.corpus, run.positions)
    scorer = stored_scorer(run, "und", list(entries.values()))
    totals = RunningTotals(scorer)
    totals.add([scorer.unpack(packed) for place, packed in stored.items() if place not in again])
    values = {**totals.values(), "composite": totals.composite().value}
    return {name: values.get(name) for name in SHOWN}


def _before(connection: sqlite3.Connection, run_id: str) -> dict[str, float | None]:
    run = find_by_id(connection, run_id)
    card = None if run is None else read_card(connection, run.id)
    return {} if card is None else {name: card["scores"].get(name) for name in SHOWN}
