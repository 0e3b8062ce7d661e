"""Measures, the threshold and the weights against scipy, where ratings follow a planted truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from scoring.calibration import calibration
from scoring.calibration.calibration import calibrate, system_shares
from scoring.calibration.judgements import Judgements, once, row_weights
from scoring.calibration.measures import measures
from scoring.calibration.threshold import decisions, first_reached, isotonic, logistic, propose_threshold, tier_line
from scoring.calibration.weights import LEAST_ITEMS, propose_weights, simplex_minimum
from scoring.core.inventory import composites
from scoring.core.metric import FloatArray, oriented
from scoring.core.specification import specification
from tests.review.thorough import first, times
from tests.scoring.late import optimize, stats

PROFILE = "B"
METRICS = ("semantic_score", "chrf_plus_plus", "equivalent_match_rate", "code_switching_rate")
BETTER = {id_: specification().metrics[id_].info.better for id_ in METRICS}


def made(
    items: int, seed: int, truth: Sequence[float] | None = None, *, noise: float = 0.05, systems: int = 1
) -> Judgements:
    """Make ratings that follow a mixture of the metrics; the specification's own where none is given."""
    random = np.random.default_rng(seed)
    rows = items * systems
    skill = random.normal(0.6, 0.15, rows)
    semantic = np.clip(skill + random.normal(0, 0.15, rows), 0, 1)
    chrf = 100 * np.clip(skill + random.normal(0, 0.15, rows), 0, 1)
    equivalent = (skill + random.normal(0, 0.15, rows) > 0.75).astype(float)
    switching = np.clip(1 - skill + random.normal(0, 0.15, rows), 0, 1)
    values: dict[str, FloatArray] = dict(zip(METRICS, (semantic, chrf, equivalent, switching), strict=True))
    mixed = composites(values, PROFILE)
    felt = mixed if truth is None else mixture(values, truth)
    latent = felt[:, None] + random.normal(0, noise, (rows, 3))
    ranks = np.clip(np.floor((latent - 0.5) / 0.12 + 2), 0, 3)
    return Judgements(
        items=tuple(str(row % items) for row in range(rows)),
        systems=tuple(f"system {row // items}" for row in range(rows)),
        people=ranks.mean(axis=1) / 3, acceptable=(ranks >= 2).mean(axis=1), composite=mixed,
        metrics=values, better=BETTER, length=random.integers(10, 100, rows).astype(float),
    )  # fmt: skip


def mixture(values: Mapping[str, FloatArray], weights: Sequence[float]) -> FloatArray:
    semantic, chrf, equivalent, switching = (values[id_] for id_ in METRICS)
    return np.stack([semantic, chrf / 100, equivalent, 1 - switching], axis=1) @ np.array(weights)  # type: ignore[no-any-return]


PLANTED = (0.05, 0.05, 0.1, 0.8)
"""What people look at: words left in the source language, and little else."""


def test_the_sentinel_stands_last_and_never_falls_with_the_ratings() -> None:
    given = made(120, 1, PLANTED)
    for length in (given.length, -100 * given.people):
        rows = measures(replace(given, length=length), draws=20)
        assert rows[-1].metric == "length_only"
        assert rows[-1].tau_b.value is not None
        assert rows[-1].tau_b.value >= 0
        assert rows[-1].beats_length is None


def test_a_metric_that_is_the_length_does_not_beat_it_and_a_good_one_does() -> None:
    given = made(200, 2, PLANTED)
    same = replace(given, metrics={**given.metrics, "chrf_plus_plus": given.length})
    rows = {row.metric: row for row in measures(same, draws=100)}
    assert rows["chrf_plus_plus"].beats_length is False
    assert rows["code_switching_rate"].beats_length is True
    assert rows["code_switching_rate"].tau_b.value == pytest.approx(
        -stats.kendalltau(given.metrics["code_switching_rate"], given.people)[0]
    )


def test_a_metric_is_measured_where_it_has_values_and_left_out_without_any() -> None:
    given = made(100, 3, PLANTED, systems=2)
    half = np.where(np.arange(200) % 3 == 0, np.nan, given.metrics["semantic_score"])
    nothing = np.full(200, np.nan)
    holed = {**given.metrics, "semantic_score": half, "chrf_plus_plus": nothing}
    rows = {row.metric: row for row in measures(replace(given, metrics=holed), draws=50)}
    assert set(rows) == {"composite", *METRICS, "length_only"} - {"chrf_plus_plus"}
    seen = ~np.isnan(half)
    assert rows["semantic_score"].outputs == seen.sum()
    assert rows["semantic_score"].tau_b.value == pytest.approx(stats.kendalltau(half[seen], given.people[seen])[0])


