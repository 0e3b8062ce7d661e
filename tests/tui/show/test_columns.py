"""Columns never need more than there is, and what matters stays."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from rosetta_tui.entry import rows as entry_rows
from rosetta_tui.runs import table as run_rows
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
    entries = shown(entry_rows.COLUMNS, 79)
    assert [*entries] == ["state", "source", "output", "chrf", "composite", "cost"]
    assert entries["composite"] >= len("◆◆◆◆◇ deployable")
    runs = shown(run_rows.COLUMNS, 79)
    assert [*runs] == ["state", "corpus", "method", "result", "chrf"]
    assert runs["method"] > runs["result"] >= len("◆◆◆◇◇ functional")


def test_seconds_and_id_of_an_entry_go_first_and_wide_terminals_show_all() -> None:
    every = {each.key for each in entry_rows.COLUMNS}
    assert {*shown(entry_rows.COLUMNS, 122)} == every
    assert {*shown(entry_rows.COLUMNS, 118)} == every - {"word"}, "its sign stays"
    assert {*shown(entry_rows.COLUMNS, 111)} == every - {"word", "latency"}
    assert {*shown(entry_rows.COLUMNS, 103)} == every - {"word", "latency", "id"}
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
        assert found[width]["method"] >= 36
    whole = {"corpus": 20, "method": 39, "pair": 5}
    assert {key: found[200][key] for key in whole} == whole
    assert "notes" not in found[200]
    told = widest(run_rows.COLUMNS, texts | {"notes": ["", "#pilot"]})
    assert "notes" in {
        run_rows.COLUMNS[each.index].key for each in fit(run_rows.COLUMNS, 200, told)
    }
