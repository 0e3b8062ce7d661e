"""Bringing events from several laptops together: a set union, in any order, any number of times.

The content of an event is there if any copy has it and no withdrawal reaches it. What cannot be believed
is reported by its line and never stops the rest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from operator import attrgetter
from types import MappingProxyType

from harness.sealed.chain import ChainReport, check_chain
from review.log.event import Event, EventError, WildClock, covered, reach, read_event, wild_clocks, withdrawals
from review.log.fold import Person
from review.log.laptop import Laptop
from review.log.payloads import (
    AssignLaptop,
    Comment,
    HarmFlag,
    Kind,
    LaptopWord,
    ReviewerPayload,
    Suggest,
    Translate,
    Withdraw,
)

# Places and logical times from here on are refused: a later event has to be later than all others
MOST_EVENTS = 2**32


@dataclass(frozen=True, slots=True)
class Remark:
    """Something about one incoming line."""

    line: int  # From 1
    said: str  # Why, in words; no text of the event


@dataclass(frozen=True, slots=True)
class MergeReport:
    """What came in, and what the store has to keep of it."""

    # New events, and known ones whose content came only now; erased where a withdrawal reaches them
    added: tuple[Event, ...]
    already_here: int
    # Events that the caller does not take; their heads are kept, because the chain needs them
    set_aside: tuple[Remark, ...]
    heads: tuple[Event, ...]  # New heads of what was set aside, without content
    damaged: tuple[Remark, ...]
    chains: ChainReport  # Of the devices whose events came in, with what is known of them now
    clocks: tuple[WildClock, ...]  # Of the incoming events

    @property
    def to_keep(self) -> tuple[Event, ...]:
        """Everything that ``table.insert_event`` has to be given, in one transaction."""
        return self.added + self.heads


# Why an event is not taken, in words (its item is unknown, its device may not say this); None to
# take it
Objection = Callable[[Event], str | None]


def merge(
    known: Iterable[Event],
    incoming: Iterable[bytes | Event],
    *,
    now: datetime | None = None,
    since: datetime | None = None,
    objection: Objection = lambda _: None,
    closed: Mapping[str, str] = MappingProxyType({}),
) -> MergeReport:
    """Compare incoming events, or their lines as received, with the known ones; nothing is written.

    Of ``known`` it needs the chains of the devices that the incoming events name, and every withdrawal of the people
    in whose names they speak; more changes nothing.
    ``now`` is the time of the import, aware (None: the clock's); ``since`` is when the batch was made, for
    telling clocks that are behind; ``closed`` is device → why the sender adds nothing to its chain, not even a
    head: it is another's, or the store's own. ``objection`` is asked about events with content.
    """
    here = _by_id(known)
    damaged: list[Remark] = []
    read = list(_read(incoming, damaged))
    refused, heads = {}, {}
    for _, event in read:
        if event.payload and (why := objection(event)):
            refused[event.id] = why
        if event.id not in here and event.device in closed:
            refused[event.id] = closed[event.device]
    for _, event in read:
        if event.id in refused and event.id not in here and event.device not in closed:
            heads[event.id] = event.erased()
    taken = [event for _, event in read if event.id not in refused]
    withdrawn = withdrawals((*here.values(), *taken))
    news = {}
    for event in _by_id(taken).values():
        kept = event.erased() if covered(event, withdrawn) else event
        if (old := here.get(kept.id)) is None or (old.payload is None and kept.payload is not None):
            news[event.id] = kept
    came = {event.device for event in (*taken, *news.values(), *heads.values())}
    chains = (event for event in here.values() if event.device in came)
    return MergeReport(
        added=tuple(news.values()),
        already_here=len(taken) - len(news),
        set_aside=tuple(Remark(n, refused[event.id]) for n, event in read if event.id in refused),
        heads=tuple(heads.values()),
        damaged=tuple(damaged),
        chains=check_chain((*chains, *news.values(), *heads.values())),
        clocks=wild_clocks(taken, now or datetime.now(UTC), since),
    )


def _read(incoming: Iterable[bytes | Event], damaged: list[Remark]) -> Iterator[tuple[int, Event]]:
    for number, raw in enumerate(incoming, 1):
        try:
            event = raw if isinstance(raw, Event) else read_event(raw)
        except EventError as error:
            damaged.append(Remark(number, str(error)))
            continue
        if max(event.seq, event.lamport) >= MOST_EVENTS:
            damaged.append(Remark(number, "has a place or a time that no laptop comes to"))
            continue
        yield number, event


def _by_id(events: Iterable[Event]) -> dict[str, Event]:
    """Return each event once, with its content where any copy has it."""
    events_by_id: dict[str, Event] = {}
    for event in events:
        if event.payload is not None or event.id not in events_by_id:
            events_by_id[event.id] = event
    return events_by_id


def export_events(laptop: Laptop, batch: str) -> list[Event]:
    """Return what goes back for one batch: the heads of all events of the laptop, chain by chain.

    Content comes only with the events of this batch and with withdrawals that reach it, and not with texts that
    their person took back or changed since. All heads come, so that each chain can be checked from its first event
    to its last. StoreError where no key of the laptop opens what is written in it.
    """
    events = sorted(laptop.events(), key=lambda event: (event.device, event.seq, event.id))
    over = _not_said_any_more([event for event in events if _belongs(event, batch)])
    belonging = {event.id for event in events if _belongs(event, batch)} - over
    given = [event if event.id in belonging else event.erased() for event in events]
    laptop.require_open(given)
    return given


def _not_said_any_more(events: Iterable[Event]) -> set[str]:
    """Return the comments, better wordings and translations that do not stand, anyone who of a laptop wrote them."""
    persons: dict[str, Person] = defaultdict(Person)
    standing: dict[tuple[str, str, Kind], str] = {}
    written: set[str] = set()
    for event in sorted(events, key=attrgetter("order")):
        payload = event.payload
        if isinstance(payload, ReviewerPayload):
            persons[payload.reviewer].add(event)
        if isinstance(payload, Comment | Suggest):
            standing[payload.reviewer, payload.item, payload.kind] = event.id
        if isinstance(payload, Comment | Suggest | Translate):
            written.add(event.id)
    decided = (event.id for person in persons.values() for event in person.decided.values())
    return written.difference(standing.values(), decided)


def _belongs(event: Event, batch: str) -> bool:
    if isinstance(event.payload, Withdraw):
        return reach(event.payload) in {None, batch}
    return getattr(event.payload, "batch", None) == batch


# ---- Whose events count where several laptops speak: no laptop speaks for a person beside
# another one unseen.
#
# Any laptop that was enrolled can write in the name of anyone who's card it was shown. So what
# several laptops say of one person waits until the organisation says which of them speaks; and a
# laptop can be taken out as a whole. The rule is in docs/internals/certificate.md, "Several
# laptops".

# Kinds of events that count from the organisation's own devices only
OWN_WORDS = frozenset({Kind.ADJUDICATE, Kind.LOOK, Kind.LAPTOP, Kind.SPEAKS})

# How far a chain's logical time may lie beyond the number of all events before it is told
FAR = 2**20

# Kinds by which a laptop decides something in a person's name
_SPEAKING = frozenset({Kind.RATE, Kind.CANNOT_JUDGE, Kind.TRANSLATE, Kind.UNDO, Kind.HARM})

# Kinds that bear on no number and make no laptop a speaker: they are taken from a person's speakers
# alone, where there are any
_TEXTS = frozenset({Kind.REASONS, Kind.COMMENT, Kind.SUGGEST})

Place = tuple[str, str]  # Batch and person


@dataclass(frozen=True, slots=True)
class AssignedLaptops:
    """Which laptops speak for whom; a laptop is its signing key, or the id of a device whose key is not known."""

    # Person of a batch → the laptops that decide something in this person's name, those taken out
    # left out
    speakers: Mapping[Place, tuple[str, ...]] = field(default_factory=dict)
    # Of these, people of whom several different laptops speak → those that the organisation names,
    # none while it has not decided
    several: Mapping[Place, tuple[str, ...]] = field(default_factory=dict)
    # Laptop that is not heard → the organisation's reason
    removed: Mapping[str, str] = field(default_factory=dict)
    replaced: Collection[str] = ()  # Laptops that came instead of others, as the organisation says
    # People of whom several laptops speak, or one that the organisation does not name, where it has
    # named some
    decided: Collection[Place] = ()
    # Laptop → one name for it and all that came instead of one another; those of which nothing is
    # said left out
    same: Mapping[str, str] = field(default_factory=dict)

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
    events: Iterable[Event], keys: Mapping[str, str], own: Collection[str], batches: Collection[str]
) -> tuple[list[Event], AssignedLaptops]:
    """Return the events that count, for ``fold``, and which laptops speak for whom.

    ``keys`` is device → signing key of its laptop, ``own`` are the organisation's devices. Withdrawals count from
    every laptop, for what somebody may have taken back is better erased once too often.
    """
    every = [event for event in events if event.kind not in OWN_WORDS or event.device in own]
    named = sorted((e for e in every if getattr(e.payload, "batch", None) in batches), key=attrgetter("order"))
    # The organisation's last word about each laptop
    words = {word.laptop: word for word in (event.payload for event in named) if isinstance(word, LaptopWord)}
    removed = {laptop: word.reason for laptop, word in words.items() if not word.heard}
    out = {device for device in {e.device for e in every} if keys.get(device, device) in removed}
    left = [e for e in every if e.kind is Kind.WITHDRAW or e.device not in out]
    speakers_of = _speakers(left, keys, batches)
    same = _same_laptops(words)
    laptops = _Laptops(keys, same)
    spoken = {place: laptops.names(speakers) for place, speakers in speakers_of.items()}
    decided_for = _decided(every, batches)
    several = {place: decided_for.get(place, ()) for place, names in spoken.items() if len(names) > 1}
    allowed = {place: laptops.names(names) for place, names in {**decided_for, **several}.items()}
    counted, silenced = [], set()
    for event in left:
        place = getattr(event.payload, "batch", ""), getattr(event.payload, "reviewer", "")
        laptop = laptops.name(event)
        if event.kind in _TEXTS and laptop not in spoken.get(place, {laptop}):
            continue
        if _counts(event, laptop, allowed.get(place)):
            counted.append(event)
        else:
            silenced.add(place)
    waiting = {place for place, counted_names in several.items() if not counted_names}
    replaced = {laptop for laptop, word in words.items() if word.instead_of is not None}
    decided = (several.keys() | silenced) - waiting
    assigned = (speakers_of, several, removed, frozenset(replaced), frozenset(decided), same)
    return counted, AssignedLaptops(*assigned)


@dataclass(frozen=True, slots=True)
class _Laptops:
    """Laptops by one name each: all that came instead of one another have the same."""

    keys: Mapping[str, str]  # Device → signing key of its laptop
    same: Mapping[str, str]  # Laptop → the one name of it; left out where that is its own

    def name(self, event: Event) -> str:
        laptop = self.keys.get(event.device, event.device)
        return self.same.get(laptop, laptop)

    def names(self, laptops: Iterable[str]) -> frozenset[str]:
        """Return some laptops, those that are the same once."""
        return frozenset(self.same.get(laptop, laptop) for laptop in laptops)


def _same_laptops(words: Mapping[str, LaptopWord]) -> dict[str, str]:
    """Return laptop → one name for it and all that came instead of one another."""
    same: dict[str, str] = {}
    for laptop, word in words.items():
        if word.instead_of is None:
            continue
        one, other = (same.get(key, key) for key in (laptop, word.instead_of))
        same |= {laptop: one, word.instead_of: other}
        same = {key: other if name == one else name for key, name in same.items()}
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
    events = list(events)
    withdrawn = withdrawals(events)
    standing = sorted((e for e in events if not covered(e, withdrawn)), key=attrgetter("order"))
    words = (event.payload for event in standing if isinstance(event.payload, AssignLaptop))
    return {(word.batch, word.reviewer): word.laptops for word in words if word.batch in batches}


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
    it has seen, all of which it passes on. The organisation's own devices are left out: they know everybody's.
    """
    largest: dict[str, int] = {}
    for event in events:
        if event.device not in own:
            largest[event.device] = max(event.lamport, largest.get(event.device, 0))
    most = len(events) + FAR
    return {device: largest[device] for device in sorted(largest) if largest[device] > most}
