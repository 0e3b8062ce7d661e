"""Scoring a finished run again, with more metrics or other instruments; no method is called.

A sealed card never changes (DESIGN C4): the result is a record of its own that names the run it is of.
"""

from __future__ import annotations

import sqlite3
import time
import uuid
from pathlib import Path
from typing import Any

from harness.failures import UsageError
from harness.final_scores import Scored, Tell, score_outputs
from harness.instruments import Instruments, stored_setup
from harness.preparing import prepare
from harness.scoring_options import ScoringOptions
from harness.store.corpora import read_dataset, read_entries
from harness.store.database import store_path
from harness.store.findings import StoredFindings
from harness.store.results import copy_results, read_results, replace_scores
from harness.store.runs import Run, copy_stretches, create_run, read_card
from harness.version import VERSION


def rescore(connection: sqlite3.Connection, run: Run, options: ScoringOptions, tell: Tell) -> str:
    """Score a run's outputs with its own metrics and the wanted ones; gives the id of the new run.

    UsageError where the run is not complete, has outputs without texts, or names what cannot be had.
    """
    from harness.card.build import seal

    card = read_card(connection, run.id)
    if card is None:
        raise UsageError(
            f"Run {run.run_id[:8]} is not complete. `rosetta resume {run.run_id[:8]}` goes on with it."
        )
    results = list(read_results(connection, run.id))
    instruments, chosen = _instruments(connection, run, options)
    entries = instruments.resources.entries
    if any(not entry.reference for entry in entries):
        raise UsageError(
            f"Run {run.run_id[:8]} was imported without the texts of its secret entries; only who "
            "has them can score it again."
        )
    by_place = dict(zip(run.positions, entries, strict=True))
    try:
        scored = score_outputs(instruments, by_place, results, tell)
    finally:
        instruments.close()
    source = {"run_id": run.run_id, "run_card_hash": card.get("run_card_hash")}
    connection.execute("BEGIN IMMEDIATE")
    try:
        number, run_id = _copy(connection, run, chosen, scored, source)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    seal(connection, number)
    return run_id


def _instruments(
    connection: sqlite3.Connection, run: Run, options: ScoringOptions
) -> tuple[Instruments, ScoringOptions]:
    """Find instruments for the metrics that the run has and those that are wanted beside them."""
    dataset = read_dataset(connection, run.corpus)
    entries = read_entries(connection, run.corpus)
    covered = [entries[place] for place in run.positions]
    had = stored_setup(run, dataset.target_language, covered)
    before = ScoringOptions.model_validate(run.plan.get("scoring", {}))
    told = {name: getattr(options, name) for name in options.model_fields_set}
    metrics = tuple(dict.fromkeys([*had.metrics, *options.wanted]))
    chosen = before.model_copy(update={**told, "metrics": metrics})
    memo = StoredFindings(store_path(connection))
    coaching = run.plan.get("options", {}).get("coaching")
    instruments = prepare(
        dataset,
        covered,
        [entries[place] for place in sorted(entries)],
        chosen,
        memo,
        coaching=None if coaching is None else Path(coaching),
        offline=bool(run.plan.get("run", {}).get("offline")),
    )
    return instruments, chosen


def _copy(
    connection: sqlite3.Connection,
    run: Run,
    options: ScoringOptions,
    scored: Scored,
    source: dict[str, Any],
) -> tuple[int, str]:
    """Store the new run: the outputs of the old one with the new scores."""
    run_id = str(uuid.uuid4())
    number = create_run(
        connection,
        run_id=run_id,
        corpus=run.corpus,
        positions=run.positions,
        setup=run.setup,
        setup_hash=run.setup_hash,
        fingerprint_hash=run.fingerprint_hash,
        plan={**run.plan, "scoring": options.model_dump(mode="json")},
        opening={**run.opening, **scored.opening, "rescore_of": source},
        dataset_id=run.dataset_id,
        language_pair=run.language_pair,
        harness_version=VERSION,
        created=time.time(),
    )
    copy_stretches(connection, run.id, number)
    copy_results(connection, run.id, number)
    replace_scores(connection, number, scored.rows)
    return number, run_id
