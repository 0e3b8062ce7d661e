"""The table draws only what is seen, and gets anywhere with a key or a click."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App, ComposeResult

from rosetta_tui.app.app import RosettaApp
from rosetta_tui.show.columns import Cell, Column
from rosetta_tui.toolkit.result_table import ResultTable, crop
from rosetta_tui.toolkit.theme import ANSI_COLOURS
from tests.tui.hostile import ANY_TEXT, acting

COLUMNS = (Column("number", "number", 8, right=True), Column("text", "text", 10, share=1))


class Rows:
    """Rows that count how often they are asked for."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.versions: dict[int, int] = {}
        self.drawn: list[int] = []

    def key(self, index: int) -> Hashable:
        return (index, self.versions.get(index, 0))

    def cells(self, index: int) -> Sequence[Cell]:
        self.drawn.append(index)
        return (Cell(str(index)), Cell(f"row {index} v{self.versions.get(index, 0)}", "good"))

    def prepare(self, first: int, last: int) -> None:
        assert 0 <= first <= last <= max(self.count, first)


class TableApp(App[None]):
    """One table alone."""

    CSS_PATH = RosettaApp.CSS_PATH

    def __init__(self, rows: Rows) -> None:
        super().__init__()
        self.rows = rows
        self.messages: list[object] = []

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return ANSI_COLOURS

    def compose(self) -> ComposeResult:
        yield ResultTable(COLUMNS, self.rows)

    def on_result_table_chosen(self, message: ResultTable.Chosen) -> None:
        self.messages.append(message.index)

    def on_result_table_title_chosen(self, message: ResultTable.TitleChosen) -> None:
        self.messages.append(message.key)


def shown(app: App[None]) -> list[str]:
    table = app.query_one(ResultTable)
    lines = table.render_lines(table.size.region)
    return ["".join(segment.text for segment in line).rstrip() for line in lines]


async def test_a_hundred_thousand_rows_cost_what_is_seen() -> None:
    rows = Rows(100_000)
    app = TableApp(rows)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("end")
        await pilot.pause()
        assert shown(app)[-1].endswith("99999  row 99999 v0")
        assert len(rows.drawn) < 100


@pytest.mark.parametrize(
    ("keys", "cursor"),
    [
        (["down"] * 3, 3),
        (["down", "up", "up"], 0),
        (["pagedown"], 18),
        (["pagedown", "pagedown", "pageup"], 18),
        (["end"], 999),
        (["end", "down"], 999),
        (["end", "home"], 0),
        (["j", "j", "k"], 1),
    ],
)
async def test_keys_move_the_cursor_and_keep_it_in_view(keys: list[str], cursor: int) -> None:
    app = TableApp(Rows(1000))
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press(*keys)
        await pilot.pause()
        table = app.query_one(ResultTable)
        assert table.cursor == cursor
        assert any(line.endswith(f"row {cursor} v0") for line in shown(app))


async def test_only_changed_lines_are_drawn_again() -> None:
    rows = Rows(1000)
    app = TableApp(rows)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        rows.drawn.clear()
        rows.versions.update({5: 1, 700: 1})
        app.query_one(ResultTable).refresh_changed()
        await pilot.pause()
        assert rows.drawn == [5]
        assert shown(app)[6].endswith("row 5 v1")


async def test_rows_that_come_and_go_are_shown() -> None:
    rows = Rows(3)
    app = TableApp(rows)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("end")
        rows.count = 50
        app.query_one(ResultTable).refresh_changed()
        await pilot.pause()
        assert shown(app)[19].endswith("row 18 v0")
        app.query_one(ResultTable).show_rows(Rows(1))
        await pilot.pause()
        assert [line for line in shown(app) if "row" in line] == ["       0  row 0 v0"]
        assert app.query_one(ResultTable).cursor == 0


async def test_clicks_move_open_and_sort() -> None:
    app = TableApp(Rows(100))
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.click(ResultTable, offset=(15, 4))
        assert app.query_one(ResultTable).cursor == 3
        assert app.messages == []
        await pilot.click(ResultTable, offset=(15, 6), times=2)
        await pilot.click(ResultTable, offset=(15, 0))
        await pilot.pause()
        assert app.messages == [5, "text"]


async def test_enter_opens_the_row_under_the_cursor() -> None:
    app = TableApp(Rows(100))
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("down", "enter")
        await pilot.pause()
        assert app.messages == [1]


async def test_the_wheel_scrolls_without_the_cursor() -> None:
    app = TableApp(Rows(1000))
    async with app.run_test(size=(60, 20)) as pilot:
        table = app.query_one(ResultTable)
        table.scroll_to(y=500, animate=False)
        await pilot.pause()
        assert shown(app)[1].endswith("row 500 v0")
        assert table.cursor == 0


async def test_an_empty_table_takes_every_key() -> None:
    app = TableApp(Rows(0))
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("down", "end", "pagedown", "enter", "home")
        await pilot.pause()
        assert app.messages == []


async def test_lines_fill_a_changed_width() -> None:
    app = TableApp(Rows(1000))
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.resize_terminal(33, 9)
        await pilot.pause()
        table = app.query_one(ResultTable)
        assert {line.cell_length for line in table.render_lines(table.size.region)} == {
            table.size.width
        }


@given(ANY_TEXT, st.integers(0, 40), st.booleans())
def test_a_cell_has_its_width_and_is_harmless(text: str, width: int, right: bool) -> None:
    cell = crop(text, width, right=right)
    assert cell_len(cell) == width
    assert acting(cell) == []


def test_what_is_cut_says_so() -> None:
    assert crop("abcdef", 4) == "abc…"
    assert crop("abcd", 4) == "abcd"
    assert crop("7", 4, right=True) == "   7"
    assert crop("x" * 1_000_000, 5) == "xxxx…"
