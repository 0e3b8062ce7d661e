"""Weights of the composite that agree better with people, proposed only where that is shown.

The specification's weights are the starting point: the fit is drawn to them (ridge), and how strongly is
decided by cross-validation over items. A proposal needs 150 rated items and a gain on items that the fit
has not seen whose lower bound is above 0. With fewer, learned weights tend to be worse than fixed ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from scoring.calibration.judgements import DRAWS, SEED, Estimate, IndexArray, Judgements, estimate, once, row_weights
from scoring.calibration.measures import kendall_tau_b
from scoring.core.inventory import normalised
from scoring.core.metric import FloatArray
from scoring.core.specification import specification

_TOLERANCE = 1e-12


def simplex_minimum(quadratic: FloatArray, linear: FloatArray, start: FloatArray) -> FloatArray:
    """Minimise ½ wᵀQw - cᵀw over w ≥ 0, Σw = 1, from a ``start`` that satisfies both.

    ``quadratic`` is Q, shape (k, k), symmetric and positive definite; ``linear`` is c, shape (k,). An active-set
    method finds the only solution exactly, in a few solutions of linear systems of at most nine weights.
    """
    weights = start.astype(np.float64)
    free = weights > 0
    for _ in range(50 * len(weights) ** 2):
        # Minimise over the free weights with their sum held at 1; the others stay 0.
        count = int(free.sum())
        system = np.zeros((count + 1, count + 1))
        system[:count, :count] = quadratic[np.ix_(free, free)]
        system[:count, count] = system[count, :count] = 1.0
        solved = np.linalg.solve(system, np.r_[linear[free], 1.0])
        target = np.zeros(len(linear))
        target[free] = solved[:count]
        blocked = free & (target < -_TOLERANCE)
        if blocked.any():
            step = np.min(weights[blocked] / (weights[blocked] - target[blocked]))
            weights = np.where(free, weights + step * (target - weights), 0.0)
            free &= ~(blocked & (weights <= _TOLERANCE))
            weights[~free] = 0.0
            continue
        weights = np.clip(target, 0.0, None)
        slope = quadratic @ weights - linear
        gain = np.where(free, 0.0, slope - slope[free].mean())
        if gain.min() >= -_TOLERANCE * (1.0 + np.abs(slope).max()):
            return np.asarray(weights / weights.sum())
        free[int(np.argmin(gain))] = True
    raise ArithmeticError("the weights did not settle")  # unreachable for a positive definite Q


LEAST_ITEMS = 150
"""Rated items from which weights may be proposed."""
FOLDS = 5
STRENGTHS = tuple(float(strength) for strength in np.geomspace(1e-4, 10.0, 11))
"""Strengths of the pull to the specification's weights that are tried; metrics are on 0–1."""


@dataclass(frozen=True, slots=True)
class WeightProposal:
    """New weights, or the reason why the specification's are kept."""

    proposed: bool
    reason: str
    """Why, in words with numbers."""
    profile: str | None
    """``A`` or ``B`` (§4.3), None where the runs do not share one."""
    items: int
    specification: Mapping[str, float]
    """Weights of the metrics that have values, re-normalised to the sum 1."""
    weights: Mapping[str, float] | None = None
    """The proposal; None where the specification's weights are kept."""
    strength: float | None = None
    """Pull to the specification's weights that predicted held-out items best."""
    tau_specification: float | None = None
    tau_held_out: float | None = None
    """Kendall's tau-b with people of both composites, each output's made without its own ratings."""
    gain: Estimate = Estimate(None)  # noqa: RUF009  frozen, so it can be shared
    """Difference of the two, with its paired item-bootstrap interval."""


