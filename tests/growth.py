"""How the work grows with its input: a ratio that neither a slow nor a busy machine changes much."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

NOISE = 0.005
"""Processor seconds below which a measurement says nothing."""


def growth(act: Callable[[int], object], small: int, large: int, *, rounds: int = 3) -> float:
    """Return how many times the processor time of ``act(large)`` is that of ``act(small)``.

    1 means that it grows as its input does, ``large / small`` that it grows with the square. Each is the
    best of some rounds, after one that imports and fills caches.
    """
    act(small)

    def seconds(size: int) -> float:
        found = []
        for _ in range(rounds):
            begun = time.process_time()
            act(size)
            found.append(time.process_time() - begun)
        return min(found)

    collects = gc.isenabled()
    gc.disable()
    try:
        return seconds(large) / max(seconds(small), NOISE) * small / large
    finally:
        if collects:
            gc.enable()
