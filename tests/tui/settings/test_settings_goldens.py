"""What the settings look like: the same text in every colour."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import OptionList

from harness.settings import change_settings
from rosetta_tui.settings.rows import SettingsSection
from rosetta_tui.settings.screen import SettingsScreen
from tests.tui.golden import compare
from tests.tui.screens import App, settle

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
    app = App(None, tmp_path / "data" / "s.sqlite")
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        app.push_screen(SettingsScreen(tmp_path / "data" / "s.sqlite"))
        await settle(pilot)
        app.theme = theme
        parts = app.screen.query_one("#parts", OptionList)
        parts.highlighted = list(SettingsSection).index(SettingsSection.MODELS)
        await settle(pilot)
        compare("settings", size, app)
        parts.highlighted = list(SettingsSection).index(SettingsSection.ENDPOINTS)
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        compare("settings-endpoints", size, app)
