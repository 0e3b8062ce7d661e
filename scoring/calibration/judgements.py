"""Rated outputs as arrays, and the item bootstrap: how often each draw takes each of them.

Judgements hold what people said of each output, and what each metric said of it. All measures are computed from
weighted rows, so that the point estimate is the draw that takes every row once, and every measure of one report
sees the same draws.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from scoring.core.metric import FloatArray, oriented
from scoring.statistics.intervals import DRAWS, LEVEL, SEED, Interval

IndexArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Judgements:
    """One row per rated output; an item is an entry of a corpus, of which several systems have outputs."""

    items: tuple[str, ...]
    """Item of each row. Resampling draws items, because outputs of one item are not independent."""
    systems: tuple[str, ...]
    """Run of each row."""
    people: FloatArray
    """Mean rating, from 0 for the worst step of the scale to 1 for the best."""
    acceptable: FloatArray
    """Share of the raters who called the output acceptable or better, 0–1."""
    composite: FloatArray
    """The row's composite, NaN where it has none."""
    metrics: Mapping[str, FloatArray]
    """Values by metric id on the metric's own scale, NaN where an output has none."""
    better: Mapping[str, str]
    """Metric id → ``higher``, ``lower`` or ``neither`` (``MetricInfo.better``)."""
    length: FloatArray
    """Characters of each output."""

    def __len__(self) -> int:
        return len(self.items)

    @cached_property
    def item_index(self) -> IndexArray:
        """Number of each row's item, counted in the order of first appearance."""
        return _numbered(self.items)

    @cached_property
    def system_index(self) -> IndexArray:
        """Number of each row's system, counted in the order of first appearance."""
        return _numbered(self.systems)

    @property
    def item_count(self) -> int:
        """How many different items were rated."""
        return len(set(self.items))

    @cached_property
    def system_names(self) -> tuple[str, ...]:
        """The systems in the order of first appearance."""
        return tuple(dict.fromkeys(self.systems))

    def oriented(self, metric: str) -> FloatArray:
        """Return a metric's values so that more is better, which every agreement with people supposes."""
        return oriented(self.metrics[metric], self.better[metric])


def _numbered(names: tuple[str, ...]) -> IndexArray:
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([numbers[name] for name in names], dtype=np.int64)


__all__ = ["DRAWS", "LEVEL", "SEED", "Estimate", "estimate", "once", "row_weights"]
_LEAST_DRAWS = 0.9
"""Share of the draws that must give a number for an interval to be told."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its interval; None where it is not defined, such as agreement with equal ratings."""

    value: float | None
    interval: Interval | None = None


def row_weights(item_index: IndexArray, draws: int, seed: int) -> FloatArray:
    """Draw items with replacement; gives how often each row is taken, shape (draws, rows)."""
    items = int(item_index.max()) + 1
    random = np.random.default_rng(seed)
    counts = random.multinomial(items, np.full(items, 1.0 / items), size=draws)
    return np.asarray(counts[:, item_index], dtype=np.float64)


def once(rows: int) -> FloatArray:
    """Return the weights that take every row once, shape (1, rows)."""
    return np.ones((1, rows))


def estimate(point: float, drawn: FloatArray, seed: int, level: float = LEVEL) -> Estimate:
    """Assemble a point and its draws; NaN stands for a draw in which the number is not defined."""
    if np.isnan(point):
        return Estimate(None)
    kept = drawn[~np.isnan(drawn)]
    if len(kept) < _LEAST_DRAWS * max(1, len(drawn)):
        return Estimate(point)
    tail = 100 * (1 - level) / 2
    # "higher" and "lower" take a draw as it is, so that an infinite one among finite ones makes no NaN
    lower = float(np.percentile(kept, tail, method="lower"))
    upper = float(np.percentile(kept, 100 - tail, method="higher"))
    ends = min(lower, point), max(upper, point)
    return Estimate(point, Interval(*ends, level, len(kept), seed, "percentile bootstrap"))
