"""Numbers are short, aligned, and say what is not known; columns never need more room than there is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosetta_tui.entry import rows as entry_rows
from rosetta_tui.runs import table as run_rows
from rosetta_tui.show import figures
from rosetta_tui.show.columns import GAP, Column, fit, widest

COLUMNS = st.lists(
    st.builds(
        Column,
        key=st.just("k"),
        title=st.just("t"),
        width=st.integers(1, 30),
        share=st.integers(0, 3),
        drop=st.integers(0, 5),
    ),
    max_size=12,
)


@given(COLUMNS, st.integers(0, 300))
def test_the_width_is_kept(columns: list[Column], width: int) -> None:
    placed = fit(columns, width)
    used = sum(each.width for each in placed) + GAP * max(0, len(placed) - 1)
    always = [column for column in columns if column.drop == 0]
    least = sum(column.width for column in always) + GAP * max(0, len(always) - 1)
    assert used <= max(width, least)
    if any(columns[each.index].share for each in placed) and used < width:
        raise AssertionError("width was left over though a column could have taken it")


@given(COLUMNS, st.integers(0, 300), st.data())
def test_nothing_is_given_to_who_needs_none(
    columns: list[Column], width: int, data: st.DataObject
) -> None:
    needs = data.draw(st.tuples(*(st.integers(0, 60) for _ in columns)))
    placed = fit(columns, width, needs)
    used = sum(each.width for each in placed) + GAP * max(0, len(placed) - 1)
    always = {index for index, column in enumerate(columns) if not column.drop}
    assert always <= {each.index for each in placed}
    assert used <= width or always == {each.index for each in placed}
    sharing = [each for each in placed if columns[each.index].share]
    assert all(each.width <= max(1, needs[each.index]) for each in sharing)
    assert all(needs[each.index] for each in placed if columns[each.index].drop)
    if used < width:
        assert all(each.width == max(1, needs[each.index]) for each in sharing)


@given(COLUMNS, st.integers(0, 300))
def test_what_matters_least_goes_first(columns: list[Column], width: int) -> None:
    kept = {each.index for each in fit(columns, width)}
    gone = set(range(len(columns))) - kept
    assert all(columns[index].drop > 0 for index in gone)
    if gone and kept:
        assert min(columns[index].drop for index in gone) >= max(
            columns[index].drop for index in kept
        )


@given(COLUMNS, st.integers(0, 300))
def test_no_column_is_narrower_than_it_may_be(columns: list[Column], width: int) -> None:
    assert all(each.width >= columns[each.index].width for each in fit(columns, width))


def shown(columns: Sequence[Column], width: int) -> dict[str, int]:
    return {columns[each.index].key: each.width for each in fit(columns, width)}


def test_eighty_columns_show_what_decides() -> None:
    entries = shown(entry_rows.columns(), 79)
    assert [*entries] == ["state", "source", "output", "headline", "second", "cost"]
    assert entries["second"] >= len("◆◆◆◆◇ deployable")
    runs = shown(run_rows.COLUMNS, 79)
    assert [*runs] == ["state", "corpus", "method", "result", "chrf"]
    assert runs["method"] > runs["result"] >= len("◆◆◆◇◇ functional")


def test_seconds_and_id_of_an_entry_go_first_and_wide_terminals_show_all() -> None:
    every = {each.key for each in entry_rows.columns()}
    assert {*shown(entry_rows.columns(), 122)} == every
    assert {*shown(entry_rows.columns(), 118)} == every - {"word"}, "its sign stays"
    assert {*shown(entry_rows.columns(), 111)} == every - {"word", "latency"}
    assert {*shown(entry_rows.columns(), 103)} == every - {"word", "latency", "id"}
    assert {"id", "when", "composite"} <= {*shown(run_rows.COLUMNS, 120)}


def test_home_gives_its_room_to_names_before_costs_and_none_to_what_is_empty() -> None:
    texts = {"corpus": ["eo-community-stories"], "pair": ["EN→EO"], "notes": ["", ""]}
    texts["method"] = ["chat · qwen2.5-7b-instruct · coached-v2"]
    needs = widest(run_rows.COLUMNS, texts)
    found = {
        width: {
            run_rows.COLUMNS[each.index].key: each.width
            for each in fit(run_rows.COLUMNS, width, needs)
        }
        for width in (99, 119, 159, 200)
    }
    assert [*found[99]] == ["state", "id", "corpus", "method", "result", "chrf"]
    assert {"id", "composite"} <= {*found[119]}, "an id is what commands are given"
    for width in (119, 159, 200):
        assert found[width]["method"] >= 34
    whole = {"corpus": 20, "method": 39, "pair": 5}
    assert {key: found[200][key] for key in whole} == whole
    assert "notes" not in found[200]
    told = widest(run_rows.COLUMNS, texts | {"notes": ["", "#pilot"]})
    assert "notes" in {
        run_rows.COLUMNS[each.index].key for each in fit(run_rows.COLUMNS, 200, told)
    }


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
