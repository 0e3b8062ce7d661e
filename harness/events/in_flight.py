"""Which entries are under way and which wait for another try, for whoever shows the run."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from harness.events.kinds import Waiting


@dataclass(frozen=True, slots=True)
class Pending:
    """A wait that has begun."""

    attempt: int
    attempts_allowed: int
    until: float
    reason: str


@dataclass(slots=True)
class InFlight:
    """Written by the run's event loop, read from other threads by copying."""

    clock: Callable[[], float] = time.monotonic
    in_flight: set[int] = field(default_factory=set)
    """Positions of the entries being translated, those that wait included."""
    pending: dict[int, Pending] = field(default_factory=dict)
    rate_limited: int = 0
    """429 replies so far."""
    retries: int = 0
    """Tries after the first so far."""

    def under_way(self) -> tuple[int, ...]:
        """Return the positions whose call is under way now."""
        waiting = self.pending.copy()
        return tuple(sorted(place for place in self.in_flight.copy() if place not in waiting))

    def waiting(self) -> tuple[Waiting, ...]:
        """Return the entries that wait for their next try."""
        now = self.clock()
        return tuple(
            Waiting(
                place, wait.attempt, wait.attempts_allowed, max(0.0, wait.until - now), wait.reason
            )
            for place, wait in sorted(self.pending.copy().items())
        )
