"""Settings in a real terminal: what is chosen there holds when the program is started again."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

import pytest

from harness.settings import Settings, read_settings
from tests.tui.home.terminal import Terminal

pytestmark = [
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
    pytest.mark.costly("starts the program twice in a real terminal"),
]


def test_chosen_key_and_colours_hold_at_the_next_start(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "settings.toml").write_text("theme = 'a'\ntheme = 3\n")
    with closing(Terminal(tmp_path)) as terminal:
        terminal.wait_for("Your settings cannot be read", "Cannot overwrite")
        terminal.press("C-q")
        terminal.wait_until_gone()
    (home / "settings.toml").unlink()
    with closing(Terminal(tmp_path)) as terminal:
        terminal.wait_for("Run the demo")
        terminal.press(",")
        terminal.wait_for("Settings", "Colours", "rosetta-contrast")
        terminal.press("Enter")
        terminal.wait_for("⏎ Open")
        terminal.press("Down", "Enter")
        terminal.wait_for("saved ✓", "● chosen")
        terminal.press("Left", "End")
        terminal.wait_for("what it does", "Leaderboard")
        terminal.press("Enter")
        terminal.wait_for("⏎ Open")
        terminal.press("/")
        terminal.wait_for(gone="⏎ Open")
        terminal.type("home.leaderboard")
        terminal.wait_for("home.leaderboard")
        terminal.press("Enter")
        terminal.wait_for("⏎ Open")
        terminal.press("Enter")
        terminal.wait_for("Press the key for Leaderboard")
        terminal.press("K")
        terminal.wait_for("shipped: l")
        terminal.press("C-q")
        terminal.wait_until_gone()
    chosen = Settings(theme="rosetta-light", keys={"home.leaderboard": "K"})
    assert read_settings(home) == chosen
    with closing(Terminal(tmp_path)) as terminal:
        terminal.wait_for("Run the demo")
        terminal.press("K")
        terminal.wait_for("Rosetta › Leaderboard")
        terminal.press("C-q")
        terminal.wait_until_gone()
