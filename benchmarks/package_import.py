"""``import rosetta`` beside a bare interpreter, in processor time.

Run from the repository: ``python -P -m benchmarks.package_import``. Whole processes in turns, medians.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys

ROUNDS = 25
GOAL = 1.5


def processor_seconds(code: str) -> float:
    """Run an interpreter with a line of code; seconds of the processor, system's included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-P", "-c", code], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure in turns and print medians."""
    bare, imported = [], []
    processor_seconds("import rosetta")  # compiled, and on the disk's cache
    for _ in range(ROUNDS):
        bare.append(processor_seconds("pass"))
        imported.append(processor_seconds("import rosetta"))
    one, other = statistics.median(bare), statistics.median(imported)
    print(
        f"bare interpreter {one * 1000:.1f} ms · import rosetta {other * 1000:.1f} ms "
        f"= {other / one:.2f} × (goal ≤ {GOAL:g})"
    )


if __name__ == "__main__":
    main()
