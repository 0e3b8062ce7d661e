"""The map of a sweep of 1,000 runs and the leaderboard, beside Home with the same 1,000 runs: from exec until the
numbers are there.

    python -u -P -m benchmarks.heat_map [rounds] [runs]

All are opened in turn on a real pseudo terminal (140 × 40) over one store; printed are medians of the wall clock
and of the processor's seconds until then, which other work changes less, and their ratios (goal ≤ 1.2).
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from benchmarks.app_keys import fill
from benchmarks.terminal import ROSETTA, Terminal
from harness.store.sqlite.database import open_store
from harness.store.sweeps import NewCell, keep_sweep, read_cells, set_run

DEFAULTS = (9, 1000)
GOAL = 1.2
COLUMNS = 25
"""Values of the axis that goes across."""

MAP = [*ROSETTA[:-1], "from rosetta_tui.cli import main; main(['sweep', 'show', '--screen'])"]
_BOARD = """
from rosetta_tui.commands.naming import when_used
with when_used():
    from rosetta_tui.app import launch
    from rosetta_tui.leaderboard import screen
launch.open_app(lambda path: [screen.LeaderboardScreen(path)])
"""
BOARD = [*ROSETTA[:-1], _BOARD]
"""The leaderboard in place of Home, begun as a command begins a screen."""


def fill_sweep(home: Path, runs: int) -> None:
    """Make a store of that many complete runs, and a sweep whose cells they are, two repetitions each."""
    fill(home, runs)
    with closing(open_store(home / "rosetta.sqlite")) as store:
        ids = [row[0] for row in store.execute("SELECT run_id FROM runs ORDER BY id")]
        labels = [{"model": f"model {n // (2 * COLUMNS)}", "prompt": f"p{n // 2 % COLUMNS}"} for n in range(len(ids))]
        axes = {axis: list(dict.fromkeys(each[axis] for each in labels)) for axis in ("model", "prompt")}
        stated = {a: [{"label": each, "options": {}} for each in found] for a, found in axes.items()}
        cells = [NewCell(f"run {n}", each, n % 2, f"{n:064x}", 10) for n, each in enumerate(labels)]
        sweep = keep_sweep(
            store, key="0" * 64, name="thousand", file="plan.toml", budget_usd=None, workers=1, cells=cells,
            plan=json.dumps({"axes": stated, "replicates": 2}),
        )  # fmt: skip
        store.execute("BEGIN IMMEDIATE")
        for cell, run_id in zip(read_cells(store, sweep.number), ids, strict=True):
            set_run(store, sweep.number, cell.place, run_id, reused=True)
        store.execute("COMMIT")


class Opened(NamedTuple):
    """What a screen took until its words was there."""

    seconds: float
    processor: float
    """Seconds of it."""


def opened(command: Sequence[str], home: Path, words: str) -> Opened:
    """Open the app on a terminal, and wait until these words are there."""
    terminal = Terminal(command, {**os.environ, "ROSETTA_HOME": str(home)})
    try:
        seconds = terminal.see(words, 60)
        return Opened(seconds, terminal.processor())
    finally:
        terminal.end()


def main() -> None:
    """Measure in turn and print medians."""
    given = [int(word) for word in sys.argv[1:]]
    rounds, runs = (*given, *DEFAULTS[len(given) :])
    screens = {
        "Home": (ROSETTA, f"{runs:,} runs"),
        "map of the sweep": (MAP, "on the front"),
        "leaderboard": (BOARD, "working out the groups"),
    }
    found: dict[str, list[Opened]] = {name: [] for name in screens}
    with tempfile.TemporaryDirectory() as name:
        fill_sweep(home := Path(name), runs)
        for number in range(rounds + 1):
            for screen, (command, words) in screens.items():
                took = opened(command, home, words)
                if number:  # the first round makes the compiled modules
                    found[screen].append(took)
    load = " ".join(f"{each:.1f}" for each in os.getloadavg())
    print(f"{runs:,} runs, {rounds} rounds, load {load}")
    of_home = medians(found["Home"])
    for screen, each in found.items():
        wall, processor = medians(each)
        ratios = wall / of_home.seconds, processor / of_home.processor
        verdict = "met" if ratios[0] <= GOAL else "MISSED"
        print(
            f"{screen}: {wall:.2f} s ({min(each).seconds:.2f}–{max(each).seconds:.2f}) = {ratios[0]:.2f} × Home, "
            f"processor {processor:.2f} s = {ratios[1]:.2f} ×" + ("" if screen == "Home" else f" (goal ≤ {GOAL:g}): {verdict}")
        )  # fmt: skip


def medians(found: Sequence[Opened]) -> Opened:
    """Return the middle of both."""
    return Opened(*(statistics.median(each) for each in zip(*found, strict=True)))


if __name__ == "__main__":
    main()
