"""Whose events count where several laptops speak: no laptop speaks for a person beside another one unseen.

Any laptop that was enrolled can write in the name of anyone who's card it was shown. So what several laptops say
of one person waits until the organisation says which of them speaks; and a laptop can be taken out as a whole.
The rule is in docs/internals/certificate.md, "Several laptops".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter

from review.log.event import Event
from review.log.payloads import AssignLaptop, HarmFlag, Kind, LaptopWord
from review.log.withdrawal import covered, withdrawals

OWN_WORDS = frozenset({Kind.ADJUDICATE, Kind.LOOK, Kind.LAPTOP, Kind.SPEAKS})
"""Kinds of events that count from the organisation's own devices only."""

FAR = 2**20
"""How far a chain's logical time may lie beyond the number of all events before it is told."""

_SPEAKING = frozenset({Kind.RATE, Kind.CANNOT_JUDGE, Kind.TRANSLATE, Kind.UNDO, Kind.HARM})
"""Kinds by which a laptop decides something in a person's name."""

_TEXTS = frozenset({Kind.REASONS, Kind.COMMENT, Kind.SUGGEST})
"""Kinds that bear on no number and make no laptop a speaker: they are taken from a person's speakers alone, where
there are any."""

Place = tuple[str, str]
"""Batch and person."""


@dataclass(frozen=True, slots=True)
class AssignedLaptops:
    """Which laptops speak for whom; a laptop is its signing key, or the id of a device whose key is not known."""

    speakers: Mapping[Place, tuple[str, ...]] = field(default_factory=dict)
    """Person of a batch → the laptops that decide something in this person's name, those taken out left out."""
    several: Mapping[Place, tuple[str, ...]] = field(default_factory=dict)
    """Of these, people of whom several different laptops speak → those that the organisation names, none while
    it has not decided."""
    removed: Mapping[str, str] = field(default_factory=dict)
    """Laptop that is not heard → the organisation's reason."""
    replaced: Collection[str] = ()
    """Laptops that came instead of others, as the organisation says."""
    decided: Collection[Place] = ()
    """People of whom several laptops speak, or one that the organisation does not name, where it has named some."""
    same: Mapping[str, str] = field(default_factory=dict)
    """Laptop → one name for it and all that came instead of one another; those of which nothing is said left out."""

    def speak_for(self, person: str, batches: Collection[str]) -> set[str]:
        """Return the laptops that decide something in a person's name in one of the batches, by ``name_of``."""
        laptops_by_place = (self.speakers.get((batch, person), ()) for batch in batches)
        return {self.name_of(laptop) for laptops in laptops_by_place for laptop in laptops}

    def name_of(self, laptop: str) -> str:
        """Return the one name of a laptop and of all that came instead of one another."""
        return self.same.get(laptop, laptop)

    @property
    def waiting(self) -> tuple[Place, ...]:
        """People whose ratings count only once the organisation says which laptop speaks for them."""
        return tuple(place for place, named in self.several.items() if not named)


def heard(
    events: Iterable[Event],
    keys: Mapping[str, str],
    own: Collection[str],
    batches: Collection[str],
) -> tuple[list[Event], AssignedLaptops]:
    """Return the events that count, for ``fold``, and which laptops speak for whom.

    ``keys`` is device → signing key of its laptop, ``own`` are the organisation's devices. Withdrawals count from
    every laptop, for what somebody may have taken back is better erased once too often.
    """
    every = [event for event in events if event.kind not in OWN_WORDS or event.device in own]
    words = _words(event for event in every if getattr(event.payload, "batch", None) in batches)
    removed = {laptop: word.reason for laptop, word in words.items() if not word.heard}
    left = [
        event
        for event in every
        if event.kind is Kind.WITHDRAW or keys.get(event.device, event.device) not in removed
    ]
    found = _speakers(left, keys, batches)
    same = _same_laptops(words)
    laptops = _Laptops(keys, same)
    spoken = {place: laptops.names(speakers) for place, speakers in found.items()}
    named = _decided(every, batches)
    several = {place: named.get(place, ()) for place, names in spoken.items() if len(names) > 1}
    allowed = {
        place: laptops.names(laptop_names) for place, laptop_names in {**named, **several}.items()
    }
    counted, silenced = [], set()
    for event in left:
        place, laptop = _place(event), laptops.name(event)
        if event.kind in _TEXTS and laptop not in spoken.get(place, {laptop}):
            continue
        if _counts(event, laptop, allowed.get(place)):
            counted.append(event)
        else:
            silenced.add(place)
    waiting = {place for place, counted_names in several.items() if not counted_names}
    replaced = {laptop for laptop, word in words.items() if word.instead_of is not None}
    decided = (several.keys() | silenced) - waiting
    return counted, AssignedLaptops(
        found, several, removed, frozenset(replaced), frozenset(decided), same
    )


