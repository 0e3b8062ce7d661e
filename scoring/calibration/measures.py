"""How well each metric agrees with people on single outputs, beside a metric that only counts characters.

Every number is oriented so that more means more agreement, and all metrics see the same draws of items.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from scoring.calibration.correlation import auc, kendall_tau_b, pearson, spearman
from scoring.calibration.judgements import Judgements
from scoring.calibration.pairwise import calibrate_ties, pairwise_accuracy
from scoring.calibration.resampling import DRAWS, SEED, Estimate, estimate, once, row_weights
from scoring.calibration.systems import matrix, soft_pairwise_accuracy
from scoring.core.metric import FloatArray

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
        """Whether it is shown to agree better than the length alone; None where that is not defined."""
        return None if self.above_length.interval is None else self.above_length.interval.lower > 0


def measures(
    judgements: Judgements,
    *,
    draws: int = DRAWS,
    seed: int = SEED,
    tell: Callable[[str], None] = lambda _: None,
) -> tuple[Measure, ...]:
    """Measure composite, every metric with a value, and the sentinel; ``tell`` hears which is at work."""
    table = _Table(judgements, row_weights(judgements.item_index, draws, seed), seed)
    values = {
        COMPOSITE: judgements.composite,
        **{metric: judgements.oriented(metric) for metric in judgements.metrics},
    }
    found = []
    for metric, oriented in values.items():
        if np.isfinite(oriented).any():
            tell(metric)
            found.append(table.measure(metric, oriented, table.sentinel))
    tell(LENGTH)
    return (*found, table.measure(LENGTH, table.sentinel))


class _Table:
    """People's side of all rows of the table."""

    def __init__(self, judgements: Judgements, weights: FloatArray, seed: int) -> None:
        self._given, self._weights, self._seed = judgements, weights, seed
        tau = kendall_tau_b(judgements.length, judgements.people, once(len(judgements)))[0]
        self.sentinel = -judgements.length if tau < 0 else judgements.length

    def measure(
        self, metric: str, oriented: FloatArray, sentinel: FloatArray | None = None
    ) -> Measure:
        """Measure one metric on the rows where it has a value."""
        rows = np.isfinite(oriented)
        x, people = oriented[rows], self._given.people[rows]
        items, weights = self._given.item_index[rows], self._weights[:, rows]
        ties = calibrate_ties(people, x, items)

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
            self._systems(oriented),
            Estimate(None)
            if sentinel is None
            else measured(
                lambda w: kendall_tau_b(x, people, w) - kendall_tau_b(sentinel[rows], people, w)
            ),
        )

    def _systems(self, oriented: FloatArray) -> float | None:
        systems, items = self._given.system_index, self._given.item_index
        people = matrix(self._given.people, systems, items)
        return soft_pairwise_accuracy(people, matrix(oriented, systems, items), seed=self._seed)
