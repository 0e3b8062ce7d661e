"""Tokens, money (§6), latency and throughput (§7) of a run, from its entries. Unknown is None, never 0 (DESIGN M5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import fsum

import numpy as np


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCounts:
    """Tokens, each counted once (§6.1); None where the endpoint does not count."""

    prompt_tokens: int | None = 0
    """All input tokens, cached ones included."""
    completion_tokens: int | None = 0
    """All output tokens, reasoning included."""
    reasoning_tokens: int | None = 0
    cached_tokens: int | None = 0


@dataclass(frozen=True, slots=True)
class EntryCost(TokenCounts):
    """What one entry used, all its attempts together."""

    cost_usd: float | None
    """US dollars; 0.0 where it is known to cost nothing, None where the price is not known."""
    source_characters: int


@dataclass(frozen=True, slots=True)
class TokenBlock(TokenCounts):
    """The ``tokens`` block (§6.1). A sum is None where one of its entries was not counted."""

    total_tokens: int | None
    tokens_per_entry: float | None
    uncounted_entries: int
    """Entries whose endpoint did not count prompt or completion tokens."""
    known_total_tokens: int
    """Prompt and completion tokens of the entries that were counted."""


@dataclass(frozen=True, slots=True)
class CostBlock:
    """The ``cost`` block (§6.2), US dollars."""

    total_cost_usd: float | None
    """None as soon as one entry's cost is unknown."""
    cost_per_entry_usd: float | None
    cost_per_1k_tokens: float | None
    cost_per_source_char: float | None
    known_cost_usd: float
    """The part that is known; a lower bound of the total."""
    unpriced_entries: int
    """Entries whose cost is unknown."""
    reason: str | None
    """Why the total is unknown, None where it is known."""


def tokens(rows: Sequence[EntryCost]) -> TokenBlock:
    """Add up the tokens of all entries."""
    names = [field.name for field in fields(TokenCounts)]
    counts: dict[str, list[int | None]] = {name: [getattr(row, name) for row in rows] for name in names}
    sums = {name: None if None in listed else sum(filter(None, listed)) for name, listed in counts.items()}
    prompt, completion = sums["prompt_tokens"], sums["completion_tokens"]
    total = None if prompt is None or completion is None else prompt + completion
    counted = [
        row.prompt_tokens + row.completion_tokens
        for row in rows
        if row.prompt_tokens is not None and row.completion_tokens is not None
    ]
    return TokenBlock(
        **sums,
        total_tokens=total,
        tokens_per_entry=per(total, len(rows)),
        uncounted_entries=len(rows) - len(counted),
        known_total_tokens=sum(counted),
    )


def cost(rows: Sequence[EntryCost], total_tokens: int | None, *, made_elsewhere: bool = False) -> CostBlock:
    """Add up the cost of all entries and set it against entries, tokens and source characters.

    ``total_tokens`` are those of ``tokens``. ``made_elsewhere``: the outputs were read from a file, so that no call of theirs is known here.
    """
    known = [row.cost_usd for row in rows if row.cost_usd is not None]
    total = fsum(known) if len(known) == len(rows) else None
    thousands = per(total_tokens, 1000)
    unpriced = len(rows) - len(known)
    why = "a call of theirs broke off and may have been charged, or no price is known"
    if made_elsewhere:
        why = "what these outputs cost is not known here"
    reason = f"{unpriced:,} of {len(rows):,} entries have no known cost: {why}."
    return CostBlock(
        total_cost_usd=total,
        cost_per_entry_usd=per(total, len(rows)),
        cost_per_1k_tokens=per(total, thousands),
        cost_per_source_char=per(total, sum(row.source_characters for row in rows)),
        known_cost_usd=fsum(known),
        unpriced_entries=unpriced,
        reason=reason if unpriced else None,
    )


def per(amount: float | None, units: float | None) -> float | None:
    """Divide, None where either side is unknown or there are no units."""
    return amount / units if amount is not None and units else None


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


def speed(timings: Sequence[Timing], *, elapsed_seconds: float | None, total_tokens: int | None) -> SpeedBlock:
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