@dataclass(frozen=True, slots=True)
class _Problem:
    """What the fit looks at."""

    values: FloatArray
    """Normalised metrics, shape (rows, metrics), NaN where there is none."""
    filled: FloatArray
    """The same with the row's own composite in the gaps: what re-normalisation of weights amounts to."""
    people: FloatArray
    items: IndexArray
    prior: FloatArray

    def rows(self, chosen: FloatArray) -> _Problem:
        """Return the rows for which ``chosen`` is true."""
        values, filled = self.values[chosen], self.filled[chosen]
        return _Problem(values, filled, self.people[chosen], self.items[chosen], self.prior)


def propose_weights(
    judgements: Judgements, profile: str | None, *, draws: int = DRAWS, seed: int = SEED
) -> WeightProposal:
    """Fit the weights of a profile to people's ratings, and say whether they may be proposed.

    The profile is None where the runs do not share one; then nothing is fitted.
    """
    if profile is None:
        return WeightProposal(False, _MIXED, None, judgements.item_count, {})
    valued = {id_ for id_, values in judgements.metrics.items() if np.isfinite(values).any()}
    names = [id_ for id_ in specification().profiles[profile] if id_ in valued]
    target = np.array([specification().profiles[profile][id_] for id_ in names])
    prior = target / target.sum() if names else target
    known = dict(zip(names, map(float, prior), strict=True))
    items = judgements.item_count
    refusal = _too_little(judgements, names)
    problem = None if refusal else _problem(judgements, names, prior)
    if problem is not None and _slope(problem, prior) <= 0:
        refusal = (
            "the composite does not rise with the ratings at all; first look whether ids and the "
            "direction of the scale are right"
        )
    if refusal or problem is None:
        return WeightProposal(False, refusal, profile, items, known)
    return _judged(problem, names, profile, items, known, draws, seed)


_MIXED = (
    "some runs are weighed by profile A and some by profile B; calibrate them apart, or score them with the "
    "same analyser"
)


def _judged(
    problem: _Problem, names: list[str], profile: str, items: int, known: dict[str, float], draws: int, seed: int
) -> WeightProposal:
    before = _composites(problem.values, problem.prior)
    # Every row the composite of weights that were fitted, strength included, without its item.
    after = np.empty(len(problem.people))
    for fold in range(FOLDS):
        out = _folds(problem.items, seed) == fold
        rest = problem.rows(~out)
        after[out] = _composites(problem.values[out], _fit(rest, best_strength(rest, seed)))
    # Difference in tau-b of two composites; both see the same draws of items.
    index = np.unique(problem.items, return_inverse=True)[1]

    def difference(weights: FloatArray) -> FloatArray:
        then = kendall_tau_b(before, problem.people, weights)
        return np.asarray(kendall_tau_b(after, problem.people, weights) - then)

    point = float(difference(once(len(before)))[0])
    gain = estimate(point, difference(row_weights(index, draws, seed)), seed)
    tau = kendall_tau_b(before, problem.people, once(len(before)))[0]
    strength = best_strength(problem, seed)
    fitted = _fit(problem, strength)
    proposed = gain.interval is not None and gain.interval.lower > 0
    return WeightProposal(
        proposed,
        _verdict(gain, proposed),
        profile,
        items,
        known,
        dict(zip(names, map(float, fitted), strict=True)) if proposed else None,
        strength,
        float(tau),
        None if gain.value is None else float(tau) + gain.value,
        gain,
    )


def _verdict(gain: Estimate, proposed: bool) -> str:
    if gain.value is None or gain.interval is None:
        return "agreement is not defined, because all ratings or all composites are equal"
    gain_words = f"{gain.value:+.3f} in tau-b, 95 % interval {gain.interval.lower:+.3f} to {gain.interval.upper:+.3f}"
    if proposed:
        return f"the gain on items that the fit has not seen is {gain_words}"
    return f"a gain on items that the fit has not seen is not shown: {gain_words}; its lower end must be above 0"


def _too_little(judgements: Judgements, names: list[str]) -> str:
    items = judgements.item_count
    if items < LEAST_ITEMS:
        return (
            f"{items} rated items are too few: {LEAST_ITEMS} are needed, {LEAST_ITEMS - items} more. "
            "Weights learned from fewer are often worse than the specification's"
        )
    if len(names) < 2:
        return f"{len(names)} of the profile's metrics have values; there is nothing to weigh"
    return ""


