"""Scoring stored outputs as a whole: at the end of a run, and again with other metrics.

What a run is worth without the entries that were asked for again is scored here too, so that a reader sees what
they did.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from corpora.model.entry import Entry
from harness.annotators.annotator import Ask
from harness.card.reading import block, number
from harness.core.failures import ErrorClass
from harness.endpoint.endpoints import is_loopback
from harness.method.method import Result
from harness.setup.plan import told_of
from harness.setup.scoring_tools import (
    AnnotatorError,
    ScoringTools,
    filled,
    floor_fields,
    stored_scorer,
    without,
)
from harness.store.corpora.entries import shown_entries
from harness.store.mixed_setups import tried_before
from harness.store.results import failures, read_results, read_statistics, replace_scores
from harness.store.run_list import failures_by_run
from harness.store.runs import Run, find_by_id, read_card, read_run
from harness.store.sqlite.openings import set_opening
from harness.store.sqlite.trouble import transaction
from scoring.card.claim import FloorScores
from scoring.card.floors import JUDGES, floors
from scoring.core.metric import EntryStatistics
from scoring.core.scorer import RunningTotals, Scorer
from scoring.core.setup import Translation
from scoring.core.specification import TRANSLATIONS, SortValues


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
    """Id of each metric that runs of the task are shown by, or ``composite`` → value over the kept entries alone."""
    before: dict[str, float | None]
    """The same of the run before, whose failed entries count as wrong; empty where it is gone."""


def retried_scores(connection: sqlite3.Connection, run: Run) -> RetriedScores | None:
    """Return both values of a run whose entries are all stored; None for one that is no retry."""
    origin, again = run.opening.retry_of, tried_before(run)
    if origin is None or not again:
        return None
    failed = connection.execute(
        "SELECT count(*) FROM results WHERE run = ? AND error_class IS NOT NULL", (run.id,)
    ).fetchone()[0]
    stored = read_statistics(connection, run.id)
    entries = shown_entries(connection, run.corpus, run.positions)
    scorer = stored_scorer(run, "und", list(entries.values()))
    totals = RunningTotals(scorer)
    totals.add([scorer.unpack(packed) for place, packed in stored.items() if place not in again])
    values = {**totals.values(), "composite": totals.composite().value}
    shown = scorer.columns.ids
    if scorer.columns == TRANSLATIONS:
        shown = ("chrf_plus_plus", "exact_match_rate", "composite")
    before = find_by_id(connection, origin.run_id)
    card = None if before is None else read_card(connection, before.id)
    return RetriedScores(
        asked=len(again),
        failed=failed,
        kept=len(run.positions) - len(again),
        without={name: values.get(name) for name in shown},
        before={} if card is None else {name: number(block(card, "scores").get(name)) for name in shown},
    )


SLOW_FLOOR_ENTRIES = 200
"""Entries, spread evenly over the run, on which floors are worked out where annotations are slow."""

SLOW_JUDGES = 20  # Entries on which promising constants are scored there
Tell = Callable[[str], None]


def finish_scores(
    connection: sqlite3.Connection, number: int, tools: ScoringTools, entries: Mapping[int, Entry], tell: Tell, ask: Ask
) -> None:
    """Complete the scores of a run whose entries are all in, before its card is sealed.

    Slow annotators are asked now, and metrics that only a whole corpus has are computed. ``ask`` carries the
    calls of those that ask an endpoint. Raises BudgetReached and AskingStopped, with nothing changed.
    """
    if not (tools.slow or tools.scorer.corpus_metrics):
        return
    run = read_run(connection, number)
    results = list(read_results(connection, number))
    if tools.slow:
        scored = score_outputs(tools, entries, results, tell, ask)
        rows, opening = scored.rows, scored.opening
    else:
        tell("scoring the whole")
        given = [translation(entries[result.position], result) for result in results]
        corpus_opening = {"corpus_values": tools.corpus_values(tools.annotated(given))}
        rows, opening = [], corpus_opening
    with transaction(connection):
        replace_scores(connection, number, rows)
        set_opening(connection, number, run.opening.changed(**opening))


@dataclass(frozen=True, slots=True)
class Scored:
    """What scoring stored outputs gave."""

    scorer: Scorer
    places: Sequence[int]  # Places of the entries in their corpus
    statistics: Sequence[EntryStatistics]  # Of each entry, in the same order
    opening: dict[str, Any]  # What the run's opening is to say: setup, corpus values, floors

    @property
    def rows(self) -> list[tuple[int, bytes, SortValues]]:
        """Place, packed statistics and kept values of each entry."""
        values = self.scorer.entries_values(self.statistics)
        kept = (self.scorer.columns.kept(value.values, value.composite) for value in values)
        packed = map(self.scorer.pack, self.statistics)
        return list(zip(self.places, packed, kept, strict=True))


def score_outputs(
    tools: ScoringTools, entries: Mapping[int, Entry], results: Sequence[Result], tell: Tell, ask: Ask
) -> Scored:
    """Compute the statistics of stored results with all annotations; nothing is written.

    A model that cannot be asked turns its metric off, with the reason; the others are scored all the same.
    """
    tools.listen(tell)
    while True:
        try:
            annotated = [translation(entries[result.position], result) for result in results]
            for annotator in tools.annotators:
                tell(f"asking {annotator.id}")
                annotated = filled(annotator, annotated, ask)
            tell("scoring the whole")
            return Scored(
                tools.scorer,
                [result.position for result in results],
                tools.scorer.statistics(annotated),
                {
                    "scoring": tools.setup.model_dump(mode="json"),
                    "packed": tuple(tools.scorer.packed),
                    "corpus_values": tools.corpus_values(annotated),
                    **floor_fields(_floors(tools, list(entries.values()), tell, ask)),
                },
            )
        except AnnotatorError as failure:
            tools = without(tools, failure.annotator, str(failure))


def translation(entry: Entry, result: Result) -> Translation:
    """Return a stored output as metrics look at it."""
    return Translation(entry, result.output or "", raw=result.raw)


def _floors(tools: ScoringTools, entries: Sequence[Entry], tell: Tell, ask: Ask) -> dict[str, FloorScores]:
    """Work the floors out; on a part of the entries where that would take as long as the run."""
    if not tools.scorer.mixes:
        return {}
    tell("working out the floors")
    step = max(1, len(entries) // SLOW_FLOOR_ENTRIES) if tools.slow else 1
    return floors(
        entries[::step],
        tools.scorer.metrics,
        annotate=partial(tools.annotated_for_floors, ask),
        judges=SLOW_JUDGES if tools.slow else JUDGES,
        weighing=tools.scorer.weighing,
        at_once=tools.slow,
    )


# ---- Tells a run in which nothing worked from one whose outputs are worthless ----
#
# Empty and missing outputs are a method's own fault, and they are scored. A wrong key, an unknown
# model or a server that is not there says nothing about a translation: such a run is never
# sealed, and one of which some entries failed because there is no connection only where a person
# says so.

_OWN_FAULTS = (
    ErrorClass.EMPTY, ErrorClass.MISSING, ErrorClass.NUMBERING, ErrorClass.NO_SOURCE,
    ErrorClass.TRUNCATED, ErrorClass.FILTERED, ErrorClass.METHOD,
)  # fmt: skip
"""Failures that are a result, although a bad one."""


def why_nothing_came(connection: sqlite3.Connection, run: Run) -> str | None:
    """Return why no entry of a run has an output and what to do; None where the failures are a result."""
    for error_class, message in failures(connection, run.id):
        if error_class not in _OWN_FAULTS:
            mend = ""
            if error_class is ErrorClass.AUTH:
                mend = f" Look at the key: `rosetta key set {run.setup.provider or 'NAME'}`."
            elif error_class is ErrorClass.CONNECTION:
                endpoint = told_of(run).endpoint or ""
                here = "://" not in endpoint or is_loopback(endpoint)
                mend = " Is the server running?" if here else " Look at the address and the network."
            return f"No entry has an output: {message}{mend}"
    return None


def unconnected(connection: sqlite3.Connection, run: int) -> int:
    """Count the entries of a run that failed because there is no connection: they say nothing of its method."""
    return failures_by_run(connection, [run]).get(run, {}).get(ErrorClass.CONNECTION, 0)


def unconnected_words(count: int) -> str:
    """Return how many entries failed because there is no connection, and what becomes of them in a sealed run."""
    if count == 1:
        return "1 entry failed because there is no connection; it counts as 0"
    return f"{count:,} entries failed because there is no connection; they count as 0"


def why_not_sealed(connection: sqlite3.Connection, run: Run) -> str | None:
    """Return why a run whose entries are all in waits for a person's word; None where it need not."""
    count = unconnected(connection, run.id)
    if not count:
        return None
    return (
        f"{unconnected_words(count)} if the run is sealed. They can be asked for again, or kept with `--keep-failed`."
    )
