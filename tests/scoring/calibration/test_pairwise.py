"""Agreement of two rows, of pairs and of systems: golden values, and scipy's numbers."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.calibration import measures
from scoring.calibration.judgements import estimate, once, row_weights
from scoring.calibration.measures import (
    auc,
    calibrate_ties,
    kendall_tau_b,
    matrix,
    pairwise_accuracy,
    pearson,
    soft_pairwise_accuracy,
    spearman,
)
from scoring.core.metric import FloatArray
from tests.review.thorough import examples, times
from tests.scoring.late import stats

GOLD, METRIC, APART = np.array([1.0, 2, 2, 3, 4]), np.array([2, 1, 1.5, 5, 3]), np.arange(5)


def test_accuracy_and_tie_calibration_have_the_golden_values() -> None:
    for epsilon, accuracy in ((0.0, 0.6), (2.0, 0.4), (0.5, 0.7)):
        found = pairwise_accuracy(GOLD, METRIC, APART, epsilon, once(5))[0]
        assert found == pytest.approx(accuracy, abs=1e-12)
    first = calibrate_ties(GOLD, METRIC, APART)
    assert (first.accuracy, first.epsilon) == (pytest.approx(0.7), 0.5)
    second = calibrate_ties(np.array([1.0, 1, 1, 4]), np.array([0.0, 2, 6, 8]), np.arange(4))
    assert (second.accuracy, second.epsilon) == (pytest.approx(4 / 6), 4.0)


def by_hand(people: FloatArray, metric: FloatArray, items: FloatArray, epsilon: float) -> float:
    """Look at one pair after the other; items are averaged where one has several rows."""
    within = len(set(items)) < len(items)
    shares: dict[float, list[bool]] = {}
    for i, j in combinations(range(len(people)), 2):
        if within and items[i] != items[j]:
            continue
        said = 0.0 if abs(metric[i] - metric[j]) <= epsilon else np.sign(metric[i] - metric[j])
        key = items[i] if within else 0
        shares.setdefault(key, []).append(bool(said == np.sign(people[i] - people[j])))
    return float(np.mean([np.mean(share) for share in shares.values()]))


numbers = st.integers(0, 6).map(float)


@examples(15, 80)
@given(st.lists(st.tuples(numbers, numbers, st.integers(0, 3)), min_size=2), st.booleans())
def test_best_epsilon_is_found(rows: list[tuple[float, float, int]], grouped: bool) -> None:
    people, metric, items = np.array(rows, dtype=float).T
    items = np.unique(items, return_inverse=True)[1] if grouped else np.arange(len(rows))
    found = calibrate_ties(people, metric, items)
    assert found is not None or grouped
    if found is None:
        return
    tried = {e: by_hand(people, metric, items, e) for e in range(7)}  # type: ignore[arg-type]
    assert found.accuracy == pytest.approx(max(tried.values()), abs=1e-12)
    as_good = [e for e, each in tried.items() if each == pytest.approx(found.accuracy, abs=1e-12)]
    assert found.epsilon == min(as_good)
    at = pairwise_accuracy(people, metric, items, found.epsilon, once(len(people)))[0]
    assert at == pytest.approx(found.accuracy, abs=1e-12)


def test_a_draw_is_the_accuracy_of_the_items_that_it_takes() -> None:
    random = np.random.default_rng(2)
    people, metric = random.integers(0, 4, 40) / 3, random.normal(size=40)
    across = row_weights(np.arange(40), 4, seed=1)
    drawn = pairwise_accuracy(people, metric, np.arange(40), 0.3, across)
    for found, weights in zip(drawn, across, strict=True):
        rows = np.repeat(np.arange(40), weights.astype(int))
        pairs = [(i, j) for i, j in combinations(rows, 2) if i != j]
        right = [by_hand(people[[i, j]], metric[[i, j]], np.array([0, 1]), 0.3) for i, j in pairs]
        assert found == pytest.approx(np.mean(right), abs=1e-9)
    items = np.arange(40) % 20
    within = row_weights(items, 4, seed=1)
    twins = [[i, i + 20] for i in range(20)]
    accuracies = [by_hand(people[two], metric[two], np.array([0, 1]), 0.3) for two in twins]
    expected = within[:, :20] @ accuracies / 20
    assert pairwise_accuracy(people, metric, items, 0.3, within) == pytest.approx(expected)


def test_epsilon_of_many_outputs_comes_from_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(3)
    people = random.integers(0, 4, 900).astype(float)
    metric = people + random.normal(0, 1, 900)
    whole = calibrate_ties(people, metric, np.arange(900))
    monkeypatch.setattr(measures, "MOST_PAIRED", 300)
    sample = calibrate_ties(people, metric, np.arange(900))
    assert sample == calibrate_ties(people, metric, np.arange(900))
    assert sample.accuracy == pytest.approx(whole.accuracy, abs=0.05)


PEOPLE, SCORES = np.array([[1.0, 2, 3], [2, 3, 4]]), np.array([[2.0, 2, 4], [1, 3, 5]])


def test_soft_pairwise_accuracy_has_its_golden_values() -> None:
    assert soft_pairwise_accuracy(PEOPLE, SCORES, ties=1.0) == pytest.approx(0.875, abs=1e-12)
    assert soft_pairwise_accuracy(PEOPLE, 10 * PEOPLE) == 1.0
    assert soft_pairwise_accuracy(PEOPLE[:1], SCORES[:1]) is None
    assert kendall_tau_b(GOLD, METRIC, once(5))[0] == pytest.approx(0.316227766, abs=1e-9)

    # ties counted half, by hand: people 1/16 of 1, the metric 1/8 and half of 3/8, so 1 - 1/4
    assert soft_pairwise_accuracy(PEOPLE, SCORES) == pytest.approx(0.75, abs=1e-12)
    turned = soft_pairwise_accuracy(PEOPLE[::-1], SCORES[::-1])
    assert turned == pytest.approx(0.75, abs=1e-12)
    assert soft_pairwise_accuracy(PEOPLE, np.ones((2, 3))) == pytest.approx(1 - 7 / 16)


def test_drawn_exchanges_come_near_to_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(8)
    people = random.normal([[0.0], [0.3], [0.1]], 1, (3, 14))
    metric = people + random.normal(0, 1, (3, 14))
    exact = soft_pairwise_accuracy(people, metric)
    monkeypatch.setattr(measures, "EXACT_ITEMS", 0)
    drawn = soft_pairwise_accuracy(people, metric)
    assert exact is not None
    assert drawn == pytest.approx(exact, abs=0.02)
    assert drawn == soft_pairwise_accuracy(people, metric)


def test_pairs_of_systems_are_compared_on_the_items_that_both_have() -> None:
    rows = [(s, i) for s in range(2) for i in range(3)]
    system, item = np.array(rows).T
    full = matrix(PEOPLE.ravel(), system, item), matrix(SCORES.ravel(), system, item)
    more = [np.hstack([each, [[5.0], [np.nan]]]) for each in full]
    assert soft_pairwise_accuracy(*more) == soft_pairwise_accuracy(*full)
    apart = matrix(np.array([1.0, 2.0]), np.array([0, 1]), np.array([0, 1]))
    assert soft_pairwise_accuracy(apart, apart) is None


Coefficient = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
ORACLES: list[tuple[Coefficient, str]] = [
    (kendall_tau_b, "kendalltau"), (pearson, "pearsonr"), (spearman, "spearmanr"),
]  # fmt: skip
"""Ours, and scipy's by its name."""


