"""What an organiser sees of a laptop by its events: whether they form one whole chain, and whether its clock is right.

A laptop hands over the heads of all its events, erased ones too, so a chain runs from place 0 to its end; what is
missing in between was cut out or damaged, and two events at one place come from a laptop whose file was copied.
Clocks are shown, and never used to order or decide anything.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
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
    found = {} if len(times) == len(events) else {ClockFault.NO_TIME: 0}
    if not times:
        return found
    ahead = max(times) - now
    behind = since - min(times) if since else timedelta(0)
    back = max((a - b for a, b in pairwise(times)), default=timedelta(0))
    for fault, by, most in (
        (ClockFault.AHEAD, ahead, TOLERANCE),
        (ClockFault.BEHIND, behind, TOLERANCE),
        (ClockFault.BACKWARDS, back, STEP_BACK),
    ):
        if by > most:
            found[fault] = int(by.total_seconds())
    return found


def _time(event: Event) -> datetime | None:
    try:
        wall = getattr(event.payload, "wall", "")
        return datetime.strptime(wall, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class Chain:
    """One device's chain."""

    device: str
    events: int
    """Different events."""
    last: int
    """Largest place, from 0."""
    head: str
    """Id of the event at the largest place; the smallest id where there are two."""
    missing: int
    """Places before the last without an event."""
    broken: tuple[int, ...]
    """Places whose event names another one before it than the one that is there, or has no later time."""
    forked: tuple[int, ...]
    """Places with two events or more: this laptop was copied."""

    @property
    def whole(self) -> bool:
        """Whether nothing is missing and every event fits the one before it; a copied laptop's may be."""
        return not (self.missing or self.broken)


@dataclass(frozen=True, slots=True)
class ChainReport:
    """The chains of all devices, by device."""

    chains: tuple[Chain, ...]

    @property
    def whole(self) -> bool:
        """Whether every chain is."""
        return all(chain.whole for chain in self.chains)


def check_chain(events: Iterable[Event]) -> ChainReport:
    """Look at the chain of every device; order and repetition of the events do not matter."""
    devices: dict[str, dict[int, dict[str, Event]]] = defaultdict(lambda: defaultdict(dict))
    for event in events:
        devices[event.device][event.seq][event.id] = event
    return ChainReport(tuple(_chain(device, devices[device]) for device in sorted(devices)))


def _chain(device: str, places: dict[int, dict[str, Event]]) -> Chain:
    last = max(places)
    return Chain(
        device=device,
        events=sum(len(here) for here in places.values()),
        last=last,
        head=min(places[last]),
        missing=last + 1 - len(places),
        broken=tuple(seq for seq in sorted(places) if not _follows(seq, places)),
        forked=tuple(seq for seq in sorted(places) if len(places[seq]) > 1),
    )


def _follows(seq: int, places: dict[int, dict[str, Event]]) -> bool:
    before = places.get(seq - 1)
    if before is None:  # the first, or one after a gap, which is counted as missing
        return True
    return all(
        event.prev in before and before[event.prev].lamport < event.lamport
        for event in places[seq].values()
    )


def tips_of(events: Iterable[Event]) -> list[str]:
    """Return the ids that no other event names as the one before it: they fix the whole set."""
    every = list(events)
    return sorted({event.id for event in every} - {event.prev for event in every})


def ancestors(events: Mapping[str, Event], tips: Iterable[str]) -> set[str]:
    """Return the ids of some events, by id, that some tips fix: these and all before them."""
    reached: set[str] = set()
    for tip in tips:
        place = tip
        while place in events and place not in reached:
            reached.add(place)
            place = events[place].prev
    return reached
