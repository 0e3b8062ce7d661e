"""Two-parameter logistic regression for many weightings of the rows at once (Newton's method)."""

from __future__ import annotations

import numpy as np

from scoring.core.metric import FloatArray

_STEPS = 60
_LONGEST = 2.0
"""Longest step; more would overshoot where the curve is flat."""

_BLOCK = 2_000_000
"""Cells of (draws, rows) held at once."""


def logistic(
    x: FloatArray, share: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Fit P(good) = 1 / (1 + exp(-(a + b x))) by maximum likelihood; gives a and b per draw.

    ``share`` is the part of each row that is good, 0–1; ``weights`` have the shape (draws, rows). Where x
    parts good from bad without overlap there is no maximum; b then is large and -a/b lies in the gap.
    """
    middle, spread = float(x.mean()), float(x.std()) or 1.0
    z = (x - middle) / spread
    size = max(1, _BLOCK // len(x))
    fits = [
        _newton(z, share, weights[start : start + size]) for start in range(0, len(weights), size)
    ]
    a, b = np.concatenate(fits, axis=1)
    return a - b * middle / spread, b / spread


def _newton(z: FloatArray, share: FloatArray, weights: FloatArray) -> FloatArray:
    a, b = np.zeros(len(weights)), np.zeros(len(weights))
    for _ in range(_STEPS):
        told = 1.0 / (1.0 + np.exp(-np.clip(a[:, None] + b[:, None] * z, -40.0, 40.0)))
        off = weights * (share - told)
        bend = weights * told * (1.0 - told)
        step = _solve(bend.sum(axis=1), bend @ z, bend @ (z * z), off.sum(axis=1), off @ z)
        length = np.hypot(*step)
        shorter = np.minimum(1.0, _LONGEST / np.maximum(length, 1e-300))
        a, b = a + shorter * step[0], b + shorter * step[1]
        if length.max() < 1e-10:
            break
    return np.stack([a, b])


def _solve(
    h11: FloatArray, h12: FloatArray, h22: FloatArray, g1: FloatArray, g2: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Solve the symmetric 2×2 systems of all draws; a flat one, of separated rows, gets no step."""
    determinant = h11 * h22 - h12 * h12
    flat = determinant <= 1e-12 * (h11 * h22 + 1e-300)
    below = np.where(flat, 1.0, determinant)
    return (
        np.where(flat, 0.0, (g1 * h22 - g2 * h12) / below),
        np.where(flat, 0.0, (g2 * h11 - g1 * h12) / below),
    )
