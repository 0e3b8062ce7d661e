"""Significance clusters: a ranked list cut where every run above is better than every run below.

Inside a cluster the order may be chance, so all of it shares one rank (as in the WMT campaigns). All runs see
the same resamples, so one product gives the draws of all and a pair costs a subtraction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log2

import numpy as np
import numpy.typing as npt

from scoring.core.composite import composites
from scoring.core.metric import FloatArray, oriented
from scoring.core.metric_rows import direction
from scoring.core.table import Table
from scoring.statistics.intervals import DRAWS, LEVEL, SEED
from scoring.statistics.significance import (
    COMPOSITE,
    known_values,
    resamples,
    shared_profile,
)
from scoring.statistics.smallest import smallest_difference

BoolArray = npt.NDArray[np.bool_]

_TOGETHER = 24
"""Runs resampled by one product, which bounds its width."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Runs by one metric, as places in the sequence that was given."""

    clusters: tuple[tuple[int, ...], ...]
    """Best first, the best run of each first."""
    better: BoolArray
    """Shape (runs, runs): whether the run of the row is significantly better than that of the column."""
    smallest: float | None = None
    """The smallest difference that these entries show between two such runs; None of fewer than two."""

    def ranks(self) -> dict[int, int]:
        """Return the rank of each run's cluster, from 1; the next cluster's counts all runs above it."""
        ranks, rank = {}, 1
        for cluster in self.clusters:
            ranks.update(dict.fromkeys(cluster, rank))
            rank += len(cluster)
        return ranks


def rank(
    tables: Sequence[Table],
    metric: str,
    *,
    draws: int = DRAWS,
    seed: int = SEED,
    level: float = LEVEL,
) -> Ranking:
    """Rank runs on the same entries by one metric or ``composite``, all pairs by the paired bootstrap.

    A pair differs by the rule of §8.2 alone; no p of 1,000 draws would survive Holm over thousands of pairs,
    so a cut says less than a comparison of few runs. No pair differs that has so few entries apart that no test of
    them could reach the level. ValueError where a run has no value or weighs other
    inputs, where the entries differ, or where no direction of the metric is better.
    """
    if not tables:
        return Ranking((), np.zeros((0, 0), dtype=bool))
    points, drawn = drawn_values(tables, metric, draws, seed)
    better = pairwise_better(points, drawn, level)
    _keep_tellable(better, tables, metric, level)
    return Ranking(clusters(points, better), better, smallest_difference(drawn))


def _keep_tellable(better: BoolArray, tables: Sequence[Table], metric: str, level: float) -> None:
    """Revoke which run is better where the smallest p of a randomisation, 2 / 2^n of n entries apart, misses the level."""
    least = ceil(1 - log2(1 - level))
    narrow = tables if metric == COMPOSITE else [table.only({metric}) for table in tables]
    entries = np.array([[hash(row.tobytes()) for row in table.matrix] for table in narrow])
    for run, own in enumerate(entries):
        better[run] &= np.count_nonzero(entries != own, axis=1) >= least


