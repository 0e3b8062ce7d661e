"""Settings in a real terminal: what is chosen there holds when the program is started again."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.settings import Settings, read_settings

ROOT = Path(__file__).parents[3]
START = "from rosetta_tui.cli import main; main()"

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


class Terminal:
    """One tmux window of 100 × 30 with the app in it."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._starts = 0
        self._tmux: list[str] = []

    def start(self) -> None:
        """Start the app in a tmux of its own, because the one before may still be leaving."""
        self._starts += 1
        name = f"rosetta-{self._home.parent.name}-{self._starts}"
        self._tmux = ["tmux", "-u", "-L", name, "-f", "/dev/null"]
        command = f"env -u COLUMNS -u LINES ROSETTA_HOME='{self._home}' PYTHONPATH='{ROOT}' '{sys.executable}' -c '{START}'"
        self._run("new-session", "-d", "-x", "100", "-y", "30", command)

    def press(self, *keys: str) -> None:
        self._run("send-keys", *keys)

    def until(self, *words: str) -> str:
        """Read the screen until all words stand on it."""
        return self._wait(lambda shown: all(word in shown for word in words), " and ".join(words))

    def until_without(self, word: str) -> None:
        """Read the screen until a word is gone from it, such as the key of what had the focus."""
        self._wait(lambda shown: word not in shown, f"a screen without {word}")

    def until_gone(self) -> None:
        self._wait(lambda shown: not shown, "the end of the program")

    def _wait(self, fits: Callable[[str], bool], what: str) -> str:
        end = time.monotonic() + 40
        while time.monotonic() < end:
            done = subprocess.run(
                [*self._tmux, "capture-pane", "-p"], capture_output=True, text=True, check=False
            )
            if fits(done.stdout):
                return done.stdout
        raise AssertionError(f"{what} never stood on the screen:\n{done.stdout}")

    def _run(self, *words: str) -> None:
        subprocess.run([*self._tmux, *words], check=True, capture_output=True)

    def close(self) -> None:
        subprocess.run([*self._tmux, "kill-server"], check=False, capture_output=True)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    made = Terminal(tmp_path / "home")
    yield made
    made.close()


def test_a_key_and_colours_that_were_chosen_hold_at_the_next_start(
    terminal: Terminal, tmp_path: Path
) -> None:
    terminal.start()
    terminal.until("Run the demo")
    terminal.press(",")
    terminal.until("Settings", "Colours", "rosetta-contrast")
    terminal.press("Enter")
    terminal.until("⏎ Open")
    terminal.press("Down", "Enter")
    terminal.until("saved ✓", "● chosen")
    terminal.press("Left", "End")
    terminal.until("what it does", "Leaderboard")
    terminal.press("Enter")
    terminal.until("⏎ Open")
    terminal.press("/")
    terminal.until_without("⏎ Open")
    terminal.press("-l", "home.leaderboard")
    terminal.until("home.leaderboard")
    terminal.press("Enter")
    terminal.until("⏎ Open")
    terminal.press("Enter")
    terminal.until("Press the key for Leaderboard")
    terminal.press("K")
    terminal.until("shipped: l")
    terminal.press("C-q")
    terminal.until_gone()
    chosen = read_settings(tmp_path / "home")
    assert chosen == Settings(theme="rosetta-light", keys={"home.leaderboard": "K"})

    terminal.start()
    terminal.until("Run the demo")
    terminal.press("K")
    terminal.until("Rosetta › Leaderboard")
    terminal.press("C-q")
    terminal.until_gone()


def test_a_file_that_cannot_be_read_is_named_and_the_app_opens(
    terminal: Terminal, tmp_path: Path
) -> None:
    (tmp_path / "home").mkdir(mode=0o700)
    (tmp_path / "home" / "settings.toml").write_text("theme = 'a'\ntheme = 3\n")
    terminal.start()
    terminal.until("Your settings cannot be read", "Cannot overwrite")
    terminal.press("C-q")
    terminal.until_gone()
