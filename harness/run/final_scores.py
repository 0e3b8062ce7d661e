"""Scoring stored outputs as a whole: at the end of a run, and again with other metrics.

What a run is worth without the entries that were asked for again is scored here too, so that a reader sees what
they did.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from corpora.files.packed_list import PlaceMap, in_blocks, packed
from corpora.files.places import without_gaps
from corpora.model.entry import Entry
from harness.annotators.annotator import Ask
from harness.card.material import fingerprint
from harness.card.reading import block, number
from harness.card.rows import BLOCK
from harness.core.failures import ErrorClass, UsageError
from harness.core.storage import usage_errors
from harness.core.version import VERSION
from harness.endpoint.endpoints import KeySource, find_key, is_loopback
from harness.method.method import Method, Result
from harness.method.options import MethodOptions, refuse_written_keys
from harness.privacy import ClearedMethod, clear
from harness.run.beginning import begin_like, begun_with, check_budget, coaching_of, new_identity
from harness.run.scoring import ALONE, ScoringPool
from harness.setup.plan import OF_A_RETRY, Plan, RunOptions, plan_of, told_of
from harness.setup.scoring_tools import (
    AnnotatorError,
    ScoringTools,
    filled,
    floor_fields,
    stored_scorer,
    without,
)
from harness.store.annotations import answered, read_annotations
from harness.store.corpora.entries import corpus_sha256, read_dataset, read_entries, shown_entries
from harness.store.live_runs import copy_stretches
from harness.store.mixed_setups import parts_of, tried_before, whole_setup, with_part
from harness.store.results import copy_done, failed_attempts, failures, read_results, read_statistics, replace_scores
from harness.store.run_list import failures_by_run
from harness.store.runs import Run, find_by_id, read_card, read_run
from harness.store.sqlite.openings import Origin, set_opening
from harness.store.sqlite.trouble import transaction
from scoring.card.claim import FloorScores
from scoring.card.constant import STEP
from scoring.card.floors import JUDGES, FloorWork
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
    stored = dict(read_statistics(connection, run.id))
    entries = shown_entries(connection, run.corpus, run.positions)
    scorer = stored_scorer(run, "und", entries.in_order)
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
    connection: sqlite3.Connection, number: int, tools: ScoringTools, entries: PlaceMap[Entry], tell: Tell, ask: Ask
) -> None:
    """Complete the scores of a run whose entries are all in, before its card is sealed.

    Slow annotators are asked now, and metrics that only a whole corpus has are computed. ``ask`` carries the
    calls of those that ask an endpoint. Raises BudgetReached and AskingStopped, with nothing changed.
    """
    if not (tools.slow or tools.scorer.corpus_metrics):
        return
    run = read_run(connection, number)
    rows: Iterable[tuple[int, bytes, SortValues]] = ()
    if tools.slow:
        scored = score_outputs(tools, entries, packed(read_results(connection, number)), tell, ask)
        rows, opening = packed(scored.rows), scored.opening  # before the store is held
    else:
        tell("scoring the whole")
        results = read_results(connection, number)
        given = packed(translation(entries[result.position], result) for result in results)
        opening = {"corpus_values": tools.corpus_values(tools.annotated_for_corpus(given))}
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
    def rows(self) -> Iterator[tuple[int, bytes, SortValues]]:
        """Place, packed statistics and kept values of each entry."""
        places = iter(self.places)
        for statistics in in_blocks(self.statistics, BLOCK):
            values = self.scorer.entries_values(statistics)
            for place, taken, value in zip(islice(places, len(statistics)), statistics, values, strict=True):
                yield place, self.scorer.pack(taken), self.scorer.columns.kept(value.values, value.composite)


def score_outputs(
    tools: ScoringTools,
    entries: PlaceMap[Entry],
    results: Sequence[Result],
    tell: Tell,
    ask: Ask,
    pool: ScoringPool = ALONE,
) -> Scored:
    """Compute the statistics of stored results with all annotations; nothing is written.

    ``pool`` shares the work, where no annotator is slow.
    A model that cannot be asked turns its metric off, with the reason; the others are scored all the same.
    """
    tools.listen(tell)
    places = without_gaps([result.position for result in results])
    while True:
        try:
            annotated: Sequence[Translation] = packed(
                translation(entries[result.position], result) for result in results
            )
            statistics: Sequence[EntryStatistics]
            if tools.slow:
                for annotator in tools.annotators:
                    tell(f"asking {annotator.id}")
                    annotated = filled(annotator, annotated, ask)
                statistics = tools.scorer.statistics(annotated)
            else:
                blocks = zip(in_blocks(annotated, BLOCK), in_blocks(places, BLOCK), strict=True)
                statistics = packed(taken for block in blocks for taken in pool.scored_rows(tools, *block)[1])
                annotated = tools.annotated_for_corpus(annotated)
            tell("scoring the whole")
            return Scored(
                tools.scorer,
                places,
                statistics,
                {
                    "scoring": tools.setup.model_dump(mode="json"),
                    "packed": tuple(tools.scorer.packed),
                    "corpus_values": tools.corpus_values(annotated),
                    **floor_fields(_floors(tools, entries.in_order, tell, ask, pool)),
                },
            )
        except AnnotatorError as failure:
            tools = without(tools, failure.annotator, str(failure))


def translation(entry: Entry, result: Result) -> Translation:
    """Return a stored output as metrics look at it."""
    return Translation(entry, result.output or "", raw=result.raw)


def _floors(
    tools: ScoringTools, entries: Sequence[Entry], tell: Tell, ask: Ask, pool: ScoringPool
) -> dict[str, FloorScores]:
    """Work the floors out; on a part of the entries where that would take as long as the run."""
    if not tools.scorer.mixes:
        return {}
    tell("working out the floors")
    step = max(1, len(entries) // SLOW_FLOOR_ENTRIES) if tools.slow else 1
    some = entries if step == 1 else entries[::step]
    return FloorWork(
        some,
        tools.scorer.metrics,
        annotate=partial(tools.annotated_for_floors, ask),
        judges=SLOW_JUDGES if tools.slow else JUDGES,
        weighing=tools.scorer.weighing,
        step=max(1, len(some)) if tools.slow else STEP,
        share=pool.share,
    ).finish()


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


# ---- Asking again for the failed entries of a complete run, with the same settings or others ----
# A sealed card never changes (DESIGN C4): the result is its own run that names the one it goes back to, has its good
# rows, and says of which entries it asked again and how often each was tried in all. A run that was cut is not
# retried but resumed.

CHANGEABLE = (set(MethodOptions.model_fields) - {"source_language", "target_language", "task", "file_lines"}) | set(
    RunOptions.model_fields
)
"""What may be told otherwise than to the run before, by name of the field."""


@dataclass(frozen=True, slots=True)
class Retry:
    """A new run that is stored and ready to go: hand all of it to ``harness.run.running.execute_run``."""

    number: int
    run_id: str
    cleared: ClearedMethod
    tools: ScoringTools
    asked: int  # Entries that it asks for
    kept: int  # Entries whose rows are those of the run before


def retry(
    connection: sqlite3.Connection, run: Run, changes: Mapping[str, Any] | None = None, find_key: KeySource = find_key
) -> Retry:
    """Store a new run with a run's good rows, which asks only for the entries that failed.

    ``changes`` are fields of MethodOptions and RunOptions by name; a budget holds for the new calls only.
    Nothing is asked yet. Raises UsageError where the run has nothing to ask again or a change cannot be made,
    HarnessError where it can no longer be scored as it was.
    """
    tried = _failed(connection, run)
    wanted = {**OF_A_RETRY, **(changes or {})}
    plan = changed_plan(plan_of(run), wanted)
    dataset = read_dataset(connection, run.corpus)
    entries = read_entries(connection, run.corpus, dataset=dataset)
    refuse_written_keys(plan.options)
    cleared = clear(dataset, entries.at(run.positions), plan, entries.in_order, find_key)
    method, plan = cleared.method, cleared.plan
    check_budget(method, plan)
    tools = begun_with(connection, run)
    try:
        with transaction(connection):
            read_run(connection, run.id)  # it may have been deleted meanwhile
            number, run_id = _store(connection, run, plan, method, tried)
    except BaseException:
        tools.close()
        raise
    return Retry(number, run_id, cleared, tools, len(tried), len(run.positions) - len(tried))


def _failed(connection: sqlite3.Connection, run: Run) -> dict[int, int]:
    """Return the entries that are to be asked for again, with how often each was tried."""
    name = run.run_id[:8]
    if run.imported:
        raise UsageError(
            f"Run {name} was imported as a card, so its method cannot be asked here. Begin a run of your own."
        )
    if read_card(connection, run.id) is None:
        raise UsageError(f"Run {name} is not complete. `rosetta resume {name} --retry-failed` continues with it.")
    tried = failed_attempts(connection, run.id)
    if not tried:
        rows = read_annotations(connection, run.id)
        hint = f" Judgements failed: `rosetta score --rescore {name}` asks for those again."
        lacking = any(row.position is not None and not answered(row) for row in rows)
        raise UsageError(f"No entry of run {name} failed; there is nothing to ask for again.{hint if lacking else ''}")
    return tried


def changed_plan(plan: Plan, changes: Mapping[str, Any]) -> Plan:
    """Return a plan with some options told otherwise; UsageError names one that cannot be."""
    if stray := sorted(set(changes) - CHANGEABLE):
        raise UsageError(
            f"Options: {stray[0]!r} cannot be changed for a retry. What can: {', '.join(sorted(CHANGEABLE))}."
        )
    with usage_errors("Options"):
        return plan.model_copy(update={"options": _told(plan.options, changes), "run": _told(plan.run, changes)})


def _told(options: Any, changes: Mapping[str, Any]) -> Any:
    fields = type(options).model_fields
    changed_fields = {name: value for name, value in changes.items() if name in fields}
    return type(options).model_validate({**options.model_dump(), **changed_fields})


def _store(
    connection: sqlite3.Connection, run: Run, plan: Plan, method: Method, tried: Mapping[int, int]
) -> tuple[int, str]:
    card = read_card(connection, run.id) or {}
    parts = with_part(parts_of(run), method.setup, tried)
    setup = whole_setup(parts)
    print_ = fingerprint(setup, corpus_sha256(connection, run.corpus), VERSION)
    opening = run.opening.of_entries().changed(
        budget_usd=plan.run.budget_usd,
        terms_from=coaching_of(run),
        asked_with=method.setup,
        parts=tuple(parts) if len(parts) > 1 else (),
        retry_of=Origin(run_id=run.run_id, run_card_hash=card.get("run_card_hash"), tried=tuple(sorted(tried.items()))),
    )
    changed = run._replace(
        **new_identity(),
        setup=setup,
        setup_hash=print_.setup_hash,
        fingerprint_hash=print_.hash,
        plan=plan.model_dump(mode="json"),
        opening=opening,
    )
    number = begin_like(connection, changed)
    copy_stretches(connection, run.id, number, paid=False)
    copy_done(connection, run.id, number)
    return number, changed.run_id
