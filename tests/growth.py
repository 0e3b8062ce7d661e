"""How the work grows with its input: a bound that neither a slow nor a busy machine changes, or a count."""

from __future__ import annotations

import gc
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

NOISE = 0.005
"""Processor seconds below which a measurement says nothing."""

MOST_ROUNDS = 20
"""Rounds before growth counts as too fast. Another program can only make a round look slower, so the best of many is near what the work costs."""


def grows_less(act: Callable[[int], object], small: int, large: int, bound: float) -> bool:
    """Tell whether the processor time of ``act(large)`` is below ``bound`` × that of ``act(small)``, for each of the input.

    A bound of 1 would mean that it grows as its input does, ``large / small`` that it grows with the square. One
    round comes before, which imports and fills caches; rounds go on until the bound is kept.
    """
    act(small)
    best = {small: float("inf"), large: float("inf")}
    collects = gc.isenabled()
    gc.disable()
    try:
        for _ in range(MOST_ROUNDS):
            for size in (small, large):
                begun = time.process_time()
                act(size)
                best[size] = min(best[size], time.process_time() - begun)
            if best[large] / max(best[small], NOISE) * small / large < bound:
                return True
    finally:
        if collects:
            gc.enable()
    return False


@contextmanager
def sqlite_steps(connection: sqlite3.Connection) -> Iterator[Callable[[], int]]:
    """Count the steps of SQLite's machine within a block, in tens; the same work gives the same count."""
    tens = 0

    def step() -> int:
        nonlocal tens
        tens += 1
        return 0

    connection.set_progress_handler(step, 10)
    try:
        yield lambda: tens
    finally:
        connection.set_progress_handler(None, 0)
