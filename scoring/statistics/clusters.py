"""Significance clusters: a ranked list cut where every run above is better than every run below.

Inside a cluster the order may be chance, so all of it shares one rank (as in the WMT campaigns). All runs see the same
resamples, so one product gives the draws of all and a pair costs a subtraction. Runs of 30, 29 and 25 points of which the
first two beat the third, and neither beats the other, are the clusters {30, 29} and {25} with the ranks 1, 1 and 3; did
the 29 not beat the 25, all three would be one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil, log2
from typing import Final

import numpy as np
import numpy.typing as npt

from scoring.core.inventory import composite_metrics, composites, direction
from scoring.core.metric import FloatArray, Table, oriented
from scoring.statistics.intervals import DRAWS, LEVEL, SEED
from scoring.statistics.significance import (
    COMPOSITE,
    TRIALS,
    Difference,
    compare,
    known_values,
    resamples,
    shared_profile,
)

# ---- The smallest difference between two systems that a set of entries can show, from resampled
# values.
#
# A true difference of 2.80 standard errors is found in four of five comparisons (power 80 %)
# where one in twenty of equal systems is called different (two-sided, 5 %): 1.96 + 0.84, as for
# any test of a normal estimate (Cohen, *Statistical Power Analysis for the Behavioral Sciences*,
# 1988).

POWER: Final = 0.8
ALPHA: Final = 0.05
Z_BOTH: Final = 1.96 + 0.8416
"""Normal quantiles of a two-sided ``ALPHA`` and of ``POWER``."""


def smallest_difference(drawn: FloatArray) -> float | None:
    """Return what the entries show between the middle one of all pairs of systems, on the scale of the values.

    ``drawn`` has the shape (systems, draws): the values of all systems on the same resamples of the entries. Pairs
    that never differ, of two systems with the same outputs, are left out, and so are draws in which a system has no
    value. None where no pair is left. For two systems the middle pair is the only one.
    """
    kept = drawn[:, ~np.isnan(drawn).any(axis=0)]
    if len(kept) < 2 or kept.shape[1] < 2:
        return None
    shared = np.cov(kept)
    own = np.diag(shared)
    variances = (own[:, None] + own - 2 * shared)[np.triu_indices(len(kept), 1)]
    apart = variances[variances > _NOTHING * own.max()]
    if not len(apart):
        return None
    ordered = np.sort(apart)  # NumPy's median loads its masked arrays
    middle = float(ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
    return float(Z_BOTH * middle**0.5)


_NOTHING: Final = 1e-12
"""Share of the largest variance below which the variance of a difference is rounding."""
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
    tables: Sequence[Table], metric: str, *, draws: int = DRAWS, seed: int = SEED, level: float = LEVEL
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
    # No run is called better where the smallest p of a randomisation, 2 / 2^n of n entries
    # apart, misses the level.
    least = ceil(1 - log2(1 - level))
    narrow = tables if metric == COMPOSITE else [table.only({metric}) for table in tables]
    entries = np.array([[hash(row.tobytes()) for row in table.matrix] for table in narrow])
    for run, own in enumerate(entries):
        better[run] &= np.count_nonzero(entries != own, axis=1) >= least
    return Ranking(clusters(points, better), better, smallest_difference(drawn))


def drawn_values(
    tables: Sequence[Table], metric: str, draws: int = DRAWS, seed: int = SEED, resampled: Sequence[Table] | None = None
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
        drawn = []
        for values, own in zip(resamples, known, strict=True):
            used = {id_: value for id_, value in values.items() if id_ in own}
            drawn.append(composites(used, profile, complete=True, weighing=weighing))
        arrays = [{id_: np.array([value]) for id_, value in values.items()} for values in known]
        points = np.concatenate([composites(one, profile, weighing=weighing) for one in arrays])
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


# ---- Whether a method beats the best of several baselines (benchmark-specification §6.3), and by
# how much.
#
# The best baseline is picked from the same entries that the method is then held against. The one
# that came out first need not be the one that is best, and it may be the one that is easiest to
# tell from the method: another one a little behind it, with a wider difference, may well be
# better than the method. So a method beats the best only where it beats every single baseline:
# the p against the maximum is the largest of all p, and the test keeps its level whatever the
# baselines have in common and whichever of them is the best (intersection-union test: Berger,
# "Multiparameter hypothesis testing and acceptance sampling", Technometrics 1982; the least of
# the statistics: Laska & Meisner, Biometrics 1989). White's reality check (2000), which centres
# all systems at one value, answers the opposite question, whether any of many beats one; turned
# round it is right only where all baselines are equal, and far too sure where one stands out
# (``benchmarks/best_baseline.py``).
#
# All runs see one matrix of resamples and one set of coins, those of ``rosetta compare``, whose p
# each pair has. The lower end of the interval of "method minus best" is the least lower end of
# all pairs; the upper end has to hold for all of them at once and is studentised by the largest
# of their deviations, draw by draw (max-T; Hsu, *Multiple Comparisons*, 1996, chapter 4, for the
# interval against the best).


@dataclass(frozen=True, slots=True)
class AgainstBest:
    """A method beside the best of its baselines by one metric, each number on the metric's own scale."""

    metric: str
    picked: int
    """Place of the baseline that came out best on these entries; of equal ones the first."""
    nearest: int
    """Place of the baseline over which the method's lead is least sure: it decides ``p_maximum``."""
    pairs: tuple[Difference, ...]
    """Of each baseline, as first run, and the method, as second: what ``compare`` says of the two."""
    lower: float
    upper: float
    """Interval of the method's value minus that of the truly best baseline, whichever that is."""

    @property
    def difference(self) -> float:
        """The method's value minus that of the picked baseline."""
        return self.pairs[self.picked].difference

    @property
    def p_picked(self) -> float:
        """The p against the picked baseline alone, as if it had been named before; too small where it was not."""
        return p_ahead(self.pairs[self.picked])

    @property
    def p_maximum(self) -> float:
        """The p against the best of all baselines; never 0, and 1 where any of them came out as good."""
        return p_ahead(self.pairs[self.nearest])

    @property
    def beats(self) -> bool:
        """Return whether the method is better than every baseline, and so than the best (§8.2 for each pair)."""
        return all(pair.better == "second" for pair in self.pairs)


