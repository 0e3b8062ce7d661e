"""A method of the store beside the best of any number of baselines (benchmark-specification §6.3).

``rosetta compare`` puts two to six runs side by side; this asks one question of them all: does the method beat the
best? The repetitions of a set-up count together.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from corpora.model.entry import EntryId
from harness.compare.comparing import laid_out, refusals
from harness.compare.pairs import PairSide, shared_metrics
from harness.compare.rows import OrderedRun, RowReader
from harness.core.failures import UsageError
from harness.store.runs import Run, find_run
from scoring.core.metric import FloatArray, Table
from scoring.statistics import clusters, repetitions
from scoring.statistics.clusters import drawn_values
from scoring.statistics.intervals import DRAWS, LEVEL, SEED
from scoring.statistics.significance import COMPOSITE, TRIALS, resamples


@dataclass(frozen=True)
class RepeatedRuns:
    """The runs of one set-up that were held against others; one, or several repetitions."""

    runs: tuple[Run, ...]
    value: float
    """Of all their outputs together, on the metric's own scale."""
    repeated: repetitions.Repetitions | None
    """How much of the value is the choice of entries and how much the repetition; None of a single run."""
    unparted: str
    """Why several repetitions could not be separated so; empty where they were."""


@dataclass(frozen=True)
class MethodAgainstBest:
    """What came of a method held against its baselines on the entries that all of them have."""

    entries: int
    method: RepeatedRuns
    baselines: tuple[RepeatedRuns, ...]
    """In the order in which they were named, those without a run that compares left out."""
    refused: Mapping[str, str]
    """Id of a run → why it is not among them."""
    found: clusters.AgainstBest
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


