"""Start-up: ``rosetta --help`` beside a bare interpreter, and the app from exec to its first frame."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence

from benchmarks.terminal import ROSETTA, Terminal

ROUNDS = 15
HELP = [*ROSETTA[:-1], "from rosetta_tui.cli import main; main(['--help'])"]
BARE = [sys.executable, "-P", "-c", "pass"]


def wall_seconds(command: Sequence[str]) -> float:
    """Run a command once."""
    began = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def first_frame(home: str) -> float:
    """Open the app on a real terminal; seconds until Home is drawn."""
    terminal = Terminal(ROSETTA, {**os.environ, "ROSETTA_HOME": home})
    try:
        return terminal.see("Run the demo", 30)
    finally:
        terminal.end()


def main() -> None:
    """Measure in turns and print medians."""
    bare, help_page, frames = [], [], []
    with tempfile.TemporaryDirectory() as home:
        first_frame(home)
        for _ in range(ROUNDS):
            bare.append(wall_seconds(BARE))
            help_page.append(wall_seconds(HELP))
            frames.append(first_frame(home))
    middle = statistics.median
    print(
        f"bare interpreter {middle(bare) * 1000:.0f} ms · rosetta --help {middle(help_page) * 1000:.0f} ms "
        f"= {middle(help_page) / middle(bare):.1f} × (goal ≤ 4) · app to first frame "
        f"{middle(frames):.2f} s (goal ≤ 0.5)"
    )


if __name__ == "__main__":
    main()
