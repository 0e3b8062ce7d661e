"""The ±2 % verdict of the specification."""

from __future__ import annotations

import pytest

from scoring.statistics.reproducibility import verdict


@pytest.mark.parametrize(
    ("claimed", "repeated", "within"),
    [
        (50.0, 51.0, True), (50.0, 49.0, True), (50.0, 51.001, False), (50.0, 48.999, False),
        (0.7, 0.714, True), (0.7, 0.686, True), (0.7, 0.7141, False), (0.0, 0.0, True), (0.0, 0.001, False),
    ],
)  # fmt: skip
def test_two_percent_of_the_claimed_score(claimed: float, repeated: float, within: bool) -> None:
    found = verdict({"composite": claimed}, {"composite": repeated})
    assert found.reproduced is within
    assert found.outside == (() if within else ("composite",))


def test_composite_and_chrf_decide_and_the_others_are_told() -> None:
    claimed = {"composite": 0.5, "chrf_plus_plus": 60.0, "bleu": 20.0}
    found = verdict(claimed, {"composite": 0.505, "chrf_plus_plus": 60.0, "bleu": 25.0})
    assert found.reproduced is True
    assert found.outside == ("bleu",)
    assert found.deviations["bleu"].share == pytest.approx(0.25)
    assert verdict(claimed, {**claimed, "chrf_plus_plus": 58.0}).reproduced is False


def test_a_score_that_only_one_has_is_not_reproduced() -> None:
    found = verdict({"composite": 0.5, "chrf_plus_plus": 60.0}, {"chrf_plus_plus": 60.0, "composite": None})  # fmt: skip
    assert found.reproduced is False
    assert found.missing == ("composite",)


def test_without_deciding_scores_there_is_no_verdict() -> None:
    assert verdict({"bleu": 20.0}, {"bleu": 20.0}).reproduced is None
    assert verdict({}, {}).reproduced is None


def test_a_claim_of_nothing_has_no_share() -> None:
    assert verdict({"composite": 0.0}, {"composite": 0.1}).deviations["composite"].share is None
