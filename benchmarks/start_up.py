"""Start-up: commands beside a bare interpreter, in processor time, and the app from exec to its first frame."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence

from benchmarks.terminal import ROSETTA, Terminal

ROUNDS = 15
HELP = [*ROSETTA[:-1], "from rosetta_tui.cli import main; main(['--help'])"]
BARE = [sys.executable, "-P", "-c", "pass"]
GOALS = {"--help": 1.5, "run --help": 6.0, "runs list": 6.0, "doctor --json": 15.0}
"""Command → most processor time that it may take, in times of a bare interpreter's."""


def wall_seconds(command: Sequence[str]) -> float:
    """Run a command once."""
    began = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def processor_seconds(command: Sequence[str], environment: Mapping[str, str]) -> float:
    """Run a command once; seconds of the processor, those of the system included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, capture_output=True, check=False, env=dict(environment))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def command_ratios(home: str) -> dict[str, float]:
    """Return each command's processor time over a bare interpreter's, medians of runs in turn.

    Compiled modules are kept, as in every installation, and the first round is for making them.
    """
    environment = {**os.environ, "ROSETTA_HOME": home, "PYTHONPYCACHEPREFIX": f"{home}/compiled"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    start = "import sys; from rosetta_tui.cli import main; main(sys.argv[1:])"
    bare: list[float] = []
    taken: dict[str, list[float]] = {command: [] for command in GOALS}
    for number in range(ROUNDS + 1):
        found = processor_seconds(BARE, environment)
        each = {
            command: processor_seconds(
                [sys.executable, "-P", "-c", start, *command.split()], environment
            )
            for command in GOALS
        }
        if number:
            bare.append(found)
            for command, seconds in each.items():
                taken[command].append(seconds)
    least = statistics.median(bare)
    return {command: statistics.median(seconds) / least for command, seconds in taken.items()}


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
    with tempfile.TemporaryDirectory() as home:
        for command, ratio in command_ratios(home).items():
            print(f"rosetta {command}: {ratio:.1f} × (goal ≤ {GOALS[command]:g}) in processor time")


if __name__ == "__main__":
    main()
