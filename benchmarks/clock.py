"""CPU time of competitors, measured in turns in one process: the best of several rounds each.

The machine may be busy, so wall time means little; taking turns makes a slow spell hit all alike.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping


def best_cpu_seconds(competitors: Mapping[str, Callable[[], object]], rounds: int = 3) -> dict[str, float]:
    """Run every competitor once per round and keep the fastest time of each."""
    best = dict.fromkeys(competitors, float("inf"))
    for _ in range(rounds):
        for name, run in competitors.items():
            gc.collect()
            start = time.process_time()
            run()
            best[name] = min(best[name], time.process_time() - start)
    return best


def ratio_line(what: str, ours: float, theirs: float, goal: float, per: int) -> str:
    """Write one comparison: both times in microseconds per entry, the ratio, and the goal."""
    ratio = theirs / ours
    verdict = "met" if ratio >= goal else "MISSED"
    return (
        f"{what:<34} ours {ours / per * 1e6:8.1f} µs  sacreBLEU {theirs / per * 1e6:8.1f} µs  "
        f"ratio {ratio:6.1f}  goal {goal:g} {verdict}"
    )
