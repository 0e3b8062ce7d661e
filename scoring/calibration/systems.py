"""Soft pairwise accuracy of systems (Thompson et al. 2024): does a metric see the differences people see?

A pair of systems is no yes or no: people and metric each have a p-value for one being better, and the closer
the two are, the better. All random signs are enumerated where that is little work, else drawn with a seed.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations

import numpy as np

from scoring.calibration.judgements import IndexArray
from scoring.core.metric import FloatArray
from scoring.statistics.intervals import SEED

EXACT_ITEMS = 15
"""Up to this many items all 2^n exchanges are looked at."""

PERMUTATIONS = 2_000
"""Exchanges that are drawn with more items."""


def soft_pairwise_accuracy(
    people: FloatArray, metric: FloatArray, *, ties: float = 0.5, seed: int = SEED
) -> float | None:
    """Return 1 less the mean difference of p-values over pairs of systems, 0–1; None without a pair.

    Both arrays have shape (systems, items), NaN where an output was not rated or has no value; a pair is
    compared on the items that both have. ``ties`` is the share of the exchanges with just the observed
    difference that counts. The published rule counts all, 1.0; then a metric that hardly differs is rated by
    the order in which the systems are named, so we count half.
    """
    apart = []
    for first, second in combinations(range(len(people)), 2):
        both = np.stack([people[first] - people[second], metric[first] - metric[second]])
        both = both[:, ~np.isnan(both).any(axis=0)]
        if both.shape[1]:
            p_people, p_metric = _p_values(both, ties, seed)
            apart.append(abs(p_people - p_metric))
    return 1.0 - float(np.mean(apart)) if apart else None


def matrix(values: FloatArray, systems: IndexArray, items: IndexArray) -> FloatArray:
    """Lay the values of rows out as (systems, items), NaN where a system has no row of an item."""
    laid = np.full((int(systems.max()) + 1, int(items.max()) + 1), np.nan)
    laid[systems, items] = values
    return laid


def _p_values(differences: FloatArray, ties: float, seed: int) -> FloatArray:
    """Return for each row of differences how often an exchange of the two systems gives as large a sum."""
    nulls = differences @ _signs(differences.shape[1], seed).T
    observed = differences.sum(axis=1, keepdims=True)
    # sums of the same numbers in another order may differ in the last digit
    slack = 1e-9 * np.abs(differences).sum(axis=1, keepdims=True)
    larger, as_large = (
        (nulls > observed + slack).mean(axis=1),
        (nulls >= observed - slack).mean(axis=1),
    )
    return np.asarray(larger + ties * (as_large - larger))


@lru_cache(maxsize=2)
def _signs(items: int, seed: int) -> FloatArray:
    if items <= EXACT_ITEMS:
        bits = np.arange(2**items)[:, None] >> np.arange(items) & 1
    else:
        bits = np.random.default_rng(seed).integers(0, 2, (PERMUTATIONS, items))
    return np.asarray(bits * 2.0 - 1.0, dtype=np.float64)