class SharedRuns:
    """Runs of which several methods are held against the same baselines: each is read, arranged and resampled once."""

    def __init__(
        self, connection: sqlite3.Connection, metric: str = COMPOSITE, *, draws: int = DRAWS, seed: int = SEED
    ) -> None:
        self._connection = connection
        self._reader = RowReader(connection)
        self._metric = metric
        self._draws = draws
        self._seed = seed
        self._runs: dict[str, OrderedRun] = {}
        self._sides: dict[tuple[str, tuple[EntryId, ...]], PairSide | str] = {}
        """Run and the entries that count → how it is arranged on them, or why it cannot be."""
        self._pooled: dict[tuple[int, ...], tuple[Table, Table]] = {}
        """Repetitions, by the identities of their sides, which are kept → all their outputs together, and the
        resamples of these."""

    def against_best(
        self, method: Sequence[str], baselines: Sequence[Sequence[str]], *, trials: int = TRIALS, level: float = LEVEL
    ) -> MethodAgainstBest:
        """Compare a set-up with others, each given by the ids of the runs that are its repetitions.

        Raises UsageError for runs that there are not, and where the method's runs do not compare or no baseline is left.
        """
        read = [[self._run(name) for name in names] for names in (method, *baselines)]
        sides, refused = self._comparable(read)
        chosen = [[sides[s.run.run_id] for s in group if s.run.run_id in sides] for group in read]
        if len(chosen[0]) < len(read[0]) or not any(chosen[1:]):
            reasons = [f"run {run_id[:8]}: {why}" for run_id, why in refused.items()]
            raise UsageError("\n".join(["The method cannot be held against baselines.", *reasons]))
        groups = [group for group in chosen if group]
        try:
            tables, drawn = zip(*(self._together(group, groups[0][0].inputs[1]) for group in groups), strict=True)
            against_best = clusters.against_best(
                tables[0], tables[1:], self._metric, draws=self._draws, trials=trials, seed=self._seed, level=level,
                resampled=drawn,
            )  # fmt: skip
        except ValueError as error:
            raise UsageError(f"The method cannot be held against baselines: {error}.") from error
        values = (against_best.pairs[0].second, *(pair.first for pair in against_best.pairs))
        method_runs, *baseline_runs = [_told(group, v, self._metric) for group, v in zip(groups, values, strict=True)]
        return MethodAgainstBest(
            entries=len(tables[0]),
            method=method_runs,
            baselines=tuple(baseline_runs),
            refused=refused,
            found=against_best,
            inside=any(not s.rows.run.imported and s.rows.secret for group in groups for s in group),
        )

    def drawn(self, setups: Sequence[Sequence[str]]) -> tuple[list[int], FloatArray, FloatArray]:
        """Return the places of the set-ups that compare with the first, their values, and these on shared resamples.

        Shapes (set-ups,) and (set-ups, draws), oriented so that more is better; repetitions count together. UsageError
        where entries are secret, or fewer than two set-ups compare.
        """
        read = [[self._run(name) for name in names] for names in setups]
        sides, _ = self._comparable(read)
        if any(not s.rows.run.imported and s.rows.secret for s in sides.values()):
            raise UsageError("These runs have secret entries: how they differ is counted and released.")
        groups = [[sides[s.run.run_id] for s in group if s.run.run_id in sides] for group in read]
        places = [place for place, group in enumerate(groups) if group]
        if len(places) < 2:
            raise UsageError("Fewer than two set-ups of the sweep compare.")
        inputs = groups[places[0]][0].inputs[1]
        tables, drawn = zip(*(self._together(groups[place], inputs) for place in places), strict=True)
        try:
            points, values = drawn_values(tables, self._metric, self._draws, self._seed, drawn)
        except ValueError as error:
            raise UsageError(f"The set-ups of the sweep do not compare: {error}.") from error
        return places, points, values

    def _run(self, name: str) -> OrderedRun:
        if name not in self._runs:
            self._runs[name] = self._reader.read(find_run(self._connection, name))
        return self._runs[name]

    def _comparable(self, read: Sequence[Sequence[OrderedRun]]) -> tuple[dict[str, PairSide], dict[str, str]]:
        """Return the runs that compare with the method's first, by id, and why the others do not."""
        runs = [run for group in read for run in group]
        often = Counter(run.run.run_id for run in runs).most_common(1)
        if often and often[0][1] > 1:
            raise UsageError(f"Run {often[0][0][:8]} is named twice. Name each run once.")
        open_ = {run.run.run_id: "it is not complete yet" for run in runs if not run.sealed}
        whole = [run for run in runs if run.sealed]
        if not whole or whole[0] is not runs[0]:
            return {}, open_
        refused, ids = refusals(whole, whole[0])
        kept = [run for run in whole if run.run.run_id not in refused]
        sides, damaged = self._laid_out(kept, ids)
        apart = {
            side.rows.run.run_id: why[self._metric]
            for side in sides
            if self._metric in (why := shared_metrics(sides[0], side, frozenset({self._metric}))[1])
        }
        gone = {**open_, **refused, **damaged, **apart}
        return {s.rows.run.run_id: s for s in sides if s.rows.run.run_id not in gone}, gone

    def _laid_out(self, kept: Sequence[OrderedRun], ids: tuple[EntryId, ...]) -> tuple[list[PairSide], dict[str, str]]:
        """Prepare the runs that are not yet on these entries; see ``comparing.laid_out``."""
        new = [run for run in kept if (run.run.run_id, ids) not in self._sides]
        sides, damaged = laid_out(new, ids, frozenset({self._metric}))
        self._sides.update({(side.rows.run.run_id, ids): side for side in sides})
        self._sides.update({(run_id, ids): why for run_id, why in damaged.items()})
        sides_by_run = {run.run.run_id: self._sides[run.run.run_id, ids] for run in kept}
        return (
            [side for side in sides_by_run.values() if isinstance(side, PairSide)],
            {run_id: side for run_id, side in sides_by_run.items() if isinstance(side, str)},
        )

    def _together(self, group: Sequence[PairSide], inputs: frozenset[str]) -> tuple[Table, Table]:
        """Return all repetitions of a set-up as one table, and its resamples; of a composite its ``inputs`` alone.

        All groups have these: one whose composite weighs others was refused before. Metrics beside them may differ.
        """
        key = tuple(map(id, group))
        if key not in self._pooled:
            table = clusters.pooled([side.table for side in group])
            (drawn,) = resamples([table], self._draws, self._seed)
            self._pooled[key] = table, drawn
        table, drawn = self._pooled[key]
        if self._metric != COMPOSITE:
            return table, drawn
        return table.only(inputs), drawn.only(inputs)


def _told(group: Sequence[PairSide], value: float, metric: str) -> RepeatedRuns:
    runs = tuple(side.rows.run for side in group)
    parted, why = None, ""
    if len(group) > 1:
        try:
            parted = repetitions.repetitions([side.table for side in group], metric)
        except ValueError as error:
            why = str(error)
    return RepeatedRuns(runs, value, parted, why)
