"""What the settings look like, and settings that change while the screen is open."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from textual.widgets import OptionList

import harness.settings
from harness.core.failures import UsageError
from harness.settings import Changes, Settings, change_settings, read_settings
from rosetta_tui.settings.rows import SettingsSection
from rosetta_tui.settings.screen import SettingsScreen
from tests.tui.golden import compare
from tests.tui.screens import App, at_rest, burst, press, settle
from tests.tui.settings.settings_screen import app, fill, opened, ring, to_row

__all__ = ["app", "ring"]


async def test_colours_of_the_palette_stay_when_the_screen_changes_something_else(
    app: App, tmp_path: Path
) -> None:
    async with app.run_test(size=(120, 36)) as pilot:
        screen = await opened(pilot, SettingsSection.MODELS)
        app.use_colours("rosetta-light")
        await settle(pilot)
        assert screen.settings.theme == "rosetta-light"
        to_row(screen, "model")
        await pilot.press("enter")
        await fill(pilot, "m1")
        found = read_settings(tmp_path)
        assert (found.theme, found.model, app.theme) == ("rosetta-light", "m1", "rosetta-light")


async def test_what_another_process_wrote_stays_and_is_shown(app: App, tmp_path: Path) -> None:
    theirs = {"ours": "https://x.example"}
    async with app.run_test(size=(120, 36)) as pilot:
        screen = await opened(pilot)
        change_settings(tmp_path, {"endpoints": theirs})
        await press(pilot, "down", "enter")
        assert read_settings(tmp_path) == Settings(theme="rosetta-light", endpoints=theirs)
        assert screen.settings.endpoints == theirs
        await press(pilot, "u")
        assert read_settings(tmp_path) == Settings(endpoints=theirs)


async def test_a_change_that_could_not_be_written_is_written_with_the_next(
    app: App, tmp_path: Path
) -> None:
    async with app.run_test(size=(120, 36)) as pilot:
        screen = await opened(pilot)
        in_the_way = tmp_path / "locks" / "settings.lock"
        in_the_way.mkdir(parents=True)
        await press(pilot, "down", "enter")
        assert read_settings(tmp_path) == Settings()
        in_the_way.rmdir()
        screen.change({"model": "m1"})
        await settle(pilot)
        assert read_settings(tmp_path) == Settings(theme="rosetta-light", model="m1")


async def test_a_change_that_failed_does_not_undo_a_later_one(
    app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = harness.settings.change_settings
    first = threading.Event()

    def write(home: Path, *changes: Changes) -> Settings:
        if not first.is_set():
            first.set()
            raise UsageError("settings.toml is held by another Rosetta.")
        return written(home, *changes)

    monkeypatch.setattr("rosetta_tui.settings.of_app.change_settings", write)
    async with app.run_test(size=(120, 36)) as pilot:
        screen = await opened(pilot)
        for changes in ({"model": "old"}, {"model": "new"}):
            screen.change(changes)
        await settle(pilot)
        assert read_settings(tmp_path).model == "new"
        screen.change({"endpoint": "openrouter"})
        await settle(pilot)
        assert read_settings(tmp_path) == Settings(model="new", endpoint="openrouter")


async def test_a_key_pressed_again_goes_back_to_the_screen_that_is_open(app: App) -> None:
    async with app.run_test(size=(120, 36)) as pilot:
        for key in ("comma", "b", "comma", "comma", "comma"):
            await settle(pilot)
            await pilot.press(key)
        await settle(pilot)
        kinds = [type(screen).__name__ for screen in app.screen_stack]
        assert kinds.count("SettingsScreen") == 1
        await app.action_place("corpora")
        await app.action_place("settings")
        await settle(pilot)
        assert isinstance(app.screen, SettingsScreen)


async def test_keys_that_come_at_once_do_what_they_do_one_by_one(app: App, tmp_path: Path) -> None:
    """As a paste, a slow line or a macro sends them."""
    folders = tuple(tmp_path / name for name in ("a", "b", "c"))
    change_settings(tmp_path, {"language_folders": folders})
    async with at_rest(app, (100, 30)) as (_, pilot):
        screen = SettingsScreen(tmp_path / "s.sqlite")
        app.push_screen(screen)
        await settle(pilot)
        to_folders = ["down"] * list(SettingsSection).index(SettingsSection.FOLDERS)
        await burst(app, *to_folders, "enter", *["down"] * 3)
        await settle(pilot)
        assert screen.row is not None
        assert screen.row.id == "folder 1"
        await burst(app, "delete", "down", "left", *["up"] * 4, "enter", "down")
        await settle(pilot)
        assert read_settings(tmp_path).language_folders == (folders[0], folders[2])
        assert screen.row.id == "rosetta-light"
        await burst(app, "enter", "down")
        await settle(pilot)
        assert read_settings(tmp_path).theme == "rosetta-light"


CHOSEN = {
    "endpoint": "our-lab",
    "model": "example/translator-7b",
    "endpoints": {"our-lab": "https://llm.example.org/v1"},
}


@pytest.mark.parametrize("theme", ["rosetta-dark", "rosetta-light"])
@pytest.mark.parametrize("size", [(80, 24), (160, 48)])
async def test_settings(
    tmp_path: Path, size: tuple[int, int], theme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    change_settings(tmp_path / "data", CHOSEN)
    async with at_rest(App(None, tmp_path / "data" / "s.sqlite"), size) as (app, pilot):
        app.push_screen(SettingsScreen(tmp_path / "data" / "s.sqlite"))
        await settle(pilot)
        app.theme = theme
        parts = app.screen.query_one("#parts", OptionList)
        parts.highlighted = list(SettingsSection).index(SettingsSection.MODELS)
        await settle(pilot)
        compare("settings", size, app)
        parts.highlighted = list(SettingsSection).index(SettingsSection.ENDPOINTS)
        await settle(pilot)
        await press(pilot, "enter")
        compare("settings-endpoints", size, app)
