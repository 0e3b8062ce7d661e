"""What holds on every screen: the way, jumping, the palette, the clipboard, chosen keys, colours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from textual.color import Color
from textual.command import CommandList
from textual.pilot import Pilot
from textual.widgets import Input

from corpora.model.entry import Segment
from harness.core.failures import UsageError
from harness.store.notes import change_tags
from rosetta_tui.app import launch
from rosetta_tui.commands import rosetta
from rosetta_tui.home.screen import HomeScreen
from rosetta_tui.live.screen import LiveScreen
from rosetta_tui.project.list_screen import ProjectsScreen
from rosetta_tui.project.screen import ProjectScreen
from rosetta_tui.show.clipboard import MOST_BYTES
from rosetta_tui.submission.list_screen import SubmissionsScreen
from rosetta_tui.toolkit.dialogs.help import HelpScreen, JumpScreen, Letter
from rosetta_tui.toolkit.messages import Copied
from rosetta_tui.toolkit.result_table import ResultTable
from rosetta_tui.toolkit.theme import THEME_WORDS
from rosetta_tui.vault.list_screen import VaultsScreen
from rosetta_tui.vault.screen import VaultScreen
from tests.tui.scenes import PAIRS, entries_of, scene, sealed
from tests.tui.screens import (
    App,
    at_rest,
    drawn,
    notices,
    press,
    press_in_turn,
    settle,
    stands,
    store,
    text,
    until,
)


async def typed(pilot: Pilot[Any], words: str) -> None:
    """Type into the palette and wait until it has looked for it."""
    await pilot.press("ctrl+p")
    await pilot.pause()
    await press(pilot, *words)
    found = pilot.app.screen.query_one(CommandList)
    await until(pilot, lambda: bool(found.option_count))


async def test_top_line_letters_and_mouse_lead_around(tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    async with at_rest(App(made), (120, 30)) as (app, pilot):
        assert "Rosetta › Home" in text(app)
        assert app.focused is not None
        assert app.focused.id == "runs"
        await press(pilot, "ctrl+o")
        assert stands(app, JumpScreen)
        assert [label.target.id for label in app.screen.query(Letter)] == ["waiting", "runs"]
        await press(pilot, "a")
        assert app.focused.id == "waiting"
        await press(pilot, "ctrl+o")
        await pilot.click(app.screen.query(Letter).last())
        await settle(pilot)
        assert app.focused.id == "runs"
        await press(pilot, "ctrl+o", "9")
        assert stands(app, HomeScreen)
        table = app.screen.query_one("#runs", ResultTable)
        await pilot.click(table, offset=(16, 0))
        await settle(pilot)
        assert "by corpus" in text(app) or "by newest" in text(app)
        await pilot.click(table, offset=(6, 1), times=2)
        await settle(pilot)
        await settle(pilot)
        assert stands(app, LiveScreen)
        await press_in_turn(pilot, "q", "b")
        assert "Rosetta › Corpora" in text(app)


@pytest.mark.costly("the palette three times")
async def test_palette_finds_runs_acts_and_themes(tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    change_tags(made.store, made.number, ["flagship"])
    async with at_rest(App(made), (100, 30)) as (app, pilot):
        await typed(pilot, "flagship")
        await press(pilot, "enter")
        await settle(pilot)
        assert stands(app, LiveScreen)
        await press_in_turn(pilot, "q", "delete")
        await typed(pilot, "bring")
        await press(pilot, "enter")
        await until(pilot, lambda: "Brought back" in "\n".join(notices(app)))
        await typed(pilot, "high contrast")
        await press(pilot, "enter")
        assert app.theme == "rosetta-contrast"
        assert set(app.available_themes) == set(THEME_WORDS)
    again = App(made)
    async with at_rest(again, (100, 30)):
        assert again.theme == "rosetta-contrast", "it was kept"


async def test_no_color_turns_cursor_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    made = sealed(tmp_path / "s.sqlite")
    async with at_rest(App(made), (100, 30)) as (app, _):
        no_color = app._filters[-1]  # Textual applies it where it writes to a terminal
        strips = [strip.apply_filter(no_color, Color(0, 0, 0)) for strip in drawn(app)]
        shown = [segment for strip in strips for segment in strip]
        used = {each.style.color for each in shown if each.style}
        used |= {each.style.bgcolor for each in shown if each.style}
        assert all(colour is None or colour.is_default for colour in used)
        turned = "".join(each.text for each in shown if each.style and each.style.reverse)
        assert "emerging" in turned


async def test_copying_says_how_much_and_refuses_too_much(tmp_path: Path) -> None:
    async with at_rest(App(None, tmp_path / "s.sqlite"), (100, 30)) as (app, pilot):
        app.screen.post_message(Copied("a\tb\r\nc\x1b]0;t\x07", "Table"))
        await settle(pilot)
        assert app.clipboard == "a\tb\nc␛]0;t␇"
        assert "Table copied: 2 lines, 12 characters." in "\n".join(notices(app))
        most = "é" * (MOST_BYTES // 2)
        for words in (most, most + "a"):
            app.screen.post_message(Copied(words, "Output"))
            await settle(pilot)
            assert app.clipboard == most
        assert "74,001 bytes" in notices(app)[-1]


async def test_no_selection_takes_a_secret_text_along(tmp_path: Path) -> None:
    entries = [
        each.model_copy(update={"segment": Segment.GOLD_STANDARD}) for each in entries_of(PAIRS, 3)
    ]
    made = scene(tmp_path / "s.sqlite", total=3, stored=3, entries=entries)
    app = App(made)
    async with app.run_test(size=(100, 30)) as pilot:
        made.queue = app.queue
        made.middle(3)
        await settle(pilot)
        await press(pilot, "enter")
        await press(pilot, "enter")
        assert app.screen.holds_secret  # type: ignore[attr-defined]
        app.copy_to_clipboard("Mi vidas la hundon.")
        await pilot.pause()
        assert app.clipboard == ""
        assert "secret entry" in "\n".join(notices(app))


async def test_chosen_keys_hold_and_are_named_everywhere(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text('[keys]\n"home.demo" = "f5"\nhelp = "f1"\n')
    async with at_rest(App(None, tmp_path / "s.sqlite"), (100, 30)) as (app, pilot):
        assert "f5  Run the demo" in text(app)
        await press(pilot, "question_mark")
        assert stands(app, HomeScreen)
        await press(pilot, "f1")
        assert stands(app, HelpScreen)
        assert "f5  Demo" in text(app)


async def test_filter_by_a_hostile_name_finds_and_is_harmless(tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    made.store.execute(
        "INSERT INTO runs SELECT NULL, 'x' || run_id, "
        + ", ".join(
            f"'{chr(27)}[2J evil'" if name == "dataset_id" else name
            for name in (row[1] for row in made.store.execute("PRAGMA table_info(runs)"))
            if name not in {"id", "run_id"}
        )
        + " FROM runs"
    )
    async with at_rest(App(made), (120, 30)) as (app, pilot):
        await press(pilot, "f")
        await press(pilot, "down", "enter")
        assert "\x1b" not in app.screen.query_one("#search", Input).value
        assert "1 shown" in text(app)


@pytest.mark.parametrize(
    ("words", "opens"),
    [
        ("vault show elders", [VaultsScreen, VaultScreen]),
        ("corpus open words", [ProjectsScreen, ProjectScreen]),
        ("submission open", [SubmissionsScreen]),
    ],
)
def test_command_opens_its_screens_and_needs_a_terminal(
    words: str, opens: list[type], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("words").mkdir()
    refused = CliRunner().invoke(rosetta, words.split())
    assert isinstance(refused.exception, UsageError)
    assert "The app needs a terminal" in str(refused.exception)
    opened: list[object] = []
    monkeypatch.setattr(launch, "open_app", lambda screens: opened.extend(screens(store(home))))
    assert CliRunner().invoke(rosetta, words.split()).exit_code == 0
    assert [type(each) for each in opened] == opens
