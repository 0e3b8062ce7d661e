"""Settings in a real terminal: what is chosen there holds when the program is started again."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from harness.settings import Settings, read_settings

DOWN, LEFT, END, LEAVE = "\x1b[B", "\x1b[D", "\x1b[F", "\x11"


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal of the system")
@pytest.mark.thorough
def test_chosen_key_and_colours_hold_at_the_next_start(tmp_path: Path) -> None:
    from tests.tui.real.pseudo import Pseudo, wait

    home = tmp_path / "home"
    with Pseudo(home) as terminal:
        terminal.wait_for("Run the demo")
        terminal.press(",")
        terminal.wait_for("Settings", "Colours", "rosetta-contrast")
        terminal.press("\r")
        terminal.wait_for("⏎ Open")
        terminal.press(f"{DOWN}\r")
        terminal.wait_for("saved ✓", "● chosen")
        terminal.press(f"{LEFT}{END}")
        terminal.wait_for("what it does", "Leaderboard")
        terminal.press("\r")
        terminal.wait_for("⏎ Open")
        terminal.press("/")
        wait(terminal.screen, lambda seen: "⏎ Open" not in seen)
        terminal.press("home.leaderboard")
        terminal.wait_for("home.leaderboard")
        terminal.press("\r")
        terminal.wait_for("⏎ Open")
        terminal.press("\r")
        terminal.wait_for("Press the key for Leaderboard")
        terminal.press("K")
        terminal.wait_for("shipped: l")
        terminal.press(LEAVE)
        assert terminal.ended() == 0
    chosen = Settings(theme="rosetta-light", keys={"home.leaderboard": "K"})
    assert read_settings(home) == chosen
    with Pseudo(home) as terminal:
        terminal.wait_for("Run the demo")
        terminal.press("K")
        terminal.wait_for("Rosetta › Leaderboard")
        terminal.press(LEAVE)
        assert terminal.ended() == 0
