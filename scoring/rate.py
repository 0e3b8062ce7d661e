"""Rates: a count of words or terms over another."""

from __future__ import annotations

import numpy as np

from scoring.metric import FloatArray, Metric


class Rate(Metric):
    """Statistics (counted, all), value counted / all in 0–1; null over nothing."""

    width = 2

    def values(self, totals: FloatArray) -> FloatArray:
        total = totals[:, 1]
        return np.where(total > 0, totals[:, 0] / np.where(total > 0, total, 1.0), np.nan)
