"""Hash chains: whether the events of a device are all there, each fitting the one before it.

Each event names the one before it by its hash, so a chain runs from place 0 to its end; what is missing in between
was cut out or damaged, and two events at one place come from a device whose files were copied.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol


class Link(Protocol):
    """One event of a chain."""

    @property
    def device(self) -> str:
        """Whose chain it is in."""

    @property
    def seq(self) -> int:
        """Place in this chain, from 0."""

    @property
    def lamport(self) -> int:
        """Logical time: larger than that of every event that the device knew."""

    @property
    def prev(self) -> str:
        """Id of the event before it; of none for the first."""

    @property
    def id(self) -> str:
        """Hash of the event."""


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
    """Places with two events or more: this device was copied."""

    @property
    def whole(self) -> bool:
        """Whether nothing is missing and every event fits the one before it; a copied device's may be."""
        return not (self.missing or self.broken)


@dataclass(frozen=True, slots=True)
class ChainReport:
    """The chains of all devices, by device."""

    chains: tuple[Chain, ...]

    @property
    def whole(self) -> bool:
        """Whether every chain is."""
        return all(chain.whole for chain in self.chains)


def check_chain(events: Iterable[Link]) -> ChainReport:
    """Look at the chain of every device; order and repetition of the events do not matter."""
    devices: dict[str, dict[int, dict[str, Link]]] = defaultdict(lambda: defaultdict(dict))
    for event in events:
        devices[event.device][event.seq][event.id] = event
    return ChainReport(tuple(_chain(device, devices[device]) for device in sorted(devices)))


def _chain(device: str, places: dict[int, dict[str, Link]]) -> Chain:
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


def _follows(seq: int, places: dict[int, dict[str, Link]]) -> bool:
    before = places.get(seq - 1)
    if before is None:  # the first, or one after a gap, which is counted as missing
        return True
    return all(
        event.prev in before and before[event.prev].lamport < event.lamport
        for event in places[seq].values()
    )


def tips_of(events: Iterable[Link]) -> list[str]:
    """Return the ids that no other event names as the one before it: they fix the whole set."""
    every = list(events)
    return sorted({event.id for event in every} - {event.prev for event in every})


def ancestors(events: Mapping[str, Link], tips: Iterable[str]) -> set[str]:
    """Return the ids of some events, by id, that some tips fix: these and all before them."""
    reached: set[str] = set()
    for tip in tips:
        place = tip
        while place in events and place not in reached:
            reached.add(place)
            place = events[place].prev
    return reached
