"""The settings screen, opened."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from rosetta_tui.settings.rows import SettingsSection
from rosetta_tui.settings.screen import SettingsScreen
from tests.keyring_in_memory import MemoryKeyring, memory_keyring
from tests.tui.screens import App, press, settle


@pytest.fixture(autouse=True)
def ring(monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryKeyring]:
    for name in ("OPENROUTER_API_KEY", "OPENAI_API_KEY", "DEEPL_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with memory_keyring() as ring:
        yield ring


@pytest.fixture
def app(tmp_path: Path) -> App:
    return App(None, tmp_path / "s.sqlite")


async def opened(
    pilot: Pilot[Any], section: SettingsSection = SettingsSection.COLOURS
) -> SettingsScreen:
    screen = SettingsScreen(pilot.app.store_path)  # type: ignore[attr-defined]
    await settle(pilot)
    pilot.app.push_screen(screen)
    await settle(pilot)
    parts = screen.query_one("#parts", OptionList)
    parts.highlighted = list(SettingsSection).index(section)
    await settle(pilot)
    await press(pilot, "enter")
    assert screen.focused is screen.table
    return screen


def to_row(screen: SettingsScreen, id_: str) -> None:
    index = screen.table.rows.find(id_)  # type: ignore[attr-defined]
    assert index is not None, id_
    screen.table.move_to(index)
    screen.table.post_message(screen.table.Moved(screen.table))


async def fill(pilot: Pilot[Any], words: str) -> None:
    await settle(pilot)
    pilot.app.screen.query_one(Input).value = words
    await press(pilot, "enter")
