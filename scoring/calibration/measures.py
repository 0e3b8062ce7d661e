"""How well each metric agrees with people on single outputs, beside a metric that only counts characters.

Every number is oriented so that more means more agreement, and all metrics see the same draws of items.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
import numpy.typing as npt

from scoring.calibration.judgements import DRAWS, SEED, Estimate, IndexArray, Judgements, estimate, once, row_weights
from scoring.core.metric import FloatArray, share

# ---- Pairwise accuracy with tie calibration (Deutsch, Foster and Freitag 2023).
#
# People call many outputs equally good and metrics hardly any, which alone would count against a
# metric. So metric values no further apart than an epsilon count as tied, with the epsilon that
# agrees best with people: of the pairs 3:3, 3:2 and 2:1 of people and 0.51:0.50, 0.53:0.50 and
# 0.58:0.50 of the metric, epsilon 0 gets two right, 0.01 all three. With several systems, outputs
# of one item are compared and items averaged; with one, outputs of different items are compared.

_BLOCK = 512
"""Rows whose pairs are examined together, which bounds the memory to rows × this."""
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
    """Return whether some item has several outputs, so that pairs are made within items."""
    return bool((np.bincount(items) > 1).any())


def calibrate_ties(people: FloatArray, metric: FloatArray, items: IndexArray) -> TieCalibration | None:
    """Find the best epsilon; None where there is no pair."""
    if not pairs_within_items(items) and len(people) > MOST_PAIRED:
        rows = np.random.default_rng(SEED).choice(len(people), MOST_PAIRED, replace=False)
        people, metric, items = people[rows], metric[rows], np.arange(MOST_PAIRED)
    pairs = _pairs(len(people), items)
    if not len(pairs[0]):
        return None
    apart = np.abs(metric[pairs[0]] - metric[pairs[1]])
    tied = people[pairs[0]] == people[pairs[1]]
    weight: FloatArray | float = 1 / len(apart)
    if pairs_within_items(items):  # each item with pairs counts the same; the weights sum to 1
        counts = np.bincount(items[pairs[0]])
        weight = np.asarray(1 / counts[items[pairs[0]]] / np.count_nonzero(counts))
    signs = _paired_signs(people, pairs, 0.0) * _paired_signs(metric, pairs, 0.0)
    right = ~tied & (signs > 0)
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
        pairs = _pairs(len(people), items)
        equal = _paired_signs(people, pairs, 0.0) == _paired_signs(metric, pairs, epsilon)
        same = equal.astype(np.float64)
        counts = np.bincount(items[pairs[0]], minlength=int(items.max()) + 1)
        right = np.bincount(items[pairs[0]], weights=same, minlength=len(counts))
        rows = np.unique(items, return_index=True)[1][counts > 0]
        taken = weights[:, rows]
        return share(taken @ (right[counts > 0] / counts[counts > 0]), taken.sum(axis=1))
    return _accuracy_across(people, metric, epsilon, weights)


def _accuracy_across(people: FloatArray, metric: FloatArray, epsilon: float, weights: FloatArray) -> FloatArray:
    narrow = weights.astype(np.float32)
    right = np.zeros(len(weights))
    for start in range(0, len(people), _BLOCK):
        block = slice(start, start + _BLOCK)
        gold = np.sign(people[block, None] - people)
        apart = metric[block, None] - metric
        values = np.where(np.abs(apart) <= epsilon, 0.0, np.sign(apart))
        same = (gold == values).astype(np.float32)
        rows = np.arange(len(same))
        same[rows, rows + start] = 0.0
        right += np.einsum("dr,dr->d", weights[:, block], narrow @ same.T)
    return share(right, weights.sum(axis=1) ** 2 - (weights**2).sum(axis=1))


def _pairs(rows: int, items: IndexArray) -> tuple[IndexArray, IndexArray]:
    """Return the pairs that are compared, each once, as two arrays of row numbers."""
    if not pairs_within_items(items):
        return np.triu_indices(rows, 1)
    order = np.argsort(items, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(items[order])) + 1)
    pairs = [group[np.array(np.triu_indices(len(group), 1))] for group in groups if len(group) > 1]
    first, second = np.concatenate(pairs, axis=1)
    return first, second


def _paired_signs(values: FloatArray, pairs: tuple[IndexArray, IndexArray], epsilon: float) -> FloatArray:
    apart = values[pairs[0]] - values[pairs[1]]
    return np.where(np.abs(apart) <= epsilon, 0.0, np.sign(apart))


# ---- Soft pairwise accuracy of systems (Thompson et al. 2024): does a metric see the differences
# people see?
#
# A pair of systems is no yes or no: people and metric each have a p-value for one being better,
# and the closer the two are, the better: p 0.03 of people and 0.20 of the metric give
# 1 - |0.03 - 0.20| = 0.83. All random signs are enumerated where that is little work, else drawn.

EXACT_ITEMS = 15
"""Up to this many items all 2^n exchanges are examined."""
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
            # For each row of differences how often an exchange of the two systems gives as large a sum.
            nulls = both @ _signs(both.shape[1], seed).T
            observed = both.sum(axis=1, keepdims=True)
            # sums of the same numbers in another order may differ in the last digit
            slack = 1e-9 * np.abs(both).sum(axis=1, keepdims=True)
            larger = (nulls > observed + slack).mean(axis=1)
            as_large = (nulls >= observed - slack).mean(axis=1)
            p_people, p_metric = np.asarray(larger + ties * (as_large - larger))
            apart.append(abs(p_people - p_metric))
    return 1.0 - float(np.mean(apart)) if apart else None


def matrix(values: FloatArray, systems: IndexArray, items: IndexArray) -> FloatArray:
    """Return the values of rows as a matrix of (systems, items), NaN where a system has no row of an item."""
    laid = np.full((int(systems.max()) + 1, int(items.max()) + 1), np.nan)
    laid[systems, items] = values
    return laid


@lru_cache(maxsize=2)
def _signs(items: int, seed: int) -> FloatArray:
    if items <= EXACT_ITEMS:
        bits = np.arange(2**items)[:, None] >> np.arange(items) & 1
    else:
        bits = np.random.default_rng(seed).integers(0, 2, (PERMUTATIONS, items))
    return np.asarray(bits * 2.0 - 1.0, dtype=np.float64)


# ---- Agreement of two rows of numbers, for many weightings of the rows at once.
#
# Each function takes values x and y of shape (rows,) without NaN and weights of shape (draws,
# rows), whole numbers that say how often a row is taken, and gives one number per draw: exactly
# what a sample with those rows repeated gives. NaN where x or y is constant. A row and its own
# repetition are never a pair: weights (2, 1, 1) count the first row's pairs with the others twice,
# 5 pairs in all, and not 6 as four different rows would have.


def kendall_tau_b(x: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    """Return Kendall's tau-b (Kendall 1945): concordant less discordant pairs, ties of either side left out."""
    untied = _untied_pairs(x, weights) * _untied_pairs(y, weights)
    # Count concordant less discordant pairs; exact, as single precision holds sums below 2^24.
    narrow = weights.astype(np.float32)
    total = np.zeros(len(weights))
    for start in range(0, len(x), _BLOCK):
        block = slice(start, start + _BLOCK)
        signs = np.sign(x[block, None] - x) * np.sign(y[block, None] - y)
        total += np.einsum("dr,dr->d", weights[:, block], narrow @ signs.T.astype(np.float32))
    return share(total / 2, np.sqrt(untied))


