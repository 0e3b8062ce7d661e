"""One run of a comparison, and what is known of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.method.method import Setup
    from harness.store.certificates import Attached
    from scoring.statistics.intervals import Interval


@dataclass(frozen=True)
class ComparedRun:
    """One run of a comparison; all numbers are over the entries that all runs have."""

    letter: str
    """A to F, in the order in which the runs were named."""
    run_id: str
    number: int
    """The store's own."""
    setup: Setup
    dataset_id: str
    language_pair: str
    created: float
    complete: bool
    under_way: bool
    """Whether a process is at work on it now."""
    imported: bool
    unverified: bool
    total: int
    """Entries that the run is of."""
    done: int
    """Entries that can be compared."""
    values: Mapping[str, float | None]
    """By metric id, and ``composite``."""
    intervals: Mapping[str, Interval]
    failed: int
    cached: int
    """Outputs from the cache: a repetition made of them repeats nothing."""
    cost_usd: float | None
    """What the outputs cost when they were made; None: unknown for one of them (M5)."""
    known_cost_usd: float
    """What is known of it: the least that it can be."""
    median_seconds: float | None
    """Middle latency of the entries that were not answered from the cache."""
    card: Mapping[str, Any] | None = None
    """What its card says of its claim, over all its outputs; None before it has a card."""
    certificates: tuple[Attached, ...] = ()
    """What reviews said of it."""
    file: str = ""
    """Name of the file that the outputs were read from; empty where they were made in the run."""
