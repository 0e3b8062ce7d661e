"""Numbers are short, aligned, and say what is not known."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosetta_tui.show import figures


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "unknown"),
        (0.0, "free"),
        (0.000009, "<$0.00001"),
        (0.00001, "$0.000010"),
        (0.0000999, "$0.000100"),
        (0.0001, "$0.0001"),
        (0.0184, "$0.0184"),
        (1.5, "$1.50"),
        (1234.5, "$1,234.50"),
    ],
)
def test_money(value: float | None, shown: str) -> None:
    assert figures.money(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "–"),
        (0, "00:00"),
        (41.4, "00:41"),
        (3599.6, "1:00:00"),
        (3725, "1:02:05"),
        (200_000, "2 d 7 h"),
    ],
)
def test_clock(value: float | None, shown: str) -> None:
    assert figures.clock(value) == shown


@pytest.mark.parametrize(
    ("tier", "shown"),
    [("fluent", "◆◆◆◆◆"), ("baseline", "◆◇◇◇◇"), ("unscored", "◇◇◇◇◇"), ("functional", "◆◆◆◇◇")],
)
def test_tiers_differ_in_shape(tier: str, shown: str) -> None:
    assert figures.meter(tier) == shown


SHARES = st.floats(0, 1)


@given(SHARES, SHARES, SHARES, SHARES, st.integers(3, 60))
def test_an_interval_bar_keeps_its_order(
    a: float, b: float, c: float, floor: float, width: int
) -> None:
    low, value, high = sorted((a, b, c))
    bar = figures.interval_bar(value, (low, high), top=1, width=width, floor=floor)
    assert len(bar) == width
    assert bar.count("●") == 1
    at = bar.index("●")
    assert "┤" not in bar[:at]
    assert "├" not in bar[at:]


def test_an_interval_bar_stands_at_its_place() -> None:
    bar = figures.interval_bar(50, (40, 60), top=100, width=11, floor=20)
    assert bar == "··╿·├●┤····"


@given(SHARES, st.integers(1, 60))
def test_a_progress_bar_is_as_full_as_the_share(share: float, width: int) -> None:
    bar = figures.progress_bar(share, width)
    assert len(bar) == width
    assert abs(bar.count("█") - share * width) <= 1


@given(st.lists(st.floats(0, 1e6), max_size=40), st.integers(1, 30))
def test_the_highest_spark_is_full(values: list[float], width: int) -> None:
    spark = figures.sparkline(values, width)
    assert len(spark) == min(width, len(values))
    if any(value > 1e-300 for value in values[-width:]):
        assert spark[values[-width:].index(max(values[-width:]))] == "█"


@given(st.floats(0, 1, exclude_min=True))
def test_no_p_is_shown_as_nothing(p: float) -> None:
    for shown in (figures.p_value(p), figures.p_words(p)):
        assert "0.000" not in shown
        assert ("<" in shown) == (p < 0.001)
    if p >= 0.001:
        assert float(figures.p_value(p)) == pytest.approx(p, abs=0.0005)


@pytest.mark.parametrize("p", [1 / 10_001, 1 / 1_001, 0.0009999])
def test_a_p_that_no_number_of_shuffles_made_is_less_than_a_thousandth(p: float) -> None:
    assert figures.p_value(p) == "<0.001"
    assert figures.p_words(p) == "p < 0.001"


def test_p_is_written_by_one_function_alone() -> None:
    root = Path(figures.__file__).parents[2]
    formatted = re.compile(
        r"\bp\w* \{[^}]*:\.\d|\{\w*p_(bootstrap|randomisation|adjusted)[^}]*:\.\d"
    )
    sources = [
        path
        for name in ("rosetta", "rosetta_tui", "harness", "review", "scoring")
        for path in (root / name).rglob("*.py")
    ]
    found = [path.name for path in sources if formatted.search(path.read_text("utf-8"))]
    assert len(sources) > 300
    assert found == []


@given(st.floats(-1e4, 1e4), st.integers(0, 3))
def test_a_difference_has_the_sign_that_its_shown_digits_have(value: float, digits: int) -> None:
    shown = figures.signed(value, digits)
    read = float(shown.replace("−", "-"))
    assert abs(read - value) <= 0.5 * 10**-digits + 1e-9
    assert "-" not in shown, "the minus sign, not the hyphen"
    assert shown[0] == ("+" if read > 0 else "−" if read < 0 else "0")