def pearson(x: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    """Return Pearson's correlation."""
    x, y = (values / (np.abs(values).max() or 1.0) for values in (x, y))  # keeps squares finite
    x, y = (np.broadcast_to(values, weights.shape) for values in (x, y))
    return _correlation(x, y, weights)


def spearman(x: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    """Return Spearman's correlation: Pearson's of the ranks, which each draw has its own of."""
    return _correlation(_ranks(x, weights), _ranks(y, weights), weights)


def auc(x: FloatArray, good_share: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the chance that a good case has the larger x than a bad one, ties counted half.

    ``good_share`` is the part of each row that is good, 0–1: three of four raters make it 0.75.
    """
    good, bad = _by_value(x, weights * good_share), _by_value(x, weights * (1.0 - good_share))
    below = np.cumsum(bad, axis=1) - bad
    return share((good * (below + bad / 2)).sum(axis=1), good.sum(axis=1) * bad.sum(axis=1))


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
    total[total == 0] = 1.0  # a draw without any of the rows has spread 0, which is no correlation
    x = x - (weights * x).sum(axis=1, keepdims=True) / total
    y = y - (weights * y).sum(axis=1, keepdims=True) / total
    spread = (weights * x * x).sum(axis=1) * (weights * y * y).sum(axis=1)
    constant = np.logical_or(_constant(x, weights), _constant(y, weights))
    return share((weights * x * y).sum(axis=1), np.where(constant, 0.0, np.sqrt(spread)))


def _constant(values: FloatArray, weights: FloatArray) -> npt.NDArray[np.bool_]:
    """Return for each draw whether all rows that it takes are equal: a mean of equals may be rounded."""
    taken = weights > 0
    most = np.where(taken, values, -np.inf).max(axis=1)
    least = np.where(taken, values, np.inf).min(axis=1)
    return np.asarray(most == least)


COMPOSITE = "composite"
LENGTH = "length_only"
"""The sentinel: an output's number of characters, in the direction in which it agrees better with people."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One row of the table: a metric against people."""

    metric: str
    """Metric id, ``composite`` or ``length_only``."""
    outputs: int
    """Rated outputs for which the metric has a value."""
    tau_b: Estimate
    """Kendall's tau-b, -1 to 1."""
    pearson: Estimate
    spearman: Estimate
    pairwise_accuracy: Estimate
    """With tie calibration, 0–1."""
    epsilon: float | None
    """Differences of the metric up to this count as ties; None where there is no pair."""
    auc: Estimate
    """Chance that an acceptable output has the better value than one that is not, 0–1."""
    soft_pairwise_accuracy: float | None
    """Of systems, 0–1; None with fewer than two."""
    above_length: Estimate = Estimate(None)  # noqa: RUF009  frozen, so it can be shared
    """Its tau-b less that of the sentinel on the same outputs, from the same draws; empty for the sentinel."""

    @property
    def beats_length(self) -> bool | None:
        """Return whether it is shown to agree better than the length alone; None where that is not defined."""
        return None if self.above_length.interval is None else self.above_length.interval.lower > 0


def measures(
    judgements: Judgements, *, draws: int = DRAWS, seed: int = SEED, tell: Callable[[str], None] = lambda _: None
) -> tuple[Measure, ...]:
    """Measure composite, every metric with a value, and the sentinel; ``tell`` hears which is at work."""
    table = _Table(judgements, row_weights(judgements.item_index, draws, seed), seed)
    values = {COMPOSITE: judgements.composite, **{metric: judgements.oriented(metric) for metric in judgements.metrics}}
    measures = []
    for metric, oriented in values.items():
        if np.isfinite(oriented).any():
            tell(metric)
            measures.append(table.measure(metric, oriented, table.sentinel))
    tell(LENGTH)
    return (*measures, table.measure(LENGTH, table.sentinel))


class _Table:
    """People's side of all rows of the table."""

    def __init__(self, judgements: Judgements, weights: FloatArray, seed: int) -> None:
        self._given, self._weights, self._seed = judgements, weights, seed
        tau = kendall_tau_b(judgements.length, judgements.people, once(len(judgements)))[0]
        self.sentinel = -judgements.length if tau < 0 else judgements.length

    def measure(self, metric: str, oriented: FloatArray, sentinel: FloatArray | None = None) -> Measure:
        """Measure one metric on the rows where it has a value."""
        rows = np.isfinite(oriented)
        x, people = oriented[rows], self._given.people[rows]
        items, weights = self._given.item_index[rows], self._weights[:, rows]
        ties = calibrate_ties(people, x, items)
        systems, of_items = self._given.system_index, self._given.item_index
        of_systems = soft_pairwise_accuracy(
            matrix(self._given.people, systems, of_items), matrix(oriented, systems, of_items), seed=self._seed
        )

        def measured(number: Callable[[FloatArray], FloatArray]) -> Estimate:
            return estimate(float(number(once(len(x)))[0]), number(weights), self._seed)

        return Measure(
            metric,
            len(x),
            measured(lambda w: kendall_tau_b(x, people, w)),
            measured(lambda w: pearson(x, people, w)),
            measured(lambda w: spearman(x, people, w)),
            Estimate(None)
            if ties is None
            else measured(lambda w: pairwise_accuracy(people, x, items, ties.epsilon, w)),
            None if ties is None else ties.epsilon,
            measured(lambda w: auc(x, self._given.acceptable[rows], w)),
            of_systems,
            Estimate(None)
            if sentinel is None
            else measured(lambda w: kendall_tau_b(x, people, w) - kendall_tau_b(sentinel[rows], people, w)),
        )
