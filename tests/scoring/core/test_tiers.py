"""Tiers: the thresholds of the specification."""

from __future__ import annotations

import pytest

from scoring.core.specification import quality_tier


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
