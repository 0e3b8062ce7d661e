"""Mean and sample standard deviation of the entries' own values, as tables of answers print them: 0.62 ± 0.31."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from scoring.core.metric import FloatArray


@dataclass(frozen=True, slots=True)
class ValueSpread:
    """How the values of single entries lie."""

    mean: float
    std: float
    """Sample standard deviation (n − 1), on the metric's scale; 0 for fewer than two values."""
    n: int
    """Entries that have a value."""


class RunningSpread:
    """Takes values as they come; the same whatever the order and the groups, but for rounding."""

    def __init__(self) -> None:
        self._n = 0
        self._mean = 0.0
        self._squares = 0.0
        """Sum of squared distances from the mean."""

    def add(self, values: FloatArray) -> None:
        """Add some more values; NaN where an entry has none."""
        there = values[~np.isnan(values)]
        if not len(there):
            return
        n, mean = len(there), float(there.mean())
        apart, whole = mean - self._mean, self._n + n
        self._squares += float(((there - mean) ** 2).sum()) + apart**2 * self._n * n / whole
        self._mean += apart * n / whole
        self._n = whole

    def value(self) -> ValueSpread | None:
        """Return the spread so far; None before the first value."""
        if not self._n:
            return None
        std = (self._squares / (self._n - 1)) ** 0.5 if self._n > 1 else 0.0
        return ValueSpread(self._mean, std, self._n)


def spreads(entry_values: Mapping[str, FloatArray]) -> dict[str, ValueSpread]:
    """Return how the entries' values of each metric lie (``Table.entry_values``); of those that have any."""
    value_spreads = {}
    for id_, values in entry_values.items():
        taken = RunningSpread()
        taken.add(values)
        if (spread := taken.value()) is not None:
            value_spreads[id_] = spread
    return value_spreads