@dataclass(frozen=True, slots=True)
class _Laptops:
    """Laptops by one name each: all that came instead of one another have the same."""

    keys: Mapping[str, str]
    """Device → signing key of its laptop."""
    same: Mapping[str, str]
    """Laptop → the one name of it; left out where that is its own."""

    def name(self, event: Event) -> str:
        """Return the laptop that wrote an event."""
        laptop = self.keys.get(event.device, event.device)
        return self.same.get(laptop, laptop)

    def names(self, laptops: Iterable[str]) -> frozenset[str]:
        """Return some laptops, those that are the same once."""
        return frozenset(self.same.get(laptop, laptop) for laptop in laptops)


def _place(event: Event) -> Place:
    return getattr(event.payload, "batch", ""), getattr(event.payload, "reviewer", "")


def _words(events: Iterable[Event]) -> dict[str, LaptopWord]:
    """Return laptop → the organisation's last word about it."""
    payloads = (event.payload for event in sorted(events, key=attrgetter("order")))
    return {word.laptop: word for word in payloads if isinstance(word, LaptopWord)}


def _same_laptops(words: Mapping[str, LaptopWord]) -> dict[str, str]:
    """Return laptop → one name for it and all that came instead of one another."""
    same: dict[str, str] = {}
    for laptop, word in words.items():
        if word.instead_of is None:
            continue
        one, other = (same.get(laptop_key, laptop_key) for laptop_key in (laptop, word.instead_of))
        same |= {laptop: one, word.instead_of: other}
        same = {laptop_key: other if name == one else name for laptop_key, name in same.items()}
    return same


def _speakers(
    events: Iterable[Event], keys: Mapping[str, str], batches: Collection[str]
) -> dict[Place, tuple[str, ...]]:
    events = list(events)
    withdrawn = withdrawals(events)
    speakers: dict[Place, set[str]] = defaultdict(set)
    for event in events:
        payload = event.payload
        if event.kind not in _SPEAKING or payload is None or covered(event, withdrawn):
            continue
        batch, person = getattr(payload, "batch", ""), getattr(payload, "reviewer", "")
        if batch in batches:
            speakers[batch, person].add(keys.get(event.device, event.device))
    return {place: tuple(sorted(speakers[place])) for place in sorted(speakers)}


def _decided(events: Iterable[Event], batches: Collection[str]) -> dict[Place, tuple[str, ...]]:
    """Return person of a batch → the laptops that speak, as the organisation said last."""
    events = list(events)
    withdrawn = withdrawals(events)
    payloads = (
        event.payload
        for event in sorted(events, key=attrgetter("order"))
        if not covered(event, withdrawn)
    )
    return {
        (payload.batch, payload.reviewer): payload.laptops
        for payload in payloads
        if isinstance(payload, AssignLaptop) and payload.batch in batches
    }


def _counts(event: Event, laptop: str, allowed: Collection[str] | None) -> bool:
    """Return whether an event counts that a laptop wrote.

    ``allowed`` are the laptops that count for its person; None where nothing has to be decided, and empty while
    the organisation has not said: then only a yes to the terms and a call of harm count.
    """
    payload = event.payload
    if allowed is None or event.kind in {Kind.WITHDRAW, Kind.SPEAKS}:
        return True
    if not allowed:
        return event.kind is Kind.CONSENT or (isinstance(payload, HarmFlag) and payload.harmful)
    return laptop in allowed


def may_go_on_with(laptop: str, came_instead_of: Mapping[str, str | None]) -> set[str]:
    """Return the keys whose logs a laptop may continue with: its own, and those that it came instead of, one after another.

    ``came_instead_of`` is laptop → the one before it, as the organisation says; a circle of them ends where it began.
    """
    keys: set[str] = set()
    key: str | None = laptop
    while key is not None and key not in keys:
        keys.add(key)
        key = came_instead_of.get(key)
    return keys


def far_ahead(events: Collection[Event], own: Collection[str]) -> dict[str, int]:
    """Return device → its largest logical time, of those where no honest laptop's can be.

    A laptop counts up by one from the largest that it knows, so its time never exceeds the number of events that
    it has seen, all of which it hands over. The organisation's own devices are left out: they know everybody's.
    """
    largest: dict[str, int] = {}
    for event in events:
        if event.device not in own:
            largest[event.device] = max(event.lamport, largest.get(event.device, 0))
    most = len(events) + FAR
    return {device: largest[device] for device in sorted(largest) if largest[device] > most}
