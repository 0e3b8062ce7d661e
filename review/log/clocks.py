"""What an organiser sees of a laptop's clock by its events; clocks are shown, and never used to order or decide anything."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import pairwise

from review.log.event import Event

TOLERANCE = timedelta(days=1)
STEP_BACK = timedelta(minutes=5)
"""Smaller steps back are a clock that was set right."""


class ClockFault(StrEnum):
    """What is wrong with a clock."""

    AHEAD = "ahead"
    """Later than the import."""
    BEHIND = "behind"
    """Earlier than the batch was made."""
    BACKWARDS = "backwards"
    """A later event has an earlier time."""
    NO_TIME = "no_time"
    """A time that no calendar has."""


@dataclass(frozen=True, slots=True)
class WildClock:
    """One device's largest fault of one kind."""

    device: str
    fault: ClockFault
    seconds: int
    """By how much; 0 for ``NO_TIME``."""

    @property
    def said(self) -> str:
        """The fault in words."""
        if self.fault is ClockFault.NO_TIME:
            return f"The clock of laptop {self.device} gives times that are none."
        words = {
            ClockFault.AHEAD: "is {} ahead",
            ClockFault.BEHIND: "is at least {} behind: it shows a time before the batch was made",
            ClockFault.BACKWARDS: "was set back by {} between two events",
        }[self.fault]
        return f"The clock of laptop {self.device} {words.format(_long(self.seconds))}."


def _long(seconds: int) -> str:
    for size, name in ((86_400, "day"), (3_600, "hour")):
        if seconds >= size:
            count = seconds // size
            return f"{count:,} {name}" + ("s" if count > 1 else "")
    return f"{seconds // 60} minutes"


def wild_clocks(
    events: Iterable[Event], now: datetime, since: datetime | None = None
) -> tuple[WildClock, ...]:
    """Find clocks that cannot be right, by device; ``since`` is when the batch was made, where that is known.

    A time in the past alone is no fault: a stick may take weeks.
    """
    devices: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        if event.payload is not None:
            devices[event.device].append(event)
    return tuple(
        WildClock(device, fault, seconds)
        for device in sorted(devices)
        for fault, seconds in _faults(devices[device], now, since).items()
    )


def _faults(events: list[Event], now: datetime, since: datetime | None) -> dict[ClockFault, int]:
    events.sort(key=lambda event: (event.seq, event.id))
    times = [time for event in events if (time := _time(event)) is not None]
    faults = {} if len(times) == len(events) else {ClockFault.NO_TIME: 0}
    if not times:
        return faults
    ahead = max(times) - now
    behind = since - min(times) if since else timedelta(0)
    back = max((a - b for a, b in pairwise(times)), default=timedelta(0))
    for fault, by, most in (
        (ClockFault.AHEAD, ahead, TOLERANCE),
        (ClockFault.BEHIND, behind, TOLERANCE),
        (ClockFault.BACKWARDS, back, STEP_BACK),
    ):
        if by > most:
            faults[fault] = int(by.total_seconds())
    return faults


def _time(event: Event) -> datetime | None:
    try:
        wall = getattr(event.payload, "wall", "")
        return datetime.strptime(wall, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except ValueError:
        return None
