"""Rates: a count of words, terms or entries over another."""

from __future__ import annotations

import numpy as np

from scoring.core.metric import FloatArray, Metric
from scoring.core.signature import own_signature


class RateMetric(Metric):
    """Statistics (counted, all), value counted / all; null over nothing.

    A wider one keeps numbers of its own behind these two, which do not enter the value.
    """

    width = 2

    def values(self, totals: FloatArray) -> FloatArray:
        return share(totals[:, 0], totals[:, 1])


def share(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Divide place by place; NaN where there is nothing to be a part of."""
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), np.nan)


class MatchRate(RateMetric):
    """A rate whose entries are right or wrong: statistics (1 if right, 1), value in 0–1, higher is better.

    Every entry counts in the denominator, a failed one as wrong (DESIGN M2).
    """

    @property
    def signature(self) -> str:
        return own_signature("nrefs:1|case:mixed|punct:yes|space:folded")
