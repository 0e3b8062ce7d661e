"""A method of the store beside the best of any number of baselines (benchmark-specification §6.3).

``rosetta compare`` puts two to six runs side by side; this asks one question of them all: does the method beat the
best? The repetitions of a set-up count together.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.compare.comparing import laid_out, refusals
from harness.compare.pairs import PairSide, shared_metrics
from harness.compare.rows import OrderedRun, RowReader
from harness.core.failures import UsageError
from harness.store.runs import Run, find_run
from scoring.core.table import Table
from scoring.statistics import best_baseline, repetitions
from scoring.statistics.intervals import DRAWS, LEVEL, SEED
from scoring.statistics.significance import COMPOSITE, TRIALS


@dataclass(frozen=True)
class RepeatedRuns:
    """The runs of one set-up that were held against others; one, or several repetitions."""

    runs: tuple[Run, ...]
    value: float
    """Of all their outputs together, on the metric's own scale."""
    repeated: repetitions.Repetitions | None
    """How much of the value is the choice of entries and how much the repetition; None of a single run."""
    unparted: str
    """Why several repetitions could not be parted so; empty where they were."""


@dataclass(frozen=True)
class MethodAgainstBest:
    """What came of a method held against its baselines on the entries that all of them have."""

    entries: int
    method: RepeatedRuns
    baselines: tuple[RepeatedRuns, ...]
    """In the order in which they were named, those without a run that compares left out."""
    refused: Mapping[str, str]
    """Id of a run → why it is not among them."""
    found: best_baseline.AgainstBest
    """Its places are those of ``baselines``."""
    inside: bool
    """Whether secret entries are among those compared, so that no number leaves this computer."""

    @property
    def best(self) -> RepeatedRuns:
        """The baseline that came out best."""
        return self.baselines[self.found.picked]

    @property
    def nearest(self) -> RepeatedRuns:
        """The baseline over which the method's lead is least sure."""
        return self.baselines[self.found.nearest]


def method_against_best(
    connection: sqlite3.Connection,
    method: Sequence[str],
    baselines: Sequence[Sequence[str]],
    metric: str = COMPOSITE,
    *,
    draws: int = DRAWS,
    trials: int = TRIALS,
    seed: int = SEED,
    level: float = LEVEL,
) -> MethodAgainstBest:
    """Hold a set-up against others, each given by the ids of the runs that are its repetitions.

    Raises UsageError for runs that there are not, and where the method's runs do not compare or no baseline is left.
    """
    reader = RowReader(connection)
    read = [
        [reader.read(find_run(connection, name)) for name in names]
        for names in (method, *baselines)
    ]
    sides, refused = _comparable(read, metric)
    chosen = [[sides[s.run.run_id] for s in group if s.run.run_id in sides] for group in read]
    if len(chosen[0]) < len(read[0]) or not any(chosen[1:]):
        reasons = [f"run {run_id[:8]}: {why}" for run_id, why in refused.items()]
        raise UsageError("\n".join(["The method cannot be held against baselines.", *reasons]))
    groups = [group for group in chosen if group]
    try:
        tables = [_pooled(group) for group in groups]
        found = best_baseline.against_best(
            tables[0], tables[1:], metric, draws=draws, trials=trials, seed=seed, level=level
        )
    except ValueError as error:
        raise UsageError(f"The method cannot be held against baselines: {error}.") from error
    values = (found.pairs[0].second, *(pair.first for pair in found.pairs))
    told = [_told(group, value, metric) for group, value in zip(groups, values, strict=True)]
    return MethodAgainstBest(
        entries=len(tables[0]),
        method=told[0],
        baselines=tuple(told[1:]),
        refused=refused,
        found=found,
        inside=any(not s.rows.run.imported and s.rows.secret for group in groups for s in group),
    )


def _comparable(
    read: Sequence[Sequence[OrderedRun]], metric: str
) -> tuple[dict[str, PairSide], dict[str, str]]:
    """Return the runs that compare with the method's first, by id, and why the others do not."""
    runs = [run for group in read for run in group]
    if twice := [r.run.run_id for r in runs if sum(o.run.id == r.run.id for o in runs) > 1]:
        raise UsageError(f"Run {twice[0][:8]} is named twice. Name each run once.")
    open_ = {run.run.run_id: "it is not complete yet" for run in runs if not run.sealed}
    whole = [run for run in runs if run.sealed]
    if not whole or whole[0] is not runs[0]:
        return {}, open_
    refused, ids = refusals(whole, whole[0])
    kept = [run for run in whole if run.run.run_id not in refused]
    sides, damaged = laid_out(kept, ids, frozenset({metric}))
    apart = {
        side.rows.run.run_id: why[metric]
        for side in sides
        if metric in (why := shared_metrics(sides[0], side, frozenset({metric}))[1])
    }
    gone = {**open_, **refused, **damaged, **apart}
    return {s.rows.run.run_id: s for s in sides if s.rows.run.run_id not in gone}, gone


def _pooled(group: Sequence[PairSide]) -> Table:
    return best_baseline.pooled([side.table for side in group])


def _told(group: Sequence[PairSide], value: float, metric: str) -> RepeatedRuns:
    runs = tuple(side.rows.run for side in group)
    parted, why = None, ""
    if len(group) > 1:
        try:
            parted = repetitions.repetitions([side.table for side in group], metric)
        except ValueError as error:
            why = str(error)
    return RepeatedRuns(runs, value, parted, why)
