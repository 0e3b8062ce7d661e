"""Quantiles and bounds against scipy and against published tables."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from review.verdict.panel.estimate import (
    beta_probability,
    beta_quantile,
    clopper_pearson,
    student_quantile,
    wilson_bounds,
)

SHAPES = (0.5, 1, 2.5, 8, 41, 200, 3000)
Z95 = 1.959963984540054


@pytest.mark.parametrize("a", SHAPES)
@pytest.mark.parametrize("b", SHAPES)
def test_beta_quantiles_are_scipy_s(a: float, b: float) -> None:
    for probability in (1e-6, 0.025, 0.05, 0.5, 0.9, 0.95, 0.999999):
        expected = float(stats.beta.ppf(probability, a, b))
        assert beta_quantile(probability, a, b) == pytest.approx(expected, rel=1e-11)


@given(st.floats(0.1, 500), st.floats(0.1, 500), st.floats(0.001, 0.999))
def test_beta_probabilities_are_scipy_s(a: float, b: float, x: float) -> None:
    expected = float(stats.beta.cdf(x, a, b))
    assert beta_probability(x, a, b) == pytest.approx(expected, rel=1e-10, abs=1e-14)


@pytest.mark.parametrize("df", [1, 1.3, 2, 2.7, 4, 10, 78.6779, 400, 10_000])
def test_student_quantiles_are_scipy_s_for_any_real_df(df: float) -> None:
    for probability in (0.5, 0.6, 0.9, 0.95, 0.975, 0.99999):
        expected = float(stats.t.ppf(probability, df))
        assert student_quantile(probability, df) == pytest.approx(expected, rel=3e-11, abs=1e-12)


@given(st.floats(0.3, 3000), st.floats(0.3, 3000), st.floats(0.001, 0.999))
def test_a_quantile_undoes_its_probability(a: float, b: float, probability: float) -> None:
    x = beta_quantile(probability, a, b)
    if 1e-300 < x < 1 - 1e-12:
        assert beta_probability(x, a, b) == pytest.approx(probability, rel=1e-8)


CLOPPER_PEARSON = [
    (81, 263, 0.252737, 0.367622),
    (15, 148, 0.057844, 0.161650),
    (0, 20, 0.0, 0.168433),
    (1, 29, 0.000873, 0.177644),
]
WILSON = [
    (81, 263, 0.255289, 0.366210),
    (15, 148, 0.062386, 0.160487),
    (0, 20, 0.0, 0.161125),
    (1, 29, 0.006113, 0.171755),
]


@pytest.mark.parametrize(("events", "total", "lower", "upper"), CLOPPER_PEARSON)
def test_clopper_pearson_is_the_published_one(
    events: int, total: int, lower: float, upper: float
) -> None:
    assert clopper_pearson(events, total, 0.975) == pytest.approx((lower, upper), abs=6e-7)


@pytest.mark.parametrize(("events", "total", "lower", "upper"), WILSON)
def test_wilson_is_the_published_one(events: int, total: int, lower: float, upper: float) -> None:
    found = wilson_bounds(events / total, total, Z95)
    assert found == pytest.approx((lower, upper), abs=6e-7)


def test_the_published_t_bound_follows_from_its_parts() -> None:
    t = student_quantile(0.95, 78.6779)
    assert t == pytest.approx(1.66445, abs=5e-6)
    assert wilson_bounds(0.865, 345.1756, t)[0] == pytest.approx(0.831463, abs=6e-7)


@pytest.mark.parametrize("items", [20, 50, 100])
def test_a_flawless_method_is_bounded_by_the_root(items: int) -> None:
    lower, upper = clopper_pearson(items, items, 0.95)
    assert (lower, upper) == (pytest.approx(0.05 ** (1 / items), rel=1e-12), 1.0)
    assert clopper_pearson(0, items, 0.95) == pytest.approx((0.0, 1 - 0.05 ** (1 / items)))


PASSED = {30: 26, 40: 34, 50: 41, 60: 49, 80: 64, 100: 78, 150: 115, 200: 152}


@pytest.mark.parametrize("items", PASSED)
def test_the_counts_that_pass_0_70_are_the_known_ones(items: int) -> None:
    reached = [k for k in range(items + 1) if clopper_pearson(k, items, 0.95)[0] >= 0.70]
    assert reached[0] == PASSED[items]


@given(st.floats(0, 1), st.floats(0.5, 1e6), st.floats(0, 60))
def test_wilson_bounds_hold_the_share_and_stay_shares(
    share: float, total: float, quantile: float
) -> None:
    lower, upper = wilson_bounds(share, total, quantile)
    assert 0 <= lower <= upper <= 1
    assert lower <= share + 1e-12
    assert share - 1e-12 <= upper
    assert math.isfinite(lower + upper)
