"""The table draws only what is seen, and gets anywhere with a key or a click."""

from __future__ import annotations

from collections.abc import AsyncIterator, Hashable, Sequence
from contextlib import asynccontextmanager

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from rosetta_tui.app.app import RosettaApp
from rosetta_tui.show.columns import Cell, Column
from rosetta_tui.toolkit.result_table import ResultTable, crop
from rosetta_tui.toolkit.theme import ANSI_COLOURS
from tests.review.thorough import examples
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


@asynccontextmanager
async def table_of(count: int) -> AsyncIterator[tuple[TableApp, Pilot[None], ResultTable]]:
    app = TableApp(Rows(count))
    async with app.run_test(size=(60, 20)) as pilot:
        yield app, pilot, app.query_one(ResultTable)


KEYS = [
    (["down"] * 3, 3), (["home", "down", "up", "up"], 0), (["pagedown"], 18), (["pagedown", "pageup"], 18),
    (["end"], 999), (["end", "down"], 999), (["end", "home"], 0), (["j", "j", "k"], 1),
]  # fmt: skip
"""Keys one after the other, and where the cursor is then."""


async def test_keys_move_the_cursor_and_draw_what_is_seen_alone() -> None:
    async with table_of(1000) as (app, pilot, table):
        for keys, cursor in KEYS:
            await pilot.press(*keys)
            await pilot.pause()
            assert table.cursor == cursor
            assert any(line.endswith(f"row {cursor} v0") for line in shown(app))
        table.scroll_to(y=500, animate=False)
        await pilot.pause()
        assert shown(app)[1].endswith("row 500 v0"), "the wheel scrolls without the cursor"
        assert table.cursor == 1
        await pilot.press("enter")
        await pilot.pause()
        assert app.messages == [1]
        await pilot.resize_terminal(33, 9)
        await pilot.pause()
        widths = {line.cell_length for line in table.render_lines(table.size.region)}
        assert widths == {table.size.width}, "lines fill a changed width"
    async with table_of(100_000) as (app, pilot, _):
        await pilot.press("end")
        await pilot.pause()
        assert shown(app)[-1].endswith("99999  row 99999 v0")
        assert len(app.rows.drawn) < 100


async def test_changed_rows_and_rows_that_come_and_go_are_drawn() -> None:
    async with table_of(1000) as (app, pilot, table):
        await pilot.pause()
        app.rows.drawn.clear()
        app.rows.versions.update({5: 1, 700: 1})
        table.refresh_changed()
        await pilot.pause()
        assert app.rows.drawn == [5]
        assert shown(app)[6].endswith("row 5 v1")
    async with table_of(3) as (app, pilot, table):
        await pilot.press("end")
        app.rows.count = 50
        table.refresh_changed()
        await pilot.pause()
        assert shown(app)[19].endswith("row 18 v0")
        table.show_rows(Rows(1))
        await pilot.pause()
        assert [line for line in shown(app) if "row" in line] == ["       0  row 0 v0"]
        assert table.cursor == 0
        app.rows.count = 0
        table.show_rows(app.rows)
        await pilot.press("down", "end", "pagedown", "enter", "home")
        await pilot.pause()
        assert app.messages == [], "an empty table takes every key"


async def test_clicks_move_open_and_sort() -> None:
    async with table_of(100) as (app, pilot, table):
        await pilot.click(ResultTable, offset=(15, 4))
        assert table.cursor == 3
        assert app.messages == []
        await pilot.click(ResultTable, offset=(15, 6), times=2)
        await pilot.click(ResultTable, offset=(15, 0))
        await pilot.pause()
        assert app.messages == [5, "text"]


@given(ANY_TEXT, st.integers(0, 40), st.booleans())
@examples(30, 100)
def test_a_cell_has_its_width_and_is_harmless(text: str, width: int, right: bool) -> None:
    cell = crop(text, width, right=right)
    assert cell_len(cell) == width
    assert acting(cell) == []


def test_what_is_cut_says_so() -> None:
    assert crop("abcdef", 4) == "abc…"
    assert crop("abcd", 4) == "abcd"
    assert crop("7", 4, right=True) == "   7"
    assert crop("x" * 1_000_000, 5) == "xxxx…"
