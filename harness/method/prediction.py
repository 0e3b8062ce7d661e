"""What a method made of an entry, with what it took: the share of each call that falls to the entry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from corpora.model.entry import Entry
from harness.core.calls import Usage
from harness.method.method import Output
from harness.method.result import Attempt


@dataclass(frozen=True, slots=True)
class Prediction:
    """One entry's output on its way to be scored and stored."""

    position: int
    entry: Entry
    output: Output
    attempts: tuple[Attempt, ...] = ()
    latency_seconds: float | None = None
    cached: bool = False
    batch_size: int = 1
    usage: Usage | None = None
    cost_usd: float | None = None
    spent_usd: float | None = None
    finished_at: float = 0.0


def shares(usage: Usage | None, entries: int) -> list[Usage | None]:
    """Part a call's tokens among its entries; whole numbers that add up to the call's own."""
    if usage is None:
        return [None] * entries
    parts = [
        _part(count, entries)
        for count in (
            usage.prompt_tokens,
            usage.completion_tokens,
            usage.reasoning_tokens,
            usage.cached_tokens,
        )
    ]
    return [Usage(*numbers) for numbers in zip(*parts, strict=True)]


def _part(count: int, entries: int) -> Sequence[int]:
    whole, rest = divmod(count, entries)
    return [whole + (place < rest) for place in range(entries)]
