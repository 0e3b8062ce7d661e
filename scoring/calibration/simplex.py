"""Least squares over weights that are not negative and sum to 1.

The problem is a strictly convex quadratic in at most nine weights, so an active-set method finds its only
solution exactly, in a few solutions of small linear systems.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scoring.core.metric import FloatArray

_TOLERANCE = 1e-12


def simplex_minimum(quadratic: FloatArray, linear: FloatArray, start: FloatArray) -> FloatArray:
    """Minimise ½ wᵀQw - cᵀw over w ≥ 0, Σw = 1, from a ``start`` that satisfies both.

    ``quadratic`` is Q, shape (k, k), symmetric and positive definite; ``linear`` is c, shape (k,).
    """
    weights = start.astype(np.float64)
    free = weights > 0
    for _ in range(50 * len(weights) ** 2):
        target = _equal_sum_minimum(quadratic, linear, free)
        blocked = free & (target < -_TOLERANCE)
        if blocked.any():
            step = np.min(weights[blocked] / (weights[blocked] - target[blocked]))
            weights = np.where(free, weights + step * (target - weights), 0.0)
            free &= ~(blocked & (weights <= _TOLERANCE))
            weights[~free] = 0.0
            continue
        weights = np.clip(target, 0.0, None)
        slope = quadratic @ weights - linear
        gain = np.where(free, 0.0, slope - slope[free].mean())
        if gain.min() >= -_TOLERANCE * (1.0 + np.abs(slope).max()):
            return np.asarray(weights / weights.sum())
        free[int(np.argmin(gain))] = True
    raise ArithmeticError("the weights did not settle")  # unreachable for a positive definite Q


def _equal_sum_minimum(
    quadratic: FloatArray, linear: FloatArray, free: npt.NDArray[np.bool_]
) -> FloatArray:
    """Minimise over the free weights with their sum held at 1; the others stay 0."""
    count = int(free.sum())
    system = np.zeros((count + 1, count + 1))
    system[:count, :count] = quadratic[np.ix_(free, free)]
    system[:count, count] = system[count, :count] = 1.0
    solved = np.linalg.solve(system, np.r_[linear[free], 1.0])
    found = np.zeros(len(linear))
    found[free] = solved[:count]
    return found
