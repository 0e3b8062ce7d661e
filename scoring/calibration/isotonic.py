"""The rising curve that fits shares best, without supposing any formula (pool adjacent violators)."""

from __future__ import annotations

import numpy as np

from scoring.core.metric import FloatArray


def isotonic(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Fit y as a never falling step function of x; gives the distinct x, rising, and the curve there."""
    values, index, counts = np.unique(x, return_inverse=True, return_counts=True)
    means = np.bincount(index, weights=y) / counts
    pools: list[tuple[float, float, int]] = []
    """Mean, weight and number of values of each level so far."""
    for mean, weight in zip(means, counts, strict=True):
        pool = (float(mean), float(weight), 1)
        while pools and pools[-1][0] >= pool[0]:
            last = pools.pop()
            total = last[1] + pool[1]
            pool = ((last[0] * last[1] + pool[0] * pool[1]) / total, total, last[2] + pool[2])
        pools.append(pool)
    return values, np.repeat([pool[0] for pool in pools], [pool[2] for pool in pools])


def first_reached(x: FloatArray, y: FloatArray, level: float) -> float | None:
    """Return the smallest x at which the rising curve reaches a level; None where it never does."""
    values, curve = isotonic(x, y)
    reached = values[curve >= level]
    return float(reached[0]) if len(reached) else None
