"""The map of a sweep of 1,000 runs beside Home with the same 1,000 runs: from exec until its numbers stand there.

    python -u -P -m benchmarks.heat_map [rounds] [runs]

Both are opened in turn on a real pseudo terminal (140 × 40) over one store; printed are medians and their
ratio (goal ≤ 1.2).
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

from benchmarks.app_keys import fill
from benchmarks.terminal import ROSETTA, Terminal
from harness.store.file.database import open_store
from harness.store.sweeps import NewCell, keep_sweep, read_cells, set_run

DEFAULTS = (9, 1000)
GOAL = 1.2
COLUMNS = 25
"""Values of the axis that goes across."""

MAP = [*ROSETTA[:-1], "from rosetta_tui.cli import main; main(['sweep', 'show', '--screen'])"]


def fill_sweep(home: Path, runs: int) -> None:
    """Make a store of so many complete runs, and a sweep whose cells they are, two repetitions each."""
    fill(home, runs)
    with closing(open_store(home / "rosetta.sqlite")) as store:
        ids = [row[0] for row in store.execute("SELECT run_id FROM runs ORDER BY id")]
        labels = [{"model": f"model {n // (2 * COLUMNS)}", "prompt": f"p{n // 2 % COLUMNS}"} for n in range(len(ids))]  # fmt: skip
        axes = {axis: list(dict.fromkeys(each[axis] for each in labels)) for axis in ("model", "prompt")}  # fmt: skip
        stated = {a: [{"label": each, "options": {}} for each in found] for a, found in axes.items()}  # fmt: skip
        cells = [NewCell(f"run {n}", each, n % 2, f"{n:064x}", 10) for n, each in enumerate(labels)]
        sweep = keep_sweep(
            store, key="0" * 64, name="thousand", file="plan.toml", budget_usd=None, workers=1, cells=cells,
            plan=json.dumps({"axes": stated, "replicates": 2}),
        )  # fmt: skip
        store.execute("BEGIN IMMEDIATE")
        for cell, run_id in zip(read_cells(store, sweep.number), ids, strict=True):
            set_run(store, sweep.number, cell.place, run_id, reused=True)
        store.execute("COMMIT")


def seconds_until(command: Sequence[str], home: Path, words: str) -> float:
    """Open the app on a terminal; seconds until these words stand there."""
    terminal = Terminal(command, {**os.environ, "ROSETTA_HOME": str(home)})
    try:
        return terminal.see(words, 60)
    finally:
        terminal.end()


def main() -> None:
    """Measure in turn and print medians."""
    given = [int(word) for word in sys.argv[1:]]
    rounds, runs = (*given, *DEFAULTS[len(given) :])
    of_home, of_map = list[float](), list[float]()
    with tempfile.TemporaryDirectory() as name:
        fill_sweep(home := Path(name), runs)
        for number in range(rounds + 1):
            one = seconds_until(ROSETTA, home, f"{runs:,} runs")
            other = seconds_until(MAP, home, "on the front")
            if number:  # the first round makes the compiled modules
                of_home.append(one)
                of_map.append(other)
    one, other = statistics.median(of_home), statistics.median(of_map)
    verdict = "met" if other <= GOAL * one else "MISSED"
    print(
        f"{runs:,} runs, {rounds} rounds: Home {one:.2f} s ({min(of_home):.2f}–{max(of_home):.2f}) · map of the sweep "
        f"{other:.2f} s ({min(of_map):.2f}–{max(of_map):.2f}) = {other / one:.2f} × (goal ≤ {GOAL:g}): {verdict} · "
        "load " + " ".join(f"{each:.1f}" for each in os.getloadavg())
    )


if __name__ == "__main__":
    main()
