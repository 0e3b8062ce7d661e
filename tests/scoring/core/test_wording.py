"""How numbers are written in sentences."""

from __future__ import annotations

import pytest

from scoring.core.wording import minus, percent


@pytest.mark.parametrize(
    ("share", "places", "written"),
    [(0.75, 0, "75 %"), (1.0, 0, "100 %"), (0.697, 1, "69.7 %"), (-0.05, 1, "−5.0 %")],
)
def test_every_page_writes_a_share_in_one_way(share: float, places: int, written: str) -> None:
    assert percent(share, places) == written


def test_below_nothing_stands_a_minus_and_no_hyphen() -> None:
    assert minus(f"{-0.03:.2f}") == "−0.03"
