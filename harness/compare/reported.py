"""What a run has of each metric, as the documents of packs report it: mean and spread of the entries, value of the whole.

A view of a pack may be asked of one run alone, so nothing here is tested for significance.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from corpora.model.entry import EntryId
from harness.compare.rows import scorer_of, setup_of
from harness.core.failures import UsageError
from harness.method.method import Result
from harness.setup.plan import told_of
from harness.store.corpora.entries import read_entries
from harness.store.distinctions import distinctions
from harness.store.results import read_results
from harness.store.runs import Run, find_run
from scoring.core.inventory import read_by
from scoring.core.packs import Pack
from scoring.core.scorer import Scorer
from scoring.core.table import Table
from scoring.core.translation import Translation
from scoring.metrics.inventory import make_metrics
from scoring.packs.views import MetricTotals
from scoring.statistics.spread import spreads
from scoring.words.resources import Resources


@dataclass(frozen=True, slots=True)
class ReportedRun:
    """One run as a pack reports it."""

    run: Run
    name: str
    """What it is called in the report: the file of its outputs, or its condition; with its id where others share it."""
    totals: Mapping[str, MetricTotals]
    """By metric id, those of the pack only."""


def reported_runs(
    connection: sqlite3.Connection, run_ids: Sequence[str], pack: Pack, baseline: str | None = None
) -> list[ReportedRun]:
    """Read what runs have of a pack's metrics, the baseline first where it is not among them.

    The metrics that compare an answer with a ``baseline`` are taken again against that run's answers, joined by entry
    id. Raises UsageError where there is no such run, or one has no metric of the pack.
    """
    runs = [find_run(connection, run_id_) for run_id_ in run_ids]
    base = None if baseline is None else find_run(connection, baseline)
    if base is not None and base.id not in {run.id for run in runs}:
        runs.insert(0, base)
    answers = None if base is None else _answers(connection, base)
    totals_of_runs = [_totals_of(connection, run, pack, answers) for run in runs]
    for run, totals in zip(runs, totals_of_runs, strict=True):
        if not totals:
            raise UsageError(
                f"Run {run.run_id[:8]} has no metric of {pack.name}. Score its outputs with them: "
                f"`rosetta score --rescore {run.run_id[:8]} --metrics {pack.name}`."
            )
    return [
        ReportedRun(run, name, totals)
        for run, name, totals in zip(runs, _names(runs), totals_of_runs, strict=True)
    ]


def _names(runs: Sequence[Run]) -> list[str]:
    files = [told_of(run).outputs for run in runs]
    names = [
        file.stem if file else run.setup.condition for file, run in zip(files, runs, strict=True)
    ]
    apart = distinctions(names, [(run.run_id[:8],) for run in runs])
    return [f"{name} {id_}" if id_ else name for name, id_ in zip(names, apart, strict=True)]


def _answers(connection: sqlite3.Connection, run: Run) -> dict[EntryId, str]:
    """Return a run's outputs by entry id, a failed one as the empty text."""
    return {result.entry_id: result.output or "" for result in read_results(connection, run.id)}


def _totals_of(
    connection: sqlite3.Connection, run: Run, pack: Pack, answers: Mapping[EntryId, str] | None
) -> dict[str, MetricTotals]:
    results = list(read_results(connection, run.id, to_show=True))  # their numbers alone
    scorer = scorer_of(connection, run)
    totals = _totals(scorer.unpack_table([result.statistics for result in results]))
    known = {id_: total for id_, total in totals.items() if id_ in pack.rows}
    held = read_by("baseline", pack.rows)
    if known and answers is not None and held:
        known |= _totals(_held_against(connection, run, results, held, answers))
    return known


def _held_against(
    connection: sqlite3.Connection,
    run: Run,
    results: Sequence[Result],
    metrics: frozenset[str],
    answers: Mapping[EntryId, str],
) -> Table:
    """Compute the statistics of metrics that read a baseline's answer, from the stored outputs of two runs."""
    setup = setup_of(connection, run).model_copy(update={"metrics": tuple(sorted(metrics))})
    scorer = Scorer(make_metrics(Resources(setup)))
    entries = read_entries(connection, run.corpus, run.positions)
    pairs = [
        Translation(
            entries[result.position],
            result.output or "",
            {"baseline": answers[result.entry_id]} if result.entry_id in answers else {},
        )
        for result in results
    ]
    return scorer.table(scorer.statistics(pairs))


def _totals(table: Table) -> dict[str, MetricTotals]:
    value_spreads = spreads(table.entry_values())
    return {
        id_: MetricTotals(
            value_spreads[id_].mean, value_spreads[id_].std, value, value_spreads[id_].n
        )
        if id_ in value_spreads
        else MetricTotals(None, None, value, 0)
        for id_, value in table.corpus_values().items()
    }