def drawn_values(
    tables: Sequence[Table],
    metric: str,
    draws: int = DRAWS,
    seed: int = SEED,
    resampled: Sequence[Table] | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return each run's value, and its values on the shared resamples, oriented so that more is better.

    Shapes (runs,) and (runs, draws). ``resampled``: the resamples of the runs, where they were made before.
    ValueError as of ``rank``.
    """
    if direction(metric) == "neither":
        raise ValueError(f"no run is better by {metric}")
    if len({len(table) for table in tables}) > 1:
        raise ValueError("runs are ranked on the same entries")
    known = [known_values(table) for table in tables]
    if metric != COMPOSITE:
        if any(metric not in values for values in known):
            raise ValueError(f"a run has no value of {metric}")
        narrow = [table.only({metric}) for table in tables]
        made = None if resampled is None else [table.only({metric}) for table in resampled]
        drawn = [values[metric] for values in _resampled(narrow, draws, seed, made)]
        points = np.array([values[metric] for values in known])
    else:
        profile, weighing = _one_profile(tables), tables[0].weighing
        resamples = _resampled(tables, draws, seed, resampled)
        drawn = [
            composites(_only(values, own), profile, complete=True, weighing=weighing)
            for values, own in zip(resamples, known, strict=True)
        ]
        points = np.concatenate(
            [composites(_arrays(values), profile, weighing=weighing) for values in known]
        )
    if np.isnan(points).any():
        raise ValueError(f"a run has no value of {metric}")
    way = direction(metric)
    return oriented(points, way), oriented(np.stack(drawn), way)


def _one_profile(tables: Sequence[Table]) -> str:
    profiles = {shared_profile(tables[0], table) for table in tables}
    profile = profiles.pop()
    if profiles or profile is None:
        raise ValueError("the composites of these runs do not weigh the same inputs")
    return profile


def _only(values: Mapping[str, FloatArray], known: Mapping[str, float]) -> dict[str, FloatArray]:
    return {id_: value for id_, value in values.items() if id_ in known}


def _arrays(values: Mapping[str, float]) -> dict[str, FloatArray]:
    return {id_: np.array([value]) for id_, value in values.items()}


def _resampled(
    tables: Sequence[Table], draws: int, seed: int, made: Sequence[Table] | None
) -> list[dict[str, FloatArray]]:
    """Return every run's values on the same resamples, several runs by one product."""
    if made is not None:
        return [drawn.row_values for drawn in made]
    return [
        drawn.row_values
        for start in range(0, len(tables), _TOGETHER)
        for drawn in resamples(tables[start : start + _TOGETHER], draws, seed)
    ]


def pairwise_better(points: FloatArray, drawn: FloatArray, level: float = LEVEL) -> BoolArray:
    """Return for all pairs which run is significantly better (§8.2): shape (runs, runs).

    ``points`` has the shape (runs,), ``drawn`` (runs, draws), both oriented so that more is better. A draw in
    which one of the two has no value is left out.
    """
    runs = len(points)
    better = np.zeros((runs, runs), dtype=bool)
    for run in range(runs - 1):
        others = slice(run + 1, runs)
        apart = _apart(points[others] - points[run], drawn[others] - drawn[run], level)
        better[others, run] = apart > 0
        better[run, others] = apart < 0
    return better


def _apart(differences: FloatArray, drawn: FloatArray, level: float) -> FloatArray:
    """Return the sign of each difference that is significant, 0 for the others."""
    tail = 100 * (1 - level) / 2
    if np.isnan(drawn).any():
        drawn = np.where(np.isnan(drawn).all(axis=1, keepdims=True), 0.0, drawn)
        lower, upper = np.nanpercentile(drawn, [tail, 100 - tail], axis=1)
    else:
        lower, upper = np.percentile(drawn, [tail, 100 - tail], axis=1)
    sizes = np.abs(drawn)
    moved = sizes - np.nanmean(sizes, axis=1, keepdims=True)
    as_large = np.count_nonzero(moved >= np.abs(differences)[:, None], axis=1)
    p = (as_large + 1) / (np.count_nonzero(~np.isnan(drawn), axis=1) + 1)
    away = ((lower > 0) & (differences > 0)) | ((upper < 0) & (differences < 0))
    return np.where(away & (p < round(1 - level, 12)), np.sign(differences), 0.0)


def clusters(points: FloatArray, better: BoolArray) -> tuple[tuple[int, ...], ...]:
    """Rank by value, and cut wherever every run above is better than every run below."""
    order = np.argsort(-points, kind="stable")
    ranked = better[np.ix_(order, order)]
    clusters: list[tuple[int, ...]] = []
    start = 0
    for cut in range(1, len(order) + 1):
        if ranked[:cut, cut:].all():  # nothing is left below the last
            clusters.append(tuple(int(run) for run in order[start:cut]))
            start = cut
    return tuple(clusters)