def p_ahead(pair: Difference) -> float:
    """Return the p of the second run's lead, the larger one of both tests; 1 where it has no lead."""
    return max(pair.p_bootstrap, pair.p_randomisation) if pair.ahead == "second" else 1.0


def against_best(
    method: Table,
    baselines: Sequence[Table],
    metric: str = COMPOSITE,
    *,
    draws: int = DRAWS,
    trials: int = TRIALS,
    seed: int = SEED,
    level: float = LEVEL,
    resampled: Sequence[Table] | None = None,
) -> AgainstBest:
    """Compare a method with all baselines by one metric or ``composite``; rows are the same entries in one order.

    ``resampled``: the resamples of the method, then of each baseline, where they were made before
    (``significance.resamples`` with the same draws and seed). ValueError where there is no baseline or no entry, where
    one has no value or weighs other inputs, where the entries differ, or where no direction of the metric is better.
    """
    if not baselines or not len(method):
        raise ValueError("a method is held against one baseline or more, on one entry or more")
    chosen = composite_metrics() if metric == COMPOSITE else {metric}
    runs = [table.only(chosen) for table in (method, *baselines)]
    made = resampled or resamples(runs, draws, seed)
    sums = [table.only(chosen) for table in made]
    points, drawn = drawn_values(runs, metric, draws, seed, sums)
    test = partial(compare, trials=trials, seed=seed, level=level)
    pairs = tuple(
        test(run, runs[0], resampled=(its, sums[0]))[metric] for run, its in zip(runs[1:], sums[1:], strict=True)
    )
    sign = -1.0 if direction(metric) == "lower" else 1.0
    lower = min(min(sign * pair.lower, sign * pair.upper) for pair in pairs)
    upper = _upper(points[0] - points[1:], drawn[0] - drawn[1:], level)
    ends = sorted((sign * lower, sign * upper))
    # baselines by how unsure the method's lead over them is; of equal p by how small it is
    threats = [(p_ahead(pair), -sign * pair.difference) for pair in pairs]
    return AgainstBest(
        metric=metric,
        picked=int(points[1:].argmax()),
        nearest=threats.index(max(threats)),
        pairs=pairs,
        lower=ends[0],
        upper=ends[1],
    )


def _upper(leads: FloatArray, drawn: FloatArray, level: float) -> float:
    """Return the upper end of the least lead, shapes (baselines,) and (baselines, draws).

    Each lead gets as many standard errors as keep all leads below their ends in a share of the draws. Leads of 3 and 5
    with errors of 1 and 2 and a factor of 2.2 end at 5.2 and 9.4; the least lead is at most 5.2.
    """
    drawn = drawn[:, ~np.isnan(drawn).any(axis=0)]
    if not drawn.shape[1]:
        return float(leads.min())
    errors = drawn.std(axis=1)
    moving = errors > 0
    if not moving.any():
        return float(leads.min())
    below = (leads[:, None] - drawn)[moving] / errors[moving, None]
    factor = max(0.0, float(np.quantile(below.max(axis=0), (1 + level) / 2)))
    return float((leads + factor * errors).min())


def pooled(repetitions: Sequence[Table]) -> Table:
    """Return the repetitions of one set-up as one table: each entry has the mean of their statistics.

    Rows are the same entries in one order. The corpus values are those of all outputs together, as no value depends
    on the scale of its sums; a mean, so that a shuffle with a run of fewer repetitions weighs both alike. A resample
    of the entries takes all repetitions of an entry with it. ValueError where the tables do not fit together.
    """
    first = repetitions[0]
    shapes = {table.matrix.shape for table in repetitions}
    if len(shapes) > 1 or any(table.weighing != first.weighing for table in repetitions):
        raise ValueError("repetitions have the same entries, metrics and weights")
    matrix = np.mean([table.matrix for table in repetitions], axis=0)
    present = np.max([table.present for table in repetitions], axis=0)
    return Table(first.metrics, matrix, present, first.weighing)
