"""Colours that can be read, the footer beside Textual's own, and help for windows of any width."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Hashable, Iterator, Sequence
from contextlib import asynccontextmanager
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style
from textual import widgets
from textual.app import App as TextualApp
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.color import Color
from textual.command import CommandPalette
from textual.events import MouseScrollDown, MouseScrollUp
from textual.message import Message
from textual.pilot import Pilot
from textual.screen import Screen
from textual.theme import Theme
from textual.widget import Widget

import rosetta_tui.html
from rosetta_tui.app.app import RosettaApp
from rosetta_tui.show.columns import Cell, Column
from rosetta_tui.show.key_names import key_name
from rosetta_tui.toolkit.customization import ANSI_COLOURS, THEMES, keyboard
from rosetta_tui.toolkit.key_line import KeyLine
from rosetta_tui.toolkit.result_table import ResultTable, crop
from tests.review.thorough import examples
from tests.tui.scenes import ANY_TEXT, HOSTILE, acting
from tests.tui.screens import App, drawn, settle


def colour(theme: Theme, name: str) -> Color:
    value = theme.variables.get(name) or getattr(theme, name)
    return Color.parse(value)


def luminance(shade: Color) -> float:
    """Relative luminance as WCAG 2 defines it."""
    parts = (part / 255 for part in (shade.r, shade.g, shade.b))
    red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: Color, other: Color) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_computed_as_the_standard_says() -> None:
    assert contrast(Color.parse("#ffffff"), Color.parse("#000000")) == pytest.approx(21)
    assert contrast(Color.parse("#777777"), Color.parse("#ffffff")) == pytest.approx(4.48, abs=0.01)


def test_every_text_of_a_report_has_enough_contrast() -> None:
    """WCAG 2.2: 4.5 : 1 for text, 3 : 1 for what a chart is read by; in light, dark and on paper."""
    style = (Path(rosetta_tui.html.__file__).parent / "style.css").read_text("utf-8")
    found = re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    assert len(found) == 3
    for block, ground in product(found, ("paper", "soft")):
        each = dict(re.findall(r"--(\w+): (#[0-9a-f]{3,6})", block))
        for name in ("ink", "quiet", "mark", "floor", "bad", "good", "other"):
            least = 3.0 if name == "other" else 4.5
            shades = Color.parse(each[name]), Color.parse(each[ground])
            assert contrast(*shades) >= least, (name, ground, each)


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_text_and_cursor_can_be_read_in(theme: Theme) -> None:
    for background in ("background", "surface", "panel"):
        for name in ("foreground", "quiet", "good", "warn", "bad", "mark"):
            assert contrast(colour(theme, name), colour(theme, background)) >= 4.5, name
    assert contrast(colour(theme, "on-cursor"), colour(theme, "cursor")) >= 4.5
    assert ANSI_COLOURS.keys() <= theme.variables.keys()


class Keys(Screen[None]):
    """Both footers over the same keys: one that is off, one without words, two for one action, a wide one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "press('open')", "Open", key_display="⏎"),
        Binding("a,A", "press('add')", "Add 日本", tooltip="One more"),
        Binding("x", "press('off')", "Off"), Binding("z", "press('bare')", ""),
        Binding("h", "press('hidden')", "Hidden", show=False),
        Binding("comma", "press('settings')", "Settings"),
    ]  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self.pressed: list[str] = []
        self.off = True

    def compose(self) -> ComposeResult:
        yield widgets.Footer(compact=True)
        yield KeyLine()

    def action_press(self, name: str) -> None:
        self.pressed.append(name)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return None if parameters == ("off",) and self.off else True


async def opened(pilot: Pilot[Any], screen: Keys | None = None, *, both: bool = False) -> Keys:
    """Open the screen and wait until both have their keys; Textual's own goes unless both are wanted."""
    screen = screen or Keys()
    await pilot.app.push_screen(screen)
    await settle(pilot)
    screen.query_one(widgets.Footer).display = both
    await settle(pilot)
    return screen


def last_line(screen: Screen[Any]) -> list[tuple[str, Style]]:
    return [
        (letter, look(style) if letter != " " else Style(bgcolor=style.bgcolor))
        for text, style, _ in drawn(screen.app)[-1]
        for letter in text
        if style is not None
    ]


def look(style: Style) -> Style:
    return Style(color=style.color, bgcolor=style.bgcolor, bold=style.bold, dim=style.dim)


def words(screen: Screen[Any]) -> str:
    return "".join(letter for letter, _ in last_line(screen))


async def test_key_line_looks_as_textuals_own(tmp_path: Path) -> None:
    app = App(None, tmp_path / "s.sqlite")
    async with app.run_test(size=(80, 10)) as pilot:
        app.theme = THEMES[0].name
        screen = await opened(pilot, both=True)
        ours, textuals = screen.query_one(KeyLine), screen.query_one(widgets.Footer)
        for width, palette in ((80, True), (57, True), (57, False), (30, False)):
            await pilot.resize_terminal(width, 10)
            ours.show_command_palette = textuals.show_command_palette = palette
            screen.refresh_bindings()
            seen = []
            for one, other in ((ours, textuals), (textuals, ours)):
                one.display, other.display = True, False
                await settle(pilot)
                seen.append(last_line(screen))
            # Textual cuts the last key, and lets it show in the cell behind the palette's
            drawn = "".join(letter for letter, _ in seen[0])
            whole = drawn.find(" …") if "…" in drawn else -1
            assert seen[0][:whole] == seen[1][:whole]
            assert drawn.strip()


