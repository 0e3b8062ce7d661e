"""Comparing runs of the store: which of them compare, and what the tests say of every pair.

Which runs do not compare with others, and why not.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import fsum
from statistics import median
from typing import TYPE_CHECKING

from corpora.model.entry import EntryId
from corpora.text.messages import counted
from harness.compare import LEAST_RUNS, MOST_RUNS
from harness.compare.comparison import ComparedEntries, Comparison
from harness.compare.pairs import ComparedRun, Pair, PairSide, repeats, running_differences, shared_metrics
from harness.compare.rows import CorpusRow, OrderedRun, RowReader
from harness.core.failures import UsageError
from harness.store.runs import Run, find_run, under_way
from scoring.core.inventory import composite, composite_metrics, in_order, metric_named, row_of, unknown_metric
from scoring.statistics.intervals import DRAWS, LEVEL, SEED, intervals_of
from scoring.statistics.repetitions import verdict
from scoring.statistics.significance import COMPOSITE, TRIALS, compare, holm, known_values, own_values, resamples

if TYPE_CHECKING:
    from scoring.core.metric import Table


_TEXTS = slice(CorpusRow._fields.index("source"), CorpusRow._fields.index("reference") + 1)
"""Where an entry has the numbers of its texts."""


def refusals(read: Sequence[OrderedRun], first: OrderedRun) -> tuple[dict[str, str], tuple[EntryId, ...]]:
    """Find the runs that do not compare with the first usable one, and the entries that all others have."""
    refused: dict[str, str] = {}
    common = [row.entry.id for row in first.rows]
    for side in read:
        why = _why_refused(side, first, common)
        if why is None:
            there = side.by_id
            common = [id_ for id_ in common if id_ in there]
        else:
            refused[side.run.run_id] = why
    return refused, tuple(common)


def _why_refused(side: OrderedRun, first: OrderedRun, common: Sequence[EntryId]) -> str | None:
    if not side.rows:
        withheld = (
            f"its card came without the texts of its {side.withheld:,} secret entries, so their scores "
            "cannot be compared here; compare where the run was made"
        )
        return withheld if side.withheld else "none of its entries is done yet"
    if side.sha256 != first.sha256:
        return (
            f"its corpus is another: {side.run.dataset_id} (sha256 {side.sha256[:12]}), not "
            f"{first.run.dataset_id} (sha256 {first.sha256[:12]}) as of run {first.run.run_id[:8]}"
        )
    by_id = side.by_id
    if len(by_id) < len(side.rows):
        return "several of its entries have the same id, so they cannot be told from each other"
    both = [id_ for id_ in common if id_ in by_id]
    if not both:
        return "it has no entry in common with the runs before it"
    texts = first.by_id
    if side is not first and any(_differ(by_id[id_].entry, texts[id_].entry) for id_ in both):
        return (
            f"its entries have other sources or references than those of run {first.run.run_id[:8]}, "
            "although the file is the same: it was read in another form"
        )
    return None


def _differ(one: CorpusRow, other: CorpusRow) -> bool:
    """Return whether source or reference are known to differ, by their numbers; 0 is one that is not known."""
    if one[_TEXTS] == other[_TEXTS]:
        return False
    both = ((one.source, other.source), (one.reference, other.reference))
    return any(here != there and 0 not in (here, there) for here, there in both)


LETTERS = "ABCDEF"


def compare_runs(
    connection: sqlite3.Connection,
    run_ids: Sequence[str],
    *,
    metrics: Sequence[str] | None = None,
    baseline: str | None = None,
    draws: int = DRAWS,
    trials: int = TRIALS,
    seed: int = SEED,
    earlier: Comparison | None = None,
) -> Comparison:
    """Compare two to six runs, named by id, its beginning, or ``last``, on the entries that all of them have.

    With a ``baseline`` only pairs with that run are compared. Who looks again while a run continues gives what was
    found ``earlier``: then only what is new is read. Raises UsageError for runs and metrics that there are not;
    runs that do not compare are in ``refused``.
    """
    for id_ in metrics or ():
        if id_ != COMPOSITE and row_of(id_) is None:
            words = unknown_metric(id_)
            raise UsageError(f"{words[:1].upper()}{words[1:]}.")
    asked = frozenset(metrics or ()) or None
    read, base = _read(connection, run_ids, baseline, () if earlier is None else earlier.sides)
    first = next((side for side in [*read[base:], *read[:base]] if side.rows), read[base])
    refused, ids = refusals(read, first)
    kept = [side for side in read if side.run.run_id not in refused]
    sides, damaged = laid_out(kept, ids, asked)
    drawn = resamples([side.table for side in sides], draws, seed) if sides else ()
    tests = _Tests(asked, trials, seed)
    runs = tuple(_compared(letter, side, own, tests) for letter, side, own in zip(LETTERS, sides, drawn, strict=False))
    named = None if baseline is None else read[base].run.run_id
    based = named if named in {run.run_id for run in runs} else None
    pairs = _together(_pairs(runs, sides, drawn, based, tests))
    metric_ids = {id_ for pair in pairs for id_ in pair.by_metric}
    return Comparison(
        runs=runs,
        refused=refused | damaged,
        pairs=pairs,
        metrics=tuple(in_order(metric_ids)),
        entries=ComparedEntries.of(ids, sides, metric_ids),
        baseline=named,
        draws=draws,
        trials=trials,
        seed=seed,
        level=LEVEL,
        sides=tuple(sides),
    )


def require_named_once(found: Sequence[Run]) -> None:
    """Raise UsageError where a run stands twice among these."""
    numbers = [run.id for run in found]
    if twice := [run.run_id[:8] for run in found if numbers.count(run.id) > 1]:
        raise UsageError(f"Run {twice[0]} is named twice. Name each run once.")


def require_two(found: Comparison) -> None:
    """Raise UsageError where nothing compares, with all the reasons."""
    reasons = [f"run {run_id[:8]}: {why}" for run_id, why in found.refused.items()]
    if not any(pair.by_metric for pair in found.pairs):
        reasons += [
            f"runs {pair.first.run_id[:8]} and {pair.second.run_id[:8]}, {metric}: {why}"
            for pair in found.pairs
            for metric, why in pair.left_out.items()
        ]
        mend = "`rosetta leaderboard` lists the runs of each corpus: those of one list compare."
        raise UsageError("\n".join(["These runs do not compare.", *reasons, mend]))


def metric_asked(words: str, option: str) -> str:
    """Return the id of the metric that someone asked for by any of its names; UsageError with the nearest."""
    metric_id = metric_named(words)
    if metric_id is None:
        raise UsageError(f"{option}: {unknown_metric(words)}")
    return metric_id


def _read(
    connection: sqlite3.Connection, names: Sequence[str], baseline: str | None, earlier: Sequence[PairSide]
) -> tuple[list[OrderedRun], int]:
    """Read the named runs, and tell which is the one that others are held against."""
    runs = [find_run(connection, name) for name in names]
    if baseline is not None:
        base = find_run(connection, baseline)
        if base.id not in {run.id for run in runs}:
            runs.insert(0, base)
    require_named_once(runs)
    if not LEAST_RUNS <= len(runs) <= MOST_RUNS:
        named = counted(len(runs), "run is named", "runs are named")
        raise UsageError(f"{named}; from two to six are compared.")
    place = 0 if baseline is None else [run.id for run in runs].index(base.id)
    before = {side.rows.run.id: side.rows for side in earlier}
    reader = RowReader(connection)
    return [reader.read(run, before.get(run.id)) for run in runs], place


def laid_out(
    kept: Sequence[OrderedRun], ids: Sequence[EntryId], asked: frozenset[str] | None
) -> tuple[list[PairSide], dict[str, str]]:
    """Collect the statistics of the runs on their common entries, by the requested metrics; None: all.

    Return also why runs are not among them, by id.
    """
    sides, damaged = [], {}
    for rows in kept:
        by_id = rows.by_id
        used = tuple(by_id[id_] for id_ in ids)
        try:
            table = rows.scorer.unpack_table([row.statistics for row in used])
        except ValueError as error:
            damaged[rows.run.run_id] = f"its stored statistics cannot be used: {error}"
            continue
        if asked is not None:
            table = table.only(asked | (composite_metrics() if COMPOSITE in asked else set()))
        sides.append(PairSide(rows, used, table, known_values(table)))
    return sides, damaged


def _compared(letter: str, side: PairSide, drawn: Table, tests: _Tests) -> ComparedRun:
    run = side.rows.run
    values: dict[str, float | None] = dict(side.values)
    if tests.asked is None or COMPOSITE in tests.asked:
        values[COMPOSITE] = composite(values, weighing=side.table.weighing).value
    costs = [row.cost_usd for row in side.used]
    known = [cost for cost in costs if cost is not None]
    seconds = [row.latency_seconds for row in side.used if row.latency_seconds is not None and not row.cached]
    return ComparedRun(
        letter=letter,
        run_id=run.run_id,
        number=run.id,
        setup=run.setup,
        dataset_id=run.dataset_id,
        language_pair=run.language_pair,
        created=run.created,
        complete=side.rows.sealed,
        under_way=under_way(run),
        imported=run.imported,
        unverified=side.rows.unverified,
        total=len(run.positions),
        done=len(side.rows.rows),
        values=values,
        intervals=intervals_of(side.table, drawn, seed=tests.seed, level=LEVEL),
        failed=sum(row.failed for row in side.used),
        cached=sum(row.cached for row in side.used),
        cost_usd=fsum(known) if len(known) == len(costs) else None,
        known_cost_usd=fsum(known),
        median_seconds=median(seconds) if seconds else None,
        card=side.rows.card,
        certificates=side.rows.certificates,
        stated=side.rows.stated,
        inside=not run.imported and side.rows.secret,
        file="" if run.outputs is None else run.outputs.name,
    )


@dataclass(frozen=True, slots=True)
class _Tests:
    """How pairs are tested."""

    asked: frozenset[str] | None
    trials: int
    seed: int


def _pairs(
    runs: Sequence[ComparedRun], sides: Sequence[PairSide], drawn: Sequence[Table], baseline: str | None, tests: _Tests
) -> list[Pair]:
    """Compare every pair, or the baseline with every other run."""
    places = list(combinations(range(len(runs)), 2))
    if baseline is not None:
        base = [run.run_id for run in runs].index(baseline)
        places = [(base, place) for place in range(len(runs)) if place != base]
    return [
        _pair((runs[one], runs[other]), (sides[one], sides[other]), (drawn[one], drawn[other]), tests, len(places))
        for one, other in places
    ]


def _pair(
    runs: tuple[ComparedRun, ComparedRun],
    sides: tuple[PairSide, PairSide],
    drawn: tuple[Table, Table],
    tests: _Tests,
    pairs: int,
) -> Pair:
    first, second = sides
    shared, left_out = shared_metrics(first, second, tests.asked)
    weighed = first.inputs[1] if COMPOSITE in shared else frozenset()
    used = weighed | set(shared)
    differences = compare(
        first.table.only(used),
        second.table.only(used),
        trials=tests.trials,
        seed=tests.seed,
        level=LEVEL,
        resampled=(drawn[0].only(used), drawn[1].only(used)),
    )
    by_metric = {id_: differences[id_] for id_ in shared if id_ in differences}
    running, reproduction = {}, None
    if not (first.rows.sealed and second.rows.sealed):
        # Of 6 pairs at level 0.95 each is held at 1 - 0.05 / 6 = 0.9917, so that all six together
        # are wrong no more often than one would be.
        one, other = own_values(first.table), own_values(second.table)
        values = {id_: (one[id_], other[id_]) for id_ in by_metric if id_ in one}
        running = running_differences(values, list(by_metric), 1 - (1 - LEVEL) / pairs)
    if repeats(first.rows, second.rows):
        reproduction = verdict(
            {id_: difference.first for id_, difference in by_metric.items()},
            {id_: difference.second for id_, difference in by_metric.items()},
        )
    return Pair(
        *runs,
        by_metric=by_metric,
        left_out=left_out,
        used=frozenset(used),
        pairs=pairs,
        running=running,
        reproduction=reproduction,
    )


def _together(pairs: Sequence[Pair]) -> tuple[Pair, ...]:
    """Correct the p-values of each metric for the number of pairs (Holm)."""
    adjusted: list[dict[str, float]] = [{} for _ in pairs]
    for id_ in {id_ for pair in pairs for id_ in pair.by_metric}:
        places = [place for place, pair in enumerate(pairs) if id_ in pair.by_metric]
        p_values = holm([pairs[place].by_metric[id_].p_randomisation for place in places])
        for place, p in zip(places, p_values, strict=True):
            adjusted[place][id_] = p
    return tuple(replace(pair, p_adjusted=own) for pair, own in zip(pairs, adjusted, strict=True))
