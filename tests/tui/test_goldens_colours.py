"""What the dialogs look like, and in which colours the screens stand: each line as runs of named roles.

A role is the name that a theme gives a colour, so a golden says what a colour means, not which one it is. Two
themes must say the same with colours of their own; what they say is kept once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from rosetta_tui.runs import table as run_rows
from rosetta_tui.runs.go_on import SETTINGS, RetryScreen
from rosetta_tui.runs.notes import NotesScreen
from rosetta_tui.toolkit.dialogs.export import ExportScreen
from tests.tui.golden import SIZES, compare
from tests.tui.golden_colours import THEMES, compare_colours
from tests.tui.scenes import sealed
from tests.tui.screens import App, at_rest, settle

EXPORTS = Path("/data/exports")


async def press(pilot: Pilot[Any], *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await settle(pilot)


WAYS = {
    "home": (),
    "run": ("enter",),
    "entry": ("enter", "down", "enter"),
    "metrics": ("enter", "m"),
    "corpora": ("b",),
    "corpus": ("b", "enter"),
    "leaderboard": ("l",),
    "plots": ("p",),
    "new-run": ("n",),
    "help": ("question_mark",),
    "sort": ("s",),
    "notes": ("t",),
    "retry": ("R",),
    "settings": ("comma",),
    "palette": ("ctrl+p",),
    "export": ("e",),
    "confirm": ("t", "x", "escape"),
}
"""Name → keys from Home."""


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", sorted(WAYS))
async def test_colours_mean_the_same_in_every_theme(
    name: str, theme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_rows, "when", lambda _: "2023-11-14 22:13")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(ExportScreen, "folder_of_settings", lambda _: EXPORTS)
    made = sealed(tmp_path / "s.sqlite")
    made.store.execute("UPDATE runs SET plan = ?", ('{"method": "chat", "options": {}}',))
    async with at_rest(App(made), (100, 30)) as (app, pilot):
        app.theme = theme
        await settle(pilot)
        await press(pilot, *WAYS[name])
        compare_colours(name, app)


@pytest.mark.parametrize("size", SIZES)
async def test_dialogs(
    size: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_rows, "when", lambda _: "2023-11-14 22:13")
    monkeypatch.setattr(ExportScreen, "folder_of_settings", lambda _: EXPORTS)
    made = sealed(tmp_path / "s.sqlite")
    async with at_rest(App(made), size) as (app, pilot):
        words = ("baseline",), "Before the new prompt."
        app.push_screen(NotesScreen("eo-demo-v1 · chat", *words, lambda _: None))
        await settle(pilot)
        compare("notes", size, app)
        await app.pop_screen()
        before = dict.fromkeys(SETTINGS, "") | {"concurrency": "8", "temperature": "0"}
        app.push_screen(RetryScreen("eo-demo-v1 · chat", 2, 22, before, dict))
        await settle(pilot)
        compare("retry", size, app)
        await app.pop_screen()
        await settle(pilot)
        await press(pilot, "ctrl+o")
        compare("jump", size, app)
        await press(pilot, "escape", "s")
        compare("sort", size, app)
        await press(pilot, "escape", "e")
        compare("export", size, app)
        await press(pilot, "escape", "t", "x", "escape")
        compare("confirm", size, app)
        await press(pilot, "y", "ctrl+p")
        compare("palette", size, app)