def test_draws_without_an_output_that_a_metric_has_are_left_out_of_it() -> None:
    given = made(3, 5)
    one_less = {**given.metrics, "semantic_score": np.array([np.nan, 0.2, 0.8])}
    rows = {row.metric: row for row in measures(replace(given, metrics=one_less), draws=200)}
    assert rows["semantic_score"].outputs == 2
    assert rows["semantic_score"].pearson.value == pytest.approx(
        np.sign(given.people[2] - given.people[1]), nan_ok=True
    )


def test_few_or_equal_ratings_give_a_table_and_no_proposal() -> None:
    for rows in (1, 2, 3):
        found = calibrate(made(rows, 5), PROFILE, draws=20)
        assert (found.items, found.outputs) == (rows, rows)
        assert not found.weights.proposed
        assert not found.threshold.proposed
    given = made(160, 4)
    equal = replace(given, people=np.ones(160), acceptable=np.ones(160))
    found = calibrate(equal, PROFILE, draws=50)
    assert found.measures[0].tau_b.value is None
    assert found.measures[0].auc.value is None
    assert not found.weights.proposed
    assert not found.threshold.proposed


def test_same_seed_gives_the_same_report(monkeypatch: pytest.MonkeyPatch) -> None:
    given = made(60, 6, systems=2)
    first, second = system_shares(given, draws=100)
    assert (first.system, second.outputs) == ("system 0", 60)
    assert first.acceptable.value == pytest.approx(given.acceptable[:60].mean())
    assert first.acceptable.interval.lower < first.acceptable.interval.upper
    assert second.composite == pytest.approx(given.composite[60:].mean())
    given = made(160, 7, PLANTED)
    once = calibrate(given, PROFILE, draws=20)
    assert once == calibrate(given, PROFILE, draws=20)
    assert once != calibrate(given, PROFILE, draws=20, seed=2)
    monkeypatch.setattr(calibration, "MOST_OUTPUTS", 10)
    with pytest.raises(ValueError, match="11 rated outputs; from 1 to 10"):
        calibrate(made(11, 1), PROFILE)


def test_values_are_turned_so_that_more_is_better() -> None:
    values = np.array([0.5, 1.0, 2.0])
    assert oriented(values, "higher").tolist() == [0.5, 1, 2]
    assert oriented(values, "lower").tolist() == [-0.5, -1, -2]
    assert oriented(values, "neither").tolist() == [-0.5, 0, -1]


def judged(x: FloatArray, share: FloatArray) -> Judgements:
    rows = len(x)
    return Judgements(
        items=tuple(map(str, range(rows))), systems=("one",) * rows, people=share, acceptable=share,
        composite=x, metrics={}, better={}, length=np.ones(rows),
    )  # fmt: skip


def logistic_truth(items: int, seed: int, a: float = -6.0, b: float = 10.0) -> Judgements:
    random = np.random.default_rng(seed)
    x = random.uniform(0.2, 1.0, items)
    return judged(x, (random.random(items) < 1 / (1 + np.exp(-(a + b * x)))).astype(float))


TRUTH = (np.log(0.7 / 0.3) + 6) / 10


@pytest.mark.parametrize("seed", first(1, range(8)))
def test_the_curve_is_the_maximum_that_scipy_finds(seed: int) -> None:
    random = np.random.default_rng(seed)
    x = random.normal(50, 12, 150)
    felt = 1 / (1 + np.exp(-(x - 48) / 9)) + random.normal(0, 0.3, 150)
    share = np.round(np.clip(felt, 0, 1) * 4) / 4
    weights = row_weights(np.arange(150), 2, seed=seed)
    for a, b, row in zip(*logistic(x, share, weights), weights, strict=True):

        def loss(p: FloatArray, row: FloatArray = row) -> float:
            told = p[0] + p[1] * (x - 50) / 10
            return float((row * (np.logaddexp(0, told) - share * told)).sum())

        best = optimize.minimize(loss, np.zeros(2), method="BFGS", options={"gtol": 1e-9})
        assert b == pytest.approx(best.x[1] / 10, abs=1e-6)
        assert a == pytest.approx(best.x[0] - 5 * best.x[1], abs=1e-5)


