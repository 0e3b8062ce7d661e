"""Pairwise accuracy with tie calibration (Deutsch, Foster and Freitag 2023).

People call many outputs equally good and metrics hardly any, which alone would count against a metric. So
metric values no further apart than an epsilon count as tied, with the epsilon that agrees best with people.
Where several systems were rated, outputs of one item are compared and items are averaged; with one system,
outputs of different items are compared.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scoring.calibration.judgements import IndexArray
from scoring.core.metric import FloatArray
from scoring.statistics.intervals import SEED

_BLOCK = 512

MOST_PAIRED = 2000
"""Outputs of different items among which the best epsilon is looked for; beyond, a seeded sample of them."""


@dataclass(frozen=True, slots=True)
class TieCalibration:
    """The best epsilon and the accuracy that it gives."""

    accuracy: float
    """Share of pairs of which metric and people say the same: one better, the other, or a tie."""
    epsilon: float
    """On the scale of the metric; the smallest of equally good ones."""


def pairs_within_items(items: IndexArray) -> bool:
    """Say whether some item has several outputs, so that pairs are made within items."""
    return bool((np.bincount(items) > 1).any())


def calibrate_ties(
    people: FloatArray, metric: FloatArray, items: IndexArray
) -> TieCalibration | None:
    """Find the best epsilon; None where there is no pair."""
    if not pairs_within_items(items) and len(people) > MOST_PAIRED:
        rows = np.random.default_rng(SEED).choice(len(people), MOST_PAIRED, replace=False)
        people, metric, items = people[rows], metric[rows], np.arange(MOST_PAIRED)
    pairs = _pairs(len(people), items)
    if not len(pairs[0]):
        return None
    apart = np.abs(metric[pairs[0]] - metric[pairs[1]])
    tied = people[pairs[0]] == people[pairs[1]]
    weight = _pair_weights(items, pairs[0]) if pairs_within_items(items) else 1 / len(apart)
    right = ~tied & (_agreement(people, metric, pairs) > 0)
    # an epsilon that reaches a pair wins it where people see a tie, and loses it where it was right
    change = np.where(tied, 1.0, np.where(right, -1.0, 0.0)) * weight
    order = np.argsort(apart, kind="stable")
    apart, change = apart[order], np.cumsum(change[order])
    last = np.flatnonzero(np.r_[apart[1:] != apart[:-1], True])
    accuracies = change[last] + (right * weight).sum()
    epsilons = apart[last]
    if epsilons[0] > 0:
        accuracies, epsilons = np.r_[(right * weight).sum(), accuracies], np.r_[0.0, epsilons]
    best = int(np.argmax(np.round(accuracies, 12)))
    return TieCalibration(float(accuracies[best]), float(epsilons[best]))


def pairwise_accuracy(
    people: FloatArray, metric: FloatArray, items: IndexArray, epsilon: float, weights: FloatArray
) -> FloatArray:
    """Return the accuracy at a fixed epsilon for each draw: weights of shape (draws, rows), NaN without pairs.

    An item drawn twice makes no pair with itself.
    """
    if pairs_within_items(items):
        return _within(people, metric, items, epsilon, weights)
    return _across(people, metric, epsilon, weights)


def _within(
    people: FloatArray, metric: FloatArray, items: IndexArray, epsilon: float, weights: FloatArray
) -> FloatArray:
    pairs = _pairs(len(people), items)
    same = _same(_signs(people, pairs, 0.0), _signs(metric, pairs, epsilon))
    counts = np.bincount(items[pairs[0]], minlength=int(items.max()) + 1)
    right = np.bincount(items[pairs[0]], weights=same, minlength=len(counts))
    rows = np.unique(items, return_index=True)[1][counts > 0]
    taken = weights[:, rows]
    total = taken.sum(axis=1)
    share = taken @ (right[counts > 0] / counts[counts > 0])
    return np.where(total > 0, share / np.where(total > 0, total, 1.0), np.nan)


def _across(
    people: FloatArray, metric: FloatArray, epsilon: float, weights: FloatArray
) -> FloatArray:
    narrow = weights.astype(np.float32)
    right = np.zeros(len(weights))
    for start in range(0, len(people), _BLOCK):
        block = slice(start, start + _BLOCK)
        gold = np.sign(people[block, None] - people)
        apart = metric[block, None] - metric
        said = np.where(np.abs(apart) <= epsilon, 0.0, np.sign(apart))
        same = (gold == said).astype(np.float32)
        rows = np.arange(len(same))
        same[rows, rows + start] = 0.0
        right += np.einsum("dr,dr->d", weights[:, block], narrow @ same.T)
    pairs = weights.sum(axis=1) ** 2 - (weights**2).sum(axis=1)
    return np.where(pairs > 0, right / np.where(pairs > 0, pairs, 1.0), np.nan)


def _pairs(rows: int, items: IndexArray) -> tuple[IndexArray, IndexArray]:
    """Return the pairs that are compared, each once, as two arrays of row numbers."""
    if not pairs_within_items(items):
        return np.triu_indices(rows, 1)
    order = np.argsort(items, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(items[order])) + 1)
    found = [group[np.array(np.triu_indices(len(group), 1))] for group in groups if len(group) > 1]
    first, second = np.concatenate(found, axis=1)
    return first, second


def _pair_weights(items: IndexArray, first: IndexArray) -> FloatArray:
    """Weigh pairs so that each item with pairs counts the same; they sum to 1."""
    counts = np.bincount(items[first])
    return np.asarray(1 / counts[items[first]] / np.count_nonzero(counts))


def _agreement(
    people: FloatArray, metric: FloatArray, pairs: tuple[IndexArray, IndexArray]
) -> FloatArray:
    return np.asarray(
        np.sign(people[pairs[0]] - people[pairs[1]]) * np.sign(metric[pairs[0]] - metric[pairs[1]])
    )


def _signs(values: FloatArray, pairs: tuple[IndexArray, IndexArray], epsilon: float) -> FloatArray:
    apart = values[pairs[0]] - values[pairs[1]]
    return np.where(np.abs(apart) <= epsilon, 0.0, np.sign(apart))


def _same(first: FloatArray, second: FloatArray) -> FloatArray:
    return np.asarray(first == second, dtype=np.float64)
