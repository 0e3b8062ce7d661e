"""Rates: a count of words, terms or entries over another."""

from __future__ import annotations

import numpy as np

from scoring.metric import FloatArray, Metric


class Rate(Metric):
    """Statistics (counted, all), value counted / all; null over nothing.

    A wider one keeps numbers of its own behind these two, which do not enter the value.
    """

    width = 2

    def values(self, totals: FloatArray) -> FloatArray:
        return share(totals[:, 0], totals[:, 1])


def share(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Divide place by place; NaN where there is nothing to be a part of."""
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), np.nan)
