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
from pathlib import Path
from typing import NamedTuple

from benchmarks.app_keys import fill
from benchmarks.terminal import ROSETTA, Terminal
from rosetta_tui.front import commands

ROUNDS = 15
GROUPS = ("", "runs", "review", "vault", "community", "submission")
HELP_ROUNDS = 5
HELP = [*ROSETTA[:-1], "from rosetta_tui.cli import main; main(['--help'])"]
BARE = [sys.executable, "-I", "-c", "pass"]
LISTED = 1000
"""Runs of the app whose list is compared with the empty app."""
HELP_GOAL = 6.0
"""Most processor time of any command's help page, in times of a bare interpreter's."""


class Measured(NamedTuple):
    """A command whose processor time is measured, and the most that it may take in times of a bare interpreter's."""

    arguments: str
    goal: float
    runs: int = 0
    """How many runs of the demo are in the store."""

    @property
    def name(self) -> str:
        return f"rosetta {self.arguments}" + (f", {self.runs:,} runs in the store" if self.runs else "")


COMMANDS = (
    Measured("--help", 1.5),
    Measured("--version", 1.5),
    Measured("run --help", 6.0),
    Measured("runs list", 6.0),
    Measured("runs list", 6.0, runs=2),
    Measured("runs list", 8.0, runs=500),
    Measured("runs list", 8.0, runs=1000),
    Measured("runs list --json", 8.0, runs=1000),
    Measured("gate last --min chrf=20", 45.0, runs=500),
    Measured("gate last --not-worse-than last~1", 45.0, runs=500),
    Measured("leaderboard", 40.0, runs=500),
    Measured("doctor --json", 15.0),
)


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


def ratios(given: Mapping[str, tuple[str, str]], rounds: int) -> dict[str, float]:
    """Return processor times over a bare interpreter's by name, medians of runs in turn, of (arguments, data folder).

    Compiled modules are kept, as in every installation, and the first round is for making them.
    """
    shared = dict(os.environ)
    shared.pop("PYTHONDONTWRITEBYTECODE", None)
    start = "import sys; from rosetta_tui.cli import main; main(sys.argv[1:])"
    bare: list[float] = []
    taken: dict[str, list[float]] = {name: [] for name in given}
    with tempfile.TemporaryDirectory() as compiled:
        shared["PYTHONPYCACHEPREFIX"] = compiled
        for number in range(rounds + 1):
            found = processor_seconds(BARE, shared)
            each = {
                name: processor_seconds(
                    [sys.executable, "-P", "-c", start, *arguments.split()], {**shared, "ROSETTA_HOME": home}
                )
                for name, (arguments, home) in given.items()
            }
            if number:
                bare.append(found)
                for name, seconds in each.items():
                    taken[name].append(seconds)
    least = statistics.median(bare)
    return {name: statistics.median(seconds) / least for name, seconds in taken.items()}


def say_processor_time(empty: str, filled: Path) -> None:
    """Print what the commands take, and the slowest of all help pages."""
    homes = {0: empty}
    for runs in {each.runs for each in COMMANDS} - {0}:
        fill(home := filled / str(runs), runs)
        homes[runs] = str(home)
    found = ratios({each.name: (each.arguments, homes[each.runs]) for each in COMMANDS}, ROUNDS)
    say_listed(empty, homes[LISTED])
    for each in COMMANDS:
        print(f"{each.name}: {found[each.name]:.1f} × (goal ≤ {each.goal:g}) in processor time")
    calls = [f"{group} {name} --help" for group in GROUPS for name in commands(group)]
    pages = ratios({call: (call, empty) for call in calls}, HELP_ROUNDS)
    slowest = max(pages, key=pages.__getitem__)
    print(
        f"slowest of {len(pages)} help pages: rosetta {slowest.strip()}, {pages[slowest]:.1f} × "
        f"(goal ≤ {HELP_GOAL:g}) in processor time"
    )


def first_frame(home: str, words: str = "Run the demo") -> tuple[float, float]:
    """Open the app on a real terminal; seconds until Home is drawn with these words, and of the processor until then."""
    terminal = Terminal(ROSETTA, {**os.environ, "ROSETTA_HOME": home})
    try:
        return terminal.see(words, 30), terminal.processor()
    finally:
        terminal.end()


def say_listed(empty: str, filled: str) -> None:
    """Print what the app takes until its runs are listed, over the empty app, in turns."""
    pairs = [(first_frame(empty)[1], first_frame(filled, "griza")[1]) for _ in range(ROUNDS + 1)][1:]
    bare, listed = map(statistics.median, zip(*pairs, strict=True))
    print(
        f"app of {LISTED:,} runs until they are listed: {listed / bare:.2f} × the empty app (goal ≤ 1.2) "
        "in processor time"
    )


def main() -> None:
    """Measure in turns and print medians."""
    bare, help_page, frames = [], [], []
    with tempfile.TemporaryDirectory() as home:
        first_frame(home)
        for _ in range(ROUNDS):
            bare.append(wall_seconds(BARE))
            help_page.append(wall_seconds(HELP))
            frames.append(first_frame(home)[0])
    middle = statistics.median
    print(
        f"bare interpreter {middle(bare) * 1000:.0f} ms · rosetta --help {middle(help_page) * 1000:.0f} ms "
        f"= {middle(help_page) / middle(bare):.1f} × (goal ≤ 4) · app to first frame "
        f"{middle(frames):.2f} s (goal ≤ 0.5)"
    )
    with tempfile.TemporaryDirectory() as empty, tempfile.TemporaryDirectory() as filled:
        say_processor_time(empty, Path(filled))


if __name__ == "__main__":
    main()
