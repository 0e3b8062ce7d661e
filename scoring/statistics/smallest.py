"""The smallest difference between two systems that a set of entries can show, from resampled values.

A true difference of 2.80 standard errors is found in four of five comparisons (power 80 %) where one in twenty of equal
systems is called different (two-sided, 5 %): 1.96 + 0.84, as for any test of a normal estimate (Cohen, *Statistical
Power Analysis for the Behavioral Sciences*, 1988).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from scoring.core.metric import FloatArray

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
    return Z_BOTH * float(np.median(apart)) ** 0.5 if len(apart) else None


_NOTHING: Final = 1e-12
"""Share of the largest variance below which the variance of a difference is rounding."""
