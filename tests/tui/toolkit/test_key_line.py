"""Colours that can be read, the footer beside Textual's own, and help for windows of any width."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from rich.cells import cell_len
from rich.style import Style
from textual import widgets
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

from rosetta_tui.show.key_names import key_name
from rosetta_tui.toolkit.key_line import KeyLine
from rosetta_tui.toolkit.keyboard import keyboard
from rosetta_tui.toolkit.theme import ANSI_COLOURS, THEMES
from tests.tui.scenes import HOSTILE, scene
from tests.tui.screens import App, at_rest, drawn, settle, text


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


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_text_and_cursor_can_be_read_in(theme: Theme) -> None:
    for background in ("background", "surface", "panel"):
        for name in ("foreground", "quiet", "good", "warn", "bad", "mark"):
            assert contrast(colour(theme, name), colour(theme, background)) >= 4.5, name
    assert contrast(colour(theme, "on-cursor"), colour(theme, "cursor")) >= 4.5
    assert ANSI_COLOURS.keys() <= theme.variables.keys()


@pytest.mark.thorough
async def test_live_screen_can_be_drawn_in_every_theme(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite")
    made.middle(84)
    async with at_rest(App(made, watch=True), (120, 36)) as (app, pilot):
        for name in (*(theme.name for theme in THEMES), "ansi-dark", "ansi-light"):
            app.theme = name
            await settle(pilot)
            assert all(words in text(app) for words in ("✓ 83 done", "◆◆◇◇◇ emerging"))


class Keys(Screen[None]):
    """Both footers over the same keys: one that is off, one without words, two for one action, a wide one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "press('open')", "Open", key_display="⏎"),
        Binding("a,A", "press('add')", "Add 日本", tooltip="One more"),
        Binding("x", "press('off')", "Off"),
        Binding("z", "press('bare')", ""),
        Binding("h", "press('hidden')", "Hidden", show=False),
        Binding("comma", "press('settings')", "Settings"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.pressed: list[str] = []
        self.off = True

    def compose(self) -> ComposeResult:
        """Lay out the two."""
        yield widgets.Footer(compact=True)
        yield KeyLine()

    def action_press(self, name: str) -> None:
        """Note it."""
        self.pressed.append(name)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Grey one out."""
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
    """Return the last line as it is painted, cell by cell."""
    return [
        (letter, look(style) if letter != " " else Style(bgcolor=style.bgcolor))
        for text, style, _ in drawn(screen.app)[-1]
        for letter in text
        if style is not None
    ]


def look(style: Style) -> Style:
    """Return what is seen of a style."""
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
        changed = [
            letter for at, (letter, style) in enumerate(last_line(screen)) if before[at][1] != style
        ]
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
        Binding(
            "abcdefghijklmnop"[number], f"press('{number}')", text, key_display=text, tooltip=text
        )
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
    """Make a turn of the wheel over a widget."""
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