async def test_click_presses_the_key_and_a_key_offered_again_is_drawn(tmp_path: Path) -> None:
    async with App(None, tmp_path / "s.sqlite").run_test(size=(80, 10)) as pilot:
        screen = await opened(pilot)
        line = words(screen)
        for name in ("Open", "Add", "Off", "Settings"):
            await pilot.click(KeyLine, offset=(cell_len(line[: line.index(name)]), 0))
            await settle(pilot)
        assert screen.pressed == ["open", "add", "settings"]
        before = dict(enumerate(last_line(screen)))
        screen.off = False
        screen.refresh_bindings()
        await settle(pilot)
        changed = [letter for at, (letter, style) in enumerate(last_line(screen)) if before[at][1] != style]
        assert "".join(changed) == "xOff"
        await pilot.click(KeyLine, offset=(cell_len(line[: line.index("^p")]), 0))
        await settle(pilot)
        assert isinstance(pilot.app.screen, CommandPalette)


async def test_last_key_is_whole_and_others_come_with_the_wheel(tmp_path: Path) -> None:
    async with App(None, tmp_path / "s.sqlite").run_test(size=(80, 10)) as pilot:
        screen = await opened(pilot)
        footer = screen.query_one(KeyLine)
        footer.show_command_palette = False
        for width in range(20, 50, 3):
            await pilot.resize_terminal(width, 10)
            keys = words(screen).rstrip()
            assert keys.endswith("…") != keys.endswith("? Help"), keys
            shown = keys.removesuffix(" …")
            assert shown.endswith(("Open", "本", "Off", "z", "Settings", "Help")), keys
        await pilot.resize_terminal(30, 10)
        await settle(pilot)
        first = words(screen)
        assert "⏎ Open" in first
        assert "? Help" not in first
        for kind, seen in ((MouseScrollDown, False), (MouseScrollUp, True)):
            for _ in range(20):
                footer.post_message(turn(kind, footer))
            await settle(pilot)
            assert (words(screen) == first) is seen
            assert ("? Help" in words(screen)) is not seen


class Hostile(Keys):
    """Keys whose words come from outside."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("abcdefghijklmnop"[number], f"press('{number}')", text, key_display=text, tooltip=text)
        for number, text in enumerate(HOSTILE)
    ]


async def test_what_a_key_says_is_harmless(tmp_path: Path) -> None:
    async with App(None, tmp_path / "s.sqlite").run_test(size=(400, 10), tooltips=True) as pilot:
        screen = await opened(pilot, Hostile())
        assert f"Open {HOSTILE[0]} {HOSTILE[0]} " in words(screen)
        assert not set(words(screen)) & set("\x1b\x07\n\t\x9b\x9d\u202e\u2066\u061c")
        footer = screen.query_one(KeyLine)
        await pilot.hover(KeyLine, offset=(10, 0))
        assert str(footer.tooltip) == HOSTILE[0]


def turn(kind: type[MouseScrollDown] | type[MouseScrollUp], widget: Widget) -> Message:
    return kind(widget, 1, 0, 0, 0, 0, shift=False, meta=False, ctrl=False)


def screens(kind: type[Screen[Any]] = Screen) -> Iterator[type[Screen[Any]]]:
    """Every screen of the program that has a help of its own."""
    keyboard()
    for each in kind.__subclasses__():
        if each.__module__.startswith("rosetta_tui.") and "HELP" in vars(each):
            yield each
        yield from screens(each)


def test_no_line_of_help_breaks_within_a_sentence() -> None:
    told = {each.__qualname__: str(vars(each)["HELP"]) for each in screens()}
    assert len(told) > 10
    broken = {
        (name, line)
        for name, words in told.items()
        for line in words.splitlines()
        if line and "   " not in line and not line.endswith((".", ":", ";"))
    }
    assert not broken


def test_keys_are_called_by_what_stands_on_them() -> None:
    names = {"plus": "+", "minus": "-", "equals_sign": "=", "ctrl+p": "^p"}
    assert {key: key_name(key) for key in names} == names


# The table draws only what is seen, and gets anywhere with a key or a click

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


class TableApp(TextualApp[None]):
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


def rendered(app: TextualApp[None]) -> list[str]:
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
            assert any(line.endswith(f"row {cursor} v0") for line in rendered(app))
        table.scroll_to(y=500, animate=False)
        await pilot.pause()
        assert rendered(app)[1].endswith("row 500 v0"), "the wheel scrolls without the cursor"
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
        assert rendered(app)[-1].endswith("99999  row 99999 v0")
        assert len(app.rows.drawn) < 100


async def test_changed_rows_and_rows_that_come_and_go_are_drawn() -> None:
    async with table_of(1000) as (app, pilot, table):
        await pilot.pause()
        app.rows.drawn.clear()
        app.rows.versions.update({5: 1, 700: 1})
        table.refresh_changed()
        await pilot.pause()
        assert app.rows.drawn == [5]
        assert rendered(app)[6].endswith("row 5 v1")
    async with table_of(3) as (app, pilot, table):
        await pilot.press("end")
        app.rows.count = 50
        table.refresh_changed()
        await pilot.pause()
        assert rendered(app)[19].endswith("row 18 v0")
        table.show_rows(Rows(1))
        await pilot.pause()
        assert [line for line in rendered(app) if "row" in line] == ["       0  row 0 v0"]
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
