"""Whether a method beats the best of several baselines (benchmark-specification §6.3), and by how much.

The best baseline is picked from the same entries that the method is then held against. The one that came out first
need not be the one that is best, and it may be the one that is easiest to tell from the method: another one a little
behind it, with a wider difference, may well be better than the method. So a method beats the best only where it beats
every single baseline: the p against the maximum is the largest of all p, and the test keeps its level whatever the
baselines have in common and whichever of them is the best (intersection-union test: Berger, "Multiparameter hypothesis
testing and acceptance sampling", Technometrics 1982; the least of the statistics: Laska & Meisner, Biometrics 1989).
White's reality check (2000), which centres all systems at one value, answers the opposite question, whether any of
many beats one; turned round it is right only where all baselines are equal, and far too sure where one stands out
(``benchmarks/best_baseline.py``).

All runs see one matrix of resamples and one set of coins, those of ``rosetta compare``, whose p each pair has. The lower
end of the interval of "method minus best" is the least lower end of all pairs; the upper end has to hold for all of
them at once and is studentised by the largest of their deviations, draw by draw (max-T; Hsu, *Multiple Comparisons*,
1996, chapter 4, for the interval against the best).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from scoring.core.composite import composite_metrics
from scoring.core.metric import FloatArray
from scoring.core.metric_rows import direction
from scoring.core.table import Table
from scoring.statistics.clusters import drawn_values
from scoring.statistics.intervals import DRAWS, LEVEL, SEED
from scoring.statistics.significance import (
    COMPOSITE,
    TRIALS,
    Difference,
    compare,
    resamples,
)


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
    (``significance.resamples`` with the same draws and seed). ValueError where there is no baseline or no entry, where one has no value or weighs other inputs, where the entries
    differ, or where no direction of the metric is better.
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
        test(run, runs[0], resampled=(its, sums[0]))[metric]
        for run, its in zip(runs[1:], sums[1:], strict=True)
    )
    sign = -1.0 if direction(metric) == "lower" else 1.0
    lower = min(min(sign * pair.lower, sign * pair.upper) for pair in pairs)
    upper = _upper(points[0] - points[1:], drawn[0] - drawn[1:], level)
    ends = sorted((sign * lower, sign * upper))
    return AgainstBest(
        metric=metric,
        picked=int(points[1:].argmax()),
        nearest=max(range(len(pairs)), key=lambda place: _threat(pairs[place], sign)),
        pairs=pairs,
        lower=ends[0],
        upper=ends[1],
    )


def _threat(pair: Difference, sign: float) -> tuple[float, float]:
    """Order baselines by how unsure the method's lead over them is; of equal p by how small it is."""
    return p_ahead(pair), -sign * pair.difference


def _upper(leads: FloatArray, drawn: FloatArray, level: float) -> float:
    """Return the upper end of the least lead, shapes (baselines,) and (baselines, draws).

    Each lead gets as many standard errors as keep all leads below their ends in a share of the draws.
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
    if any(
        len(repetition) != len(first)
        or repetition.matrix.shape != first.matrix.shape
        or repetition.weighing != first.weighing
        for repetition in repetitions
    ):
        raise ValueError("repetitions have the same entries, metrics and weights")
    matrix = np.mean([repetition.matrix for repetition in repetitions], axis=0)
    present = np.max([repetition.present for repetition in repetitions], axis=0)
    return Table(first.metrics, matrix, present, first.weighing)
