"""The threshold and the weights against scipy: refusals in words, and a planted truth that is found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize

from scoring.calibration.judgements import Judgements, once, row_weights
from scoring.calibration.threshold import (
    decisions,
    first_reached,
    isotonic,
    logistic,
    propose_threshold,
    tier_line,
)
from scoring.calibration.weights import LEAST_ITEMS, propose_weights, simplex_minimum
from scoring.core.composite import composites
from scoring.core.metric import FloatArray
from tests.review.thorough import first, times
from tests.scoring.calibration.made import METRICS, PROFILE, made


def judged(x: FloatArray, share: FloatArray) -> Judgements:
    rows = len(x)
    return Judgements(
        items=tuple(map(str, range(rows))),
        systems=("one",) * rows,
        people=share,
        acceptable=share,
        composite=x,
        metrics={},
        better={},
        length=np.ones(rows),
    )


def logistic_truth(items: int, seed: int, a: float = -6.0, b: float = 10.0) -> Judgements:
    random = np.random.default_rng(seed)
    x = random.uniform(0.2, 1.0, items)
    return judged(x, (random.random(items) < 1 / (1 + np.exp(-(a + b * x)))).astype(float))


TRUTH = (np.log(0.7 / 0.3) + 6) / 10


@pytest.mark.parametrize("seed", first(2, range(8)))
def test_the_curve_is_the_maximum_that_scipy_finds(seed: int) -> None:
    random = np.random.default_rng(seed)
    x = random.normal(50, 12, 150)
    share = (
        np.round(np.clip(1 / (1 + np.exp(-(x - 48) / 9)) + random.normal(0, 0.3, 150), 0, 1) * 4)
        / 4
    )
    weights = row_weights(np.arange(150), 2, seed=seed)
    for a, b, row in zip(*logistic(x, share, weights), weights, strict=True):

        def loss(p: FloatArray, row: FloatArray = row) -> float:
            told = p[0] + p[1] * (x - 50) / 10
            return float((row * (np.logaddexp(0, told) - share * told)).sum())

        best = optimize.minimize(loss, np.zeros(2), method="BFGS", options={"gtol": 1e-9})
        assert b == pytest.approx(best.x[1] / 10, abs=1e-6)
        assert a == pytest.approx(best.x[0] - 5 * best.x[1], abs=1e-5)


@pytest.mark.parametrize("seed", first(2, range(10)))
def test_the_rising_curve_is_scipy_s(seed: int) -> None:
    random = np.random.default_rng(seed)
    x = np.unique(random.normal(size=70))
    y = x + random.normal(0, 1, len(x))
    assert isotonic(x, y)[1] == pytest.approx(optimize.isotonic_regression(y).x, abs=1e-12)


def test_equal_scores_share_one_step() -> None:
    x, y = np.array([1.0, 1, 2, 2, 3]), np.array([0.0, 1, 1, 1, 0])
    values, curve = isotonic(x, y)
    assert (values.tolist(), curve) == ([1, 2, 3], pytest.approx([0.5, 2 / 3, 2 / 3]))
    assert first_reached(x, y, 0.6) == 2
    assert first_reached(x, y, 0.9) is None


def test_the_threshold_is_near_the_truth_and_its_interval_mostly_holds_it() -> None:
    trials = times(40, 400)
    found = [propose_threshold(logistic_truth(200, seed), draws=200) for seed in range(trials)]
    assert all(each.proposed for each in found)
    points = np.array([each.threshold.value for each in found], dtype=float)
    assert abs(points.mean() - TRUTH) < 0.012
    inside = [
        each.threshold.interval is not None
        and each.threshold.interval.lower <= TRUTH <= each.threshold.interval.upper
        for each in found
    ]
    assert np.mean(inside) > 0.86


def test_the_shape_check_finds_a_curve_that_is_no_logistic_one() -> None:
    random = np.random.default_rng(1)
    x = random.uniform(0, 1, 600)
    true = np.where(x < 0.3, 0.05, np.where(x < 0.9, 0.65, 0.98))
    found = propose_threshold(judged(x, (random.random(600) < true).astype(float)))
    assert found.shape_agrees is False
    assert propose_threshold(logistic_truth(600, 1)).shape_agrees is True


def test_too_few_or_one_sided_items_are_refused() -> None:
    refused = propose_threshold(logistic_truth(80, 1))
    assert not refused.proposed
    assert "80 rated items with a composite are too few: 100 are needed, 20 more" in refused.reason
    assert refused.threshold.value is None
    given = logistic_truth(200, 1)
    refused = propose_threshold(replace(given, acceptable=np.ones(200)))
    assert "200 outputs are acceptable to most raters and 0 are not" in refused.reason
    given = logistic_truth(200, 1)
    assert "equal" in propose_threshold(replace(given, composite=np.full(200, 0.5))).reason
    missing = propose_threshold(replace(given, composite=np.full(200, np.nan)))
    assert "0 rated items with a composite" in missing.reason


def test_slopes_and_thresholds_out_of_range_are_refused() -> None:
    refused = propose_threshold(logistic_truth(300, 1, 6.0, -10.0))
    assert not refused.proposed
    assert refused.reason.startswith("a higher composite goes with worse ratings")
    random = np.random.default_rng(4)
    x = random.uniform(0, 1, 200)
    refused = propose_threshold(judged(x, (random.random(200) < 0.6 + 0.05 * x).astype(float)))
    assert not refused.proposed
    assert refused.threshold.interval is None
    assert (
        "hardly tells" in refused.reason or "wrong" in refused.reason or "worse" in refused.reason
    )
    refused = propose_threshold(logistic_truth(400, 2, -4.4, 3.0))
    assert not refused.proposed
    assert "outside of the composites that were rated" in refused.reason


def test_separated_scores_have_no_curve_and_a_gap() -> None:
    x = np.linspace(0, 1, 200)
    refused = propose_threshold(judged(x, (x > 0.6).astype(float)))
    assert "any line between them fits as well" in refused.reason
    near = propose_threshold(judged(x, ((x > 0.6) ^ (np.arange(200) == 115)).astype(float)))
    assert near.threshold.value == pytest.approx(0.6, abs=0.03)
    a, b = logistic(np.array([0.1, 0.2, 0.7, 0.9]), np.array([0.0, 0, 1, 1]), once(4))
    assert b[0] > 0
    assert 0.2 < -a[0] / b[0] < 0.7


def test_planted_case_gets_a_threshold_and_decisions() -> None:
    line = tier_line()
    assert line == 0.70
    x = np.array([line, 0.9, 0.69, 0.2, 0.8, np.nan])
    share = np.array([1.0, 0.5, 0.75, 0.0, 2 / 3, 1.0])
    found = decisions(judged(x, share))
    assert (found.both, found.score_only, found.people_only, found.neither) == (2, 1, 1, 1)
    assert found.agreement == pytest.approx(3 / 5)
    assert propose_threshold(made(300, 1, noise=0.1)).proposed


PLANTED = (0.05, 0.05, 0.1, 0.8)


"""What people look at: words left in the source language, and little else."""


@pytest.mark.parametrize("seed", first(6, range(40)))
def test_the_solver_finds_what_scipy_finds(seed: int) -> None:
    random = np.random.default_rng(seed)
    size = int(random.integers(2, 10))
    root = random.normal(size=(size + int(random.integers(0, 3)), size))
    quadratic = root.T @ root + 1e-3 * np.eye(size)
    linear = random.normal(size=size) * random.choice([0.01, 1, 100])
    start = random.dirichlet(np.ones(size))
    if seed % 3 == 0:
        start[0] = 0.0
        start /= start.sum()
    found = simplex_minimum(quadratic, linear, start)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1, abs=1e-12)

    def cost(w: np.ndarray) -> float:
        return float(0.5 * w @ quadratic @ w - linear @ w)

    oracle = optimize.minimize(
        cost, start, jac=lambda w: quadratic @ w - linear, method="SLSQP", bounds=[(0, 1)] * size,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1, "jac": lambda w: np.ones(size)},
        options={"maxiter": 500, "ftol": 1e-14},
    )  # fmt: skip
    assert cost(found) <= cost(oracle.x) + 1e-8 * max(1, abs(cost(oracle.x)))
    slope = quadratic @ found - linear
    assert (slope >= slope[found > 0].max() - 1e-6 * np.abs(slope).max()).all()


def test_weights_of_too_few_items_are_refused() -> None:
    refused = propose_weights(made(80, 1, PLANTED), PROFILE)
    assert not refused.proposed
    assert refused.weights is None
    assert "80 rated items are too few: 150 are needed, 70 more" in refused.reason
    assert not propose_weights(made(75, 1, PLANTED, systems=4), PROFILE).proposed
    assert propose_weights(made(LEAST_ITEMS, 1, PLANTED), PROFILE).strength is not None


@pytest.mark.parametrize("seed", first(1, range(3)))
def test_300_items_with_a_planted_truth_make_a_proposal(seed: int) -> None:
    found = propose_weights(made(300, seed, PLANTED), PROFILE)
    assert found.proposed, found.reason
    assert sum(found.weights.values()) == pytest.approx(1)
    assert min(found.weights.values()) >= 0
    assert found.weights["code_switching_rate"] > 0.5 > found.specification["code_switching_rate"]
    assert found.gain.interval.lower > 0
    assert found == propose_weights(made(300, seed, PLANTED), PROFILE)


def test_the_proposal_does_not_depend_on_the_scale_of_the_ratings() -> None:
    given = made(200, 4, PLANTED)
    shifted = replace(given, people=0.3 + 0.2 * given.people)
    first, second = propose_weights(given, PROFILE), propose_weights(shifted, PROFILE)
    assert first.weights is not None
    assert second.weights == pytest.approx(first.weights, abs=1e-9)


@pytest.mark.thorough
def test_where_people_rate_by_the_specification_its_weights_are_kept() -> None:
    """A proposal that is no better would be made in one of forty cases; few are made."""
    trials = times(30, 400)
    made_ones = sum(
        propose_weights(made(200, seed, noise=0.15), PROFILE, draws=300).proposed
        for seed in range(trials)
    )
    assert made_ones / trials <= 0.05


def test_proposed_weights_are_better_on_new_ratings() -> None:
    found = propose_weights(made(300, 7, PLANTED), PROFILE)
    new = made(2000, 8, PLANTED)
    values = [new.metrics[id_] for id_ in METRICS]
    normal = np.stack([values[0], values[1] / 100, values[2], 1 - values[3]], axis=1)
    mixed = normal @ np.array([found.weights[id_] for id_ in METRICS])
    before = np.corrcoef(composites(dict(new.metrics), PROFILE), new.people)[0, 1]
    assert np.corrcoef(mixed, new.people)[0, 1] > before + 0.05


def test_missing_values_are_re_normalised_as_the_composite_does() -> None:
    given = made(200, 5, PLANTED)
    holed = {**given.metrics, "semantic_score": given.metrics["semantic_score"].copy()}
    holed["semantic_score"][::3] = np.nan
    holed["terminology_adherence"] = np.full(200, np.nan)
    holed["chrf_plus_plus"] = np.where(np.arange(200) == 7, np.nan, given.metrics["chrf_plus_plus"])
    found = propose_weights(replace(given, metrics=holed), PROFILE)
    assert set(found.specification) == set(METRICS)
    assert found.tau_specification is not None


def test_falling_or_equal_ratings_are_no_ground_for_weights() -> None:
    given = made(200, 6)
    refused = propose_weights(replace(given, people=1 - given.people), PROFILE)
    assert not refused.proposed
    assert "does not rise with the ratings" in refused.reason
    given = made(200, 6)
    equal = propose_weights(replace(given, people=np.ones(200)), PROFILE)
    assert not equal.proposed
    lone = replace(given, metrics={"chrf_plus_plus": given.metrics["chrf_plus_plus"]})
    assert "1 of the profile's metrics have values" in propose_weights(lone, PROFILE).reason
    assert "profile A" in propose_weights(given, None).reason