def test_the_rising_curve_is_scipy_s_and_equal_scores_share_one_step() -> None:
    for seed in range(times(2, 10)):
        random = np.random.default_rng(seed)
        x = np.unique(random.normal(size=70))
        y = x + random.normal(0, 1, len(x))
        assert isotonic(x, y)[1] == pytest.approx(optimize.isotonic_regression(y).x, abs=1e-12)
    x, y = np.array([1.0, 1, 2, 2, 3]), np.array([0.0, 1, 1, 1, 0])
    values, curve = isotonic(x, y)
    assert (values.tolist(), curve) == ([1, 2, 3], pytest.approx([0.5, 2 / 3, 2 / 3]))
    assert first_reached(x, y, 0.6) == 2
    assert first_reached(x, y, 0.9) is None


def test_the_threshold_is_near_the_truth_and_its_interval_mostly_holds_it() -> None:
    trials = times(20, 400)
    found = [propose_threshold(logistic_truth(200, seed), draws=200) for seed in range(trials)]
    assert all(each.proposed for each in found)
    points = np.array([each.threshold.value for each in found], dtype=float)
    assert abs(points.mean() - TRUTH) < times(20, 12) / 1000
    ends = [each.threshold.interval for each in found]
    assert np.mean([each.lower <= TRUTH <= each.upper for each in ends]) >= 0.85


def test_the_shape_check_finds_a_curve_that_is_no_logistic_one() -> None:
    random = np.random.default_rng(1)
    x = random.uniform(0, 1, 600)
    true = np.where(x < 0.3, 0.05, np.where(x < 0.9, 0.65, 0.98))
    found = propose_threshold(judged(x, (random.random(600) < true).astype(float)), draws=200)
    assert found.shape_agrees is False
    assert propose_threshold(logistic_truth(600, 1), draws=200).shape_agrees is True


def test_too_few_or_one_sided_items_are_refused() -> None:
    refused = propose_threshold(logistic_truth(80, 1))
    assert not refused.proposed
    assert "80 rated items with a composite are too few: 100 are needed, 20 more" in refused.reason
    assert refused.threshold.value is None
    given = logistic_truth(200, 1)
    refused = propose_threshold(replace(given, acceptable=np.ones(200)))
    assert "200 outputs are acceptable to most raters and 0 are not" in refused.reason
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
    assert any(word in refused.reason for word in ("hardly tells", "wrong", "worse"))
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


@pytest.mark.parametrize("seed", first(4, range(40)))
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


@pytest.mark.parametrize("seed", first(1, range(7, 10)))
def test_300_items_with_a_planted_truth_make_a_better_proposal(seed: int) -> None:
    given = made(300, seed, PLANTED)
    found = propose_weights(given, PROFILE)
    assert found.proposed, found.reason
    assert sum(found.weights.values()) == pytest.approx(1)
    assert min(found.weights.values()) >= 0
    assert found.weights["code_switching_rate"] > 0.5 > found.specification["code_switching_rate"]
    assert found.gain.interval.lower > 0
    shifted = propose_weights(replace(given, people=0.3 + 0.2 * given.people), PROFILE)
    assert shifted.weights == pytest.approx(found.weights, abs=1e-9), "whatever the scale"
    new = made(2000, 8, PLANTED)
    before = np.corrcoef(composites(dict(new.metrics), PROFILE), new.people)[0, 1]
    mixed = mixture(new.metrics, [found.weights[id_] for id_ in METRICS])
    assert np.corrcoef(mixed, new.people)[0, 1] > before + 0.05


@pytest.mark.thorough
def test_where_people_rate_by_the_specification_its_weights_are_kept() -> None:
    """A proposal that is no better would be made in one of forty cases; few are made."""
    ratings = (made(200, seed, noise=0.15) for seed in range(400))
    made_ones = sum(propose_weights(each, PROFILE, draws=300).proposed for each in ratings)
    assert made_ones / 400 <= 0.05


def test_falling_or_equal_ratings_are_no_ground_for_weights() -> None:
    given = made(200, 6)
    refused = propose_weights(replace(given, people=1 - given.people), PROFILE)
    assert not refused.proposed
    assert "does not rise with the ratings" in refused.reason
    holed = {**given.metrics, "terminology_adherence": np.full(200, np.nan)}
    holed["semantic_score"] = np.where(np.arange(200) % 3, given.metrics["semantic_score"], np.nan)
    found = propose_weights(replace(given, metrics=holed), PROFILE)
    assert set(found.specification) == set(METRICS), "weighed without what has no value"
    assert found.tau_specification is not None
    equal = propose_weights(replace(given, people=np.ones(200)), PROFILE)
    assert not equal.proposed
    lone = replace(given, metrics={"chrf_plus_plus": given.metrics["chrf_plus_plus"]})
    assert "1 of the profile's metrics have values" in propose_weights(lone, PROFILE).reason
    assert "profile A" in propose_weights(given, None).reason
