"""Peak memory of each command's whole process by the number of entries; the goal is that it does not grow with it.

Run from the repository: ``python -m benchmarks.memory [SIZE …] [--metrics surface]``. A generated corpus through ``run``
with ``copy-source``, then scored again, shown, verified and exported. The peak is the kernel's (``ru_maxrss`` of the process).
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.end_to_end import compiled, write

SIZES = (1_000, 5_000, 20_000)
SURFACE = "exact_match_rate,chrf_plus_plus,bleu,ter,length_ratio"
METRICS = {"surface": ["--metrics", SURFACE], "all": [], "analyser": []}
"""Metrics of a run; ``analyser``: all, with one of the synthetic language."""
GOAL_MB = 250
_MEASURED = """
import resource, sys
from rosetta_tui.cli import main
try:
    main(sys.argv[1:])
finally:
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(f"peak {used.ru_maxrss // 1024} {used.ru_utime + used.ru_stime:.1f}", file=sys.stderr)
"""


def peak(home: Path, *arguments: str) -> tuple[int, float, str]:
    """Run a command; return its peak in MB, its processor seconds and what it wrote."""
    command = [sys.executable, "-P", "-c", _MEASURED, *arguments]
    environment = {**os.environ, "ROSETTA_HOME": str(home), "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    found = re.search(r"^peak (\d+) ([\d.]+)$", done.stderr, re.MULTILINE)
    if done.returncode or found is None:
        raise SystemExit(f"{' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")
    return int(found[1]), float(found[2]), done.stdout


def commands(folder: Path, corpus: Path, name: str) -> dict[str, list[str]]:
    """Return the commands in their order, by name; ``last`` is the newest run. What has all metrics is not scored again."""
    analyser = ["--analyser", str(compiled(folder))]
    metrics = analyser if name == "analyser" else METRICS[name]
    again = {} if name == "analyser" else {"score again": ["score", "--rescore", "last", *analyser]}
    return {
        "run": ["run", str(corpus), "--method", "copy-source", "--quiet", *metrics],
        "runs show": ["runs", "show", "last"],
        "runs list": ["runs", "list"],
        "export card": ["runs", "export", "last", "-o", str(folder / "card.json")],
        "export rows": ["runs", "export", "last", "-o", str(folder / "rows.jsonl")],
        "verify file": ["runs", "verify", str(folder / "card.json")],
        "verify run": ["runs", "verify", "last"],
        **again,
    }


def main() -> None:
    """Print a row for each command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=SIZES)
    parser.add_argument("--metrics", choices=METRICS, action="append")
    given = parser.parse_args()
    for name in given.metrics or METRICS:
        for size in given.sizes:
            with tempfile.TemporaryDirectory() as place:
                folder = Path(place)
                corpus, _ = write(folder, size)
                for command, arguments in commands(folder, corpus, name).items():
                    mb, seconds, _ = peak(folder / "home", *arguments)
                    goal = f" (goal ≤ {GOAL_MB} {'met' if mb <= GOAL_MB else 'MISSED'})" if size >= 20_000 else ""
                    print(f"{name:<8} {size:>9,} {command:<12} {mb:>6,} MB {seconds:>7.1f} s{goal}", flush=True)


if __name__ == "__main__":
    main()
