"""From nothing to a scored run in a real terminal: no documents, no key, no network, one key press."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from harness.store.file.database import open_store
from harness.store.runs import list_runs

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")

PATIENCE_SECONDS = 90.0


class Terminal:
    """A real terminal of 80 × 24 in which the app runs."""

    def __init__(self, folder: Path, *words: str) -> None:
        """``words`` are the command line's; the app opens on Home without any."""
        self._server = ["tmux", "-S", str(folder / "-".join(("tmux", *words))), "-f", "/dev/null"]
        program = f"from rosetta_tui.cli import main; main({list(words)})"
        home = f"ROSETTA_HOME={folder / 'home'}"
        size = ["-x", "80", "-y", "24"]
        command = [sys.executable, "-P", "-c", program]
        self._tmux("new-session", "-d", *size, "-e", home, *command)

    def _tmux(self, *words: str) -> str:
        done = subprocess.run([*self._server, *words], check=True, capture_output=True, text=True)
        return done.stdout

    def screen(self) -> str:
        return self._tmux("capture-pane", "-p")

    def press(self, *keys: str) -> None:
        self._tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-l", text)

    def wait_for(self, *words: str) -> str:
        """Wait until all of the words stand on the screen."""
        end = time.monotonic() + PATIENCE_SECONDS
        while not all(word in (seen := self.screen()) for word in words):
            assert time.monotonic() < end, seen
            time.sleep(0.05)
        return seen

    def wait_until_gone(self) -> None:
        """Wait until the program has ended, and its terminal with it."""
        end = time.monotonic() + PATIENCE_SECONDS
        ask = [*self._server, "has-session"]
        while subprocess.run(ask, check=False, capture_output=True).returncode == 0:
            assert time.monotonic() < end, self.screen()
            time.sleep(0.05)

    def close(self) -> None:
        subprocess.run([*self._server, "kill-server"], check=False, capture_output=True)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    with closing(Terminal(tmp_path)) as opened:
        yield opened


@pytest.mark.thorough
def test_one_key_leads_from_nothing_to_a_scored_run(terminal: Terminal, tmp_path: Path) -> None:
    seen = terminal.wait_for("D  Run the demo", "n  New run", "w  What is missing", "? Help")
    assert "Is a machine translation good enough?" in seen
    terminal.press("Enter")
    terminal.wait_for("chrF++", "complete")
    terminal.press("Down", "Enter")
    terminal.wait_for("Reference", "Output")
    terminal.press("q")
    terminal.wait_for("complete")
    terminal.press("q")
    seen = terminal.wait_for("Rosetta › Home   1 run", "✓")
    assert "◆" in seen
    terminal.press("q")
    with closing(open_store(tmp_path / "home" / "rosetta.sqlite")) as store:
        [made] = list_runs(store)
    assert made.state == "complete"
    assert made.card is not None
