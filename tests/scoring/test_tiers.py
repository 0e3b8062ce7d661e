"""Tiers: thresholds, what may be claimed, and the words for people."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.tiers import (
    Tier,
    claimable_tier,
    clears_floor,
    mostly_identical,
    quality_tier,
    reaches_floor,
    tier_in_words,
)


@pytest.mark.parametrize(
    ("value", "tier"),
    [
        (1.0, "fluent"), (0.85, "fluent"), (0.8499999, "deployable"), (0.70, "deployable"),
        (0.6999999, "functional"), (0.5, "functional"), (0.4999999, "emerging"), (0.3, "emerging"),
        (0.2999999, "baseline"), (0.0, "baseline"), (None, "unscored"), (float("nan"), "unscored"),
    ],
)  # fmt: skip
def test_thresholds(value: float | None, tier: str) -> None:
    assert quality_tier(value) == tier


@given(st.floats(0, 1), st.booleans())
def test_nothing_above_functional_is_claimed_without_review(value: float, at_floor: bool) -> None:
    claimed = claimable_tier(quality_tier(value), review_passed=False, at_floor=at_floor)
    assert claimed.rank <= Tier.FUNCTIONAL.rank
    assert claimed.rank <= quality_tier(value).rank


def test_review_lifts_the_cap_but_not_the_floor() -> None:
    assert claimable_tier(Tier.FLUENT, review_passed=True, at_floor=False) is Tier.FLUENT
    assert claimable_tier(Tier.FLUENT, review_passed=True, at_floor=True) is Tier.BASELINE
    assert claimable_tier(Tier.UNSCORED, review_passed=False, at_floor=True) is Tier.UNSCORED


def test_words_for_people() -> None:
    def words(value: float | None, claimable: Tier, **how: bool) -> str:
        return tier_in_words(value, claimable, **{"review_passed": False, "at_floor": False, **how})

    assert words(0.78, Tier.FUNCTIONAL) == "functional (automatic 0.78; review pending)"
    assert words(0.62, Tier.FUNCTIONAL) == "functional (automatic 0.62)"
    assert (
        words(0.78, Tier.DEPLOYABLE, review_passed=True) == "deployable (automatic 0.78; reviewed)"
    )
    assert (
        words(0.55, Tier.BASELINE, at_floor=True)
        == "baseline (automatic 0.55; not above the floor)"
    )
    assert words(None, Tier.UNSCORED) == "unscored"


def test_rounding_never_shows_a_number_of_another_tier() -> None:
    assert "0.30" not in tier_in_words(0.2978, Tier.BASELINE, review_passed=False, at_floor=False)
    assert "0.298" in tier_in_words(0.2978, Tier.BASELINE, review_passed=False, at_floor=False)


def test_floor_must_be_cleared_by_the_whole_interval() -> None:
    assert clears_floor(0.41, 0.40)
    assert not clears_floor(0.40, 0.40)
    assert clears_floor(0.1, None)
    assert not clears_floor(None, 0.4)


@pytest.mark.parametrize(
    ("outputs", "references", "identical"),
    [
        (["a", "a", " a ", "b"], ["w", "x", "y", "z"], True),
        (["a", "a", "c", "b"], ["w", "x", "y", "z"], False),
        (["a", "a", "a", "b"], ["a", "a", "a", "b"], False),
        (["", "", "", "b"], ["w", "x", "y", "z"], False),
        (["", "", "b", "b"], ["w", "x", "y", "z"], True),
        (["a"], ["w"], False),
        ([], [], False),
    ],
)
def test_mostly_identical(outputs: list[str], references: list[str], identical: bool) -> None:
    assert mostly_identical(outputs, references) is identical


@pytest.mark.parametrize(
    ("composite", "least", "floor", "reaches"),
    [
        (0.8, 0.7, 0.7, True),
        (0.8, 0.7, 0.69, False),
        (0.6, 0.5, 0.7, False),
        (0.8, None, 0.7, False),
    ],
)
def test_an_interval_may_reach_a_floor_that_its_value_passes(
    composite: float, least: float | None, floor: float, reaches: bool
) -> None:
    assert reaches_floor(composite, least, floor) is reaches
