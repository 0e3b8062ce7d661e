"""Item bootstrap: how often each draw takes each rated output, and intervals from what draws give.

All measures are computed from weighted rows, so that the point estimate is the draw that takes every row
once, and every measure of one report sees the same draws.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scoring.calibration.judgements import IndexArray
from scoring.core.metric import FloatArray
from scoring.statistics.intervals import DRAWS, LEVEL, SEED, Interval

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
    """Put a point and its draws together; NaN stands for a draw in which the number is not defined."""
    if np.isnan(point):
        return Estimate(None)
    kept = drawn[~np.isnan(drawn)]
    if len(kept) < _LEAST_DRAWS * max(1, len(drawn)):
        return Estimate(point)
    tail = 100 * (1 - level) / 2
    # "higher" and "lower" take a draw as it is, so that an infinite one among finite ones makes no NaN
    lower = float(np.percentile(kept, tail, method="lower"))
    upper = float(np.percentile(kept, 100 - tail, method="higher"))
    interval = Interval(
        min(lower, point), max(upper, point), level, len(kept), seed, "percentile bootstrap"
    )
    return Estimate(point, interval)
