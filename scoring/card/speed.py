"""Latency and throughput of a run, from its entries (§7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scoring.card.cost import per


@dataclass(frozen=True, slots=True)
class Timing:
    """How long one entry took."""

    latency_s: float | None
    """Seconds from asking to answer, of the whole call where several entries shared it; None if unknown."""
    cached: bool = False
    """Answered from the response cache: no measure of the method (DESIGN M4)."""
    batch_size: int = 1
    """Entries that shared the call."""


@dataclass(frozen=True, slots=True)
class SpeedBlock:
    """The ``speed`` block (§7); seconds unless the name says otherwise."""

    elapsed_seconds: float | None
    avg_latency_seconds: float | None
    median_latency_seconds: float | None
    p95_latency_seconds: float | None
    tokens_per_second: float | None
    entries_per_minute: float | None
    latency_entries: int
    """Entries behind the latencies: neither cached nor without a measured time."""
    cached_entries: int
    latency_of: str
    """``entry``, or ``batch call`` where entries shared calls, so that nobody divides by the batch."""


def percentiles(latencies: Sequence[float]) -> tuple[float | None, float | None]:
    """Return median and 95th percentile in seconds, interpolated linearly (M4); None where none is known."""
    if not latencies:
        return None, None
    middle, late = np.percentile(np.asarray(latencies, dtype=np.float64), [50, 95])
    return float(middle), float(late)


def speed(
    timings: Sequence[Timing], *, elapsed_seconds: float | None, total_tokens: int | None
) -> SpeedBlock:
    """Summarise a run; entries from the cache and of unknown time say nothing about its latency."""
    measured = [t for t in timings if not t.cached and t.latency_s is not None]
    latencies = [t.latency_s for t in measured if t.latency_s is not None]
    middle, late = percentiles(latencies)
    return SpeedBlock(
        elapsed_seconds=elapsed_seconds,
        avg_latency_seconds=float(np.mean(latencies)) if latencies else None,
        median_latency_seconds=middle,
        p95_latency_seconds=late,
        tokens_per_second=per(total_tokens, elapsed_seconds),
        entries_per_minute=per(len(timings), per(elapsed_seconds, 60)),
        latency_entries=len(measured),
        cached_entries=sum(t.cached for t in timings),
        latency_of="batch call" if any(t.batch_size > 1 for t in measured) else "entry",
    )