def _problem(judgements: Judgements, names: list[str], prior: FloatArray) -> _Problem:
    values = np.stack([normalised(id_, judgements.metrics[id_]) for id_ in names], axis=1)
    some = ~np.isnan(values).all(axis=1)
    values = values[some]
    filled = np.where(np.isnan(values), _composites(values, prior)[:, None], values)
    return _Problem(values, filled, judgements.people[some], judgements.item_index[some], prior)


def reweighed(judgements: Judgements, weights: Mapping[str, float]) -> FloatArray:
    """Return the composites of all rows by these weights, shape (rows,); NaN where no weighed metric has a value."""
    values = np.stack([normalised(id_, judgements.metrics[id_]) for id_ in weights], axis=1)
    given = np.array(list(weights.values()))
    covered = ~np.isnan(values) @ given
    return np.where(covered > 0, _composites(values, given), np.nan)


def _composites(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Fold rows with weights re-normalised over the metrics that a row has (§4.3); NaN over none."""
    present = ~np.isnan(values)
    covered = present @ weights
    total = np.where(present, values, 0.0) @ weights
    return np.where(covered > 0, total / np.where(covered > 0, covered, 1.0), 0.0)


def _slope(problem: _Problem, weights: FloatArray) -> float:
    """Return the slope of the line by which the composite tells the ratings."""
    mixed = problem.filled @ weights
    spread = float(((mixed - mixed.mean()) ** 2).sum())
    if spread <= 0:
        return 0.0
    return float(((mixed - mixed.mean()) * (problem.people - problem.people.mean())).sum()) / spread


def _fit(problem: _Problem, strength: float) -> FloatArray:
    """Minimise ‖Xw - y‖²/n + strength·‖w - prior‖² over weights ≥ 0 that sum to 1.

    A rating scale has neither zero nor unit, so y are the ratings on the composite's scale, by the
    line that tells them best from the specification's composite. The specification's weights then fit as
    well as they can, and only another mixture of the metrics can be better.
    """
    slope = _slope(problem, problem.prior)
    if slope <= 0:
        return problem.prior
    people = (problem.people - problem.people.mean()) / slope
    values = problem.filled - problem.filled.mean(axis=0)
    quadratic = values.T @ values / len(values) + strength * np.eye(values.shape[1])
    linear = values.T @ people / len(values) + strength * problem.prior
    return simplex_minimum(quadratic, linear, problem.prior)


def best_strength(problem: _Problem, seed: int) -> float:
    """Choose the pull that predicts the ratings of held-out items best; the stronger of equal ones."""
    folds = _folds(problem.items, seed)
    parts = [(problem.rows(folds != fold), problem.rows(folds == fold)) for fold in range(FOLDS)]
    fits = [[(*part, _fit(part[0], pull)) for part in parts] for pull in STRENGTHS]
    errors = [sum(_error(*fit) for fit in fitted) for fitted in fits]
    least = min(errors)
    return max(s for s, error in zip(STRENGTHS, errors, strict=True) if error <= least * (1 + 1e-9))


def _error(rest: _Problem, held: _Problem, weights: FloatArray) -> float:
    """Return the squared error on held-out rows of the line that the other rows give."""
    slope = _slope(rest, rest.prior)
    moved = held.filled @ weights - (rest.filled @ weights).mean()
    predicted = rest.people.mean() + slope * moved
    return float(((held.people - predicted) ** 2).sum())


def _folds(items: IndexArray, seed: int) -> IndexArray:
    """Deal items, not rows, into folds: outputs of one item stay together."""
    present, index = np.unique(items, return_inverse=True)
    dealt = np.random.default_rng(seed).permutation(len(present)) % FOLDS
    return np.asarray(dealt[index], dtype=np.int64)