def test_every_draw_is_scipy_s_number_of_the_repeated_rows() -> None:
    for steps in [4, 1000]:
        for ours, oracle in ORACLES:
            random = np.random.default_rng(steps)
            x = random.integers(0, steps, 600) / 7
            y = np.round(x + random.normal(0, steps / 9, 600))
            weights = row_weights(np.arange(600) // 2, 5, seed=3)
            for found, row in zip(ours(x, y, weights), weights.astype(int), strict=True):
                expected = getattr(stats, oracle)(np.repeat(x, row), np.repeat(y, row))[0]
                assert found == pytest.approx(expected, abs=1e-10)


@examples(20, 60)
@given(st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=2, max_size=25))
def test_short_rows_with_ties_agree_with_scipy(pairs: list[tuple[int, int]]) -> None:
    x, y = np.array(pairs, dtype=float).T
    defined = len(set(x)) > 1 and len(set(y)) > 1
    for ours, oracle in ORACLES:
        found = ours(x, y, once(len(x)))[0]
        if not defined:
            assert np.isnan(found)
        else:
            assert found == pytest.approx(getattr(stats, oracle)(x, y)[0], abs=1e-10)
        for value in (0.1, 1 / 3, 1e300, -0.7):  # a constant has none, whatever its digits
            assert np.isnan(ours(np.full(30, value), np.arange(30.0), once(30))[0])


def test_auc_is_the_rank_sum_of_the_ratings_one_by_one() -> None:
    random = np.random.default_rng(5)
    x = random.integers(0, 12, 80).astype(float)
    good = random.integers(0, 4, 80)  # of three raters
    cases = np.repeat(x, 3)
    right = np.concatenate([np.arange(3) < each for each in good])
    rank_sum = stats.mannwhitneyu(cases[right], cases[~right]).statistic
    expected = rank_sum / (right.sum() * (~right).sum())
    assert auc(x, good / 3, once(80))[0] == pytest.approx(expected, abs=1e-12)
    assert np.isnan(auc(x, np.ones(80), once(80))[0])


def test_draws_take_whole_items_and_as_many_as_there_are() -> None:
    items = np.array([0, 0, 1, 2, 2, 2])
    weights = row_weights(items, 200, seed=1)
    assert (weights[:, 0] == weights[:, 1]).all()
    assert (weights[:, 3] == weights[:, 5]).all()
    assert (weights[:, [0, 2, 3]].sum(axis=1) == 3).all()
    assert (row_weights(items, 200, seed=1) == weights).all()


def test_an_interval_holds_its_point_and_is_withheld_where_few_draws_have_a_number() -> None:
    inside = estimate(0.9, np.linspace(0, 0.5, 101), seed=1)
    assert inside.interval.upper == 0.9
    assert estimate(0.5, np.r_[np.full(20, np.nan), np.zeros(80)], seed=1).interval is None
    assert estimate(float("nan"), np.zeros(5), seed=1).value is None


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    for ours, oracle in ORACLES:
        random = np.random.default_rng(11)
        big = random.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], 40_000)
        truth = getattr(stats, oracle)(*big.T)[0]
        inside = 0
        trials = times(20, 120)
        for trial in range(trials):
            x, y = random.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], 60).T
            drawn = ours(x, y, row_weights(np.arange(60), 300, seed=trial))
            interval = estimate(float(ours(x, y, once(60))[0]), drawn, seed=trial).interval
            inside += interval.lower <= truth <= interval.upper
        assert inside / trials >= 0.85
