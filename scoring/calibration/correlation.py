"""Agreement of two rows of numbers, for many weightings of the rows at once.

Each function takes values x and y of shape (rows,) without NaN and weights of shape (draws, rows), whole
numbers that say how often a row is taken, and gives one number per draw: exactly what a sample with those
rows repeated gives. NaN where x or y is constant. A row and its own repetition are never a pair.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scoring.core.metric import FloatArray

_BLOCK = 512
"""Rows whose pairs are looked at together, which bounds the memory to rows × this."""


def kendall_tau_b(x: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    """Return Kendall's tau-b (Kendall 1945): concordant less discordant pairs, ties of either side left out."""
    untied = _untied_pairs(x, weights) * _untied_pairs(y, weights)
    return _ratio(_concordance(x, y, weights), np.sqrt(untied))


def pearson(x: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    """Return Pearson's correlation."""
    x, y = (values / (np.abs(values).max() or 1.0) for values in (x, y))  # keeps squares finite
    return _correlation(
        np.broadcast_to(x, weights.shape), np.broadcast_to(y, weights.shape), weights
    )


def spearman(x: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    """Return Spearman's correlation: Pearson's of the ranks, which each draw has its own of."""
    return _correlation(_ranks(x, weights), _ranks(y, weights), weights)


def auc(x: FloatArray, share: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the chance that a good case has the larger x than a bad one, ties counted half.

    ``share`` is the part of each row that is good, 0–1: three of four raters make it 0.75.
    """
    good, bad = _by_value(x, weights * share), _by_value(x, weights * (1.0 - share))
    below = np.cumsum(bad, axis=1) - bad
    return _ratio((good * (below + bad / 2)).sum(axis=1), good.sum(axis=1) * bad.sum(axis=1))


def _concordance(x: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    """Count concordant less discordant pairs; exact, as single precision holds sums below 2^24."""
    narrow = weights.astype(np.float32)
    total = np.zeros(len(weights))
    for start in range(0, len(x), _BLOCK):
        block = slice(start, start + _BLOCK)
        signs = np.sign(x[block, None] - x) * np.sign(y[block, None] - y)
        total += np.einsum("dr,dr->d", weights[:, block], narrow @ signs.T.astype(np.float32))
    return total / 2


def _untied_pairs(values: FloatArray, weights: FloatArray) -> FloatArray:
    groups = _by_value(values, weights)
    return np.asarray((weights.sum(axis=1) ** 2 - (groups**2).sum(axis=1)) / 2)


def _by_value(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Sum the weights of rows of equal value, smallest value first: shape (draws, values)."""
    order = np.argsort(values, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(values[order]) != 0])
    return np.asarray(np.add.reduceat(weights[:, order], starts, axis=1))


def _ranks(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return every row's rank within each draw, ties sharing the middle one."""
    groups = _by_value(values, weights)
    middle = np.cumsum(groups, axis=1) - groups / 2
    return np.asarray(middle[:, np.unique(values, return_inverse=True)[1]])


def _correlation(x: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    total = weights.sum(axis=1, keepdims=True)
    x = x - (weights * x).sum(axis=1, keepdims=True) / total
    y = y - (weights * y).sum(axis=1, keepdims=True) / total
    spread = (weights * x * x).sum(axis=1) * (weights * y * y).sum(axis=1)
    constant = np.logical_or(_constant(x, weights), _constant(y, weights))
    return _ratio((weights * x * y).sum(axis=1), np.where(constant, 0.0, np.sqrt(spread)))


def _constant(values: FloatArray, weights: FloatArray) -> npt.NDArray[np.bool_]:
    """Say for each draw whether all rows that it takes are equal: a mean of equals may be rounded."""
    taken = weights > 0
    most = np.where(taken, values, -np.inf).max(axis=1)
    least = np.where(taken, values, np.inf).min(axis=1)
    return np.asarray(most == least)


def _ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    return np.where(below > 0, above / np.where(below > 0, below, 1.0), np.nan)
