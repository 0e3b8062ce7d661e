"""Scoring a finished run again, with more metrics or other instruments; no method is called.

A sealed card never changes (DESIGN C4): the result is a record of its own that names the run it is of.
"""

from __future__ import annotations

import sqlite3
import time
import uuid
from collections.abc import Sequence
from typing import Any

from harness.beginning import instruments_with
from harness.failures import UsageError
from harness.final_scores import Scored, Tell, score_outputs
from harness.instruments import stored_setup
from harness.result import Result
from harness.scoring_options import ScoringOptions
from harness.store.corpora import read_entries
from harness.store.results import copy_results, read_results, replace_scores
from harness.store.runs import Run, copy_stretches, create_run, read_card
from harness.version import VERSION
from scoring.inventory import make_scorer
from scoring.resources import Resources
from scoring.setup import ScoringSetup
from scoring.specification import specification


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
    chosen = _options(connection, run, options)
    instruments = instruments_with(connection, run, chosen)
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
    scored = with_stated(scored, stored_setup(run, "und", entries), run, results)
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


def _options(connection: sqlite3.Connection, run: Run, options: ScoringOptions) -> ScoringOptions:
    """Add what is wanted to what the run was scored with."""
    entries = list(read_entries(connection, run.corpus, run.positions).values())
    had = stored_setup(run, "und", entries)
    before = ScoringOptions.model_validate(run.plan.get("scoring", {}))
    told = {name: getattr(options, name) for name in options.model_fields_set}
    metrics = tuple(dict.fromkeys([*had.metrics, *options.wanted]))
    return before.model_copy(update={**told, "metrics": metrics})


def with_stated(scored: Scored, had: ScoringSetup, run: Run, results: Sequence[Result]) -> Scored:
    """Keep the metrics of the run that cannot be taken anew here, with their statistics and facts.

    Their analyser or dictionary may be gone, or the run came from elsewhere; the floors stay the run's too,
    for they rest on the same.
    """
    now = ScoringSetup.model_validate(scored.opening["scoring"])
    kept = [id_ for id_ in had.metrics if id_ not in now.metrics]
    if not kept:
        return scored
    setup = now.model_copy(
        update={
            **{name: value for name, value in had if getattr(now, name) in _NOTHING},
            "metrics": tuple(
                id_ for id_ in specification().metrics if id_ in {*kept, *now.metrics}
            ),
            "off": {id_: why for id_, why in now.off.items() if id_ not in kept},
        }
    )
    stored = make_scorer(Resources(had))
    old = [stored.unpack(result.statistics) for result in results]
    statistics = [
        {**{id_: before.get(id_) for id_ in kept}, **fresh}
        for before, fresh in zip(old, scored.statistics, strict=True)
    ]
    values = {**run.opening.get("corpus_values", {}), **scored.opening["corpus_values"]}
    opening = {
        **scored.opening,
        "scoring": setup.model_dump(mode="json"),
        "corpus_values": {id_: value for id_, value in values.items() if id_ in setup.metrics},
        "floors": run.opening.get("floors", scored.opening["floors"]),
    }
    return Scored(make_scorer(Resources(setup)), scored.places, statistics, opening)


_NOTHING = (None, 0, False, "")


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
