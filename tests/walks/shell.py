"""The program in a process of its own, and what it reads out in plain lines."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

MAIN = [sys.executable, "-P", "-c", "from rosetta_tui.cli import main; main()"]

_ITEM = re.compile(r"^Original: (.*?)^Translation: (.*?)(?=^[^ ])", re.DOTALL | re.MULTILINE)


def shown_item(seen: str) -> tuple[str, str] | None:
    """Return original and translation of the sentence that was read out last and asks for an answer."""
    if not seen.rstrip().endswith("? for help:"):
        return None
    found = _ITEM.findall(seen)
    return (" ".join(found[-1][0].split()), " ".join(found[-1][1].split())) if found else None


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

    def wait_for(self, *words: str, gone: str = "\0") -> str:
        """Wait until all of the words stand on the screen, and another one does not."""
        end = time.monotonic() + PATIENCE_SECONDS
        while not all(word in (seen := self.screen()) for word in words) or gone in seen:
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
