"""Weights: the solver against scipy, refusals, a planted truth that is found, and a null that is kept."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize

from scoring.calibration.weights import LEAST_ITEMS, propose_weights, simplex_minimum
from scoring.core.composite import composites
from tests.review.thorough import times
from tests.scoring.calibration.made import METRICS, PROFILE, made

PLANTED = (0.05, 0.05, 0.1, 0.8)
"""What people look at: words left in the source language, and little else."""


@pytest.mark.parametrize("seed", range(40))
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


def test_80_items_are_refused_with_the_number_that_is_needed() -> None:
    refused = propose_weights(made(80, 1, PLANTED), PROFILE)
    assert not refused.proposed
    assert refused.weights is None
    assert "80 rated items are too few: 150 are needed, 70 more" in refused.reason


def test_many_outputs_of_few_items_are_refused_too() -> None:
    assert not propose_weights(made(75, 1, PLANTED, systems=4), PROFILE).proposed
    assert propose_weights(made(LEAST_ITEMS, 1, PLANTED), PROFILE).strength is not None


@pytest.mark.parametrize("seed", range(3))
def test_300_items_with_a_planted_truth_make_a_proposal(seed: int) -> None:
    found = propose_weights(made(300, seed, PLANTED), PROFILE)
    assert found.proposed, found.reason
    assert found.weights is not None
    assert sum(found.weights.values()) == pytest.approx(1)
    assert min(found.weights.values()) >= 0
    assert found.weights["code_switching_rate"] > 0.5 > found.specification["code_switching_rate"]
    assert found.gain.interval is not None
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
    assert found.weights is not None
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


def test_a_composite_that_falls_with_the_ratings_is_no_ground_for_weights() -> None:
    given = made(200, 6)
    refused = propose_weights(replace(given, people=1 - given.people), PROFILE)
    assert not refused.proposed
    assert "does not rise with the ratings" in refused.reason


def test_equal_ratings_a_lone_metric_and_mixed_profiles_are_refused_in_words() -> None:
    given = made(200, 6)
    equal = propose_weights(replace(given, people=np.ones(200)), PROFILE)
    assert not equal.proposed
    lone = replace(given, metrics={"chrf_plus_plus": given.metrics["chrf_plus_plus"]})
    assert "1 of the profile's metrics have values" in propose_weights(lone, PROFILE).reason
    assert "profile A" in propose_weights(given, None).reason
