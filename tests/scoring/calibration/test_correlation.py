"""Agreement of two rows: golden values, and scipy's numbers for every weighting."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from scoring.calibration.measures import auc, kendall_tau_b, pearson, spearman
from scoring.calibration.resampling import estimate, once, row_weights
from scoring.core.metric import FloatArray

Coefficient = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
ORACLES: list[tuple[Coefficient, Callable[..., tuple[float, float]]]] = [
    (kendall_tau_b, stats.kendalltau),
    (pearson, stats.pearsonr),
    (spearman, stats.spearmanr),
]
NAMES = ["kendall", "pearson", "spearman"]


def test_tau_b_has_the_golden_value() -> None:
    gold, metric = np.array([1.0, 2, 2, 3, 4]), np.array([2, 1, 1.5, 5, 3])
    assert kendall_tau_b(gold, metric, once(5))[0] == pytest.approx(0.316227766, abs=1e-9)


@pytest.mark.parametrize(("ours", "oracle"), ORACLES, ids=NAMES)
@pytest.mark.parametrize("steps", [4, 1000])
def test_every_draw_is_scipy_s_number_of_the_repeated_rows(
    ours: Coefficient, oracle: Callable[..., tuple[float, float]], steps: int
) -> None:
    random = np.random.default_rng(steps)
    x = random.integers(0, steps, 600) / 7
    y = np.round(x + random.normal(0, steps / 9, 600))
    weights = row_weights(np.arange(600) // 2, 5, seed=3)
    for found, row in zip(ours(x, y, weights), weights.astype(int), strict=True):
        expected = oracle(np.repeat(x, row), np.repeat(y, row))[0]
        assert found == pytest.approx(expected, abs=1e-10)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=2, max_size=25))
def test_short_rows_with_many_ties_agree_with_scipy_or_have_no_value(
    pairs: list[tuple[int, int]],
) -> None:
    x, y = np.array(pairs, dtype=float).T
    defined = len(set(x)) > 1 and len(set(y)) > 1
    for ours, oracle in ORACLES:
        found = ours(x, y, once(len(x)))[0]
        if not defined:
            assert np.isnan(found)
        else:
            assert found == pytest.approx(oracle(x, y)[0], abs=1e-10)


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e300, -0.7])
def test_a_constant_has_no_correlation_whatever_its_digits(value: float) -> None:
    x, y = np.full(30, value), np.arange(30.0)
    for ours, _ in ORACLES:
        assert np.isnan(ours(x, y, once(30))[0])


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
    assert inside.interval is not None
    assert inside.interval.upper == 0.9
    assert estimate(0.5, np.r_[np.full(20, np.nan), np.zeros(80)], seed=1).interval is None
    assert estimate(float("nan"), np.zeros(5), seed=1).value is None


@pytest.mark.parametrize(("ours", "oracle"), ORACLES, ids=NAMES)
def test_the_interval_covers_the_truth_about_as_often_as_it_says(
    ours: Coefficient, oracle: Callable[..., tuple[float, float]]
) -> None:
    random = np.random.default_rng(11)
    big = random.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], 40_000)
    truth = oracle(*big.T)[0]
    inside = 0
    for trial in range(120):
        x, y = random.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], 60).T
        drawn = ours(x, y, row_weights(np.arange(60), 300, seed=trial))
        interval = estimate(float(ours(x, y, once(60))[0]), drawn, seed=trial).interval
        assert interval is not None
        inside += interval.lower <= truth <= interval.upper
    assert inside / 120 > 0.87
