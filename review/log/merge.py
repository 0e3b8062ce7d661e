"""Bringing events from several laptops together: a set union, in any order, any number of times.

The content of an event is there if any copy has it and no withdrawal reaches it. What cannot be believed
is reported by its line and never stops the rest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import attrgetter
from types import MappingProxyType

from harness.sealed.chain import ChainReport, check_chain
from review.log.clocks import WildClock, wild_clocks
from review.log.event import Event, EventError, read_event
from review.log.fold import Person
from review.log.laptop import Laptop
from review.log.payloads import Comment, Kind, ReviewerPayload, Suggest, Translate, Withdraw
from review.log.withdrawal import covered, reach, withdrawals

MOST_EVENTS = 2**32
"""Places and logical times from here on are refused: a later event has to be later than all others."""


@dataclass(frozen=True, slots=True)
class Remark:
    """Something about one incoming line."""

    line: int
    """From 1."""
    said: str
    """Why, in words; no text of the event."""


@dataclass(frozen=True, slots=True)
class MergeReport:
    """What came in, and what the store has to keep of it."""

    added: tuple[Event, ...]
    """New events, and known ones whose content came only now; erased where a withdrawal reaches them."""
    already_here: int
    set_aside: tuple[Remark, ...]
    """Events that the caller does not take; their heads are kept, because the chain needs them."""
    heads: tuple[Event, ...]
    """New heads of what was set aside, without content."""
    damaged: tuple[Remark, ...]
    chains: ChainReport
    """Of the devices whose events came in, with what is known of them now."""
    clocks: tuple[WildClock, ...]
    """Of the incoming events."""

    @property
    def to_keep(self) -> tuple[Event, ...]:
        """Everything that ``table.insert_event`` has to be given, in one transaction."""
        return self.added + self.heads


Objection = Callable[[Event], str | None]
"""Why an event is not taken, in words (its item is unknown, its device may not say this); None to take it."""


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
    refused = {
        event.id: objection_words
        for _, event in read
        if event.payload and (objection_words := objection(event))
    }
    refused |= {
        event.id: closed[event.device]
        for _, event in read
        if event.device in closed and event.id not in here
    }
    taken = [event for _, event in read if event.id not in refused]
    withdrawn = withdrawals((*here.values(), *taken))
    news = {
        event_in.id: event
        for event_in in _by_id(taken).values()
        if _is_new(event := event_in.erased() if covered(event_in, withdrawn) else event_in, here)
    }
    heads = {
        event.id: event.erased()
        for _, event in read
        if event.id in refused and event.id not in here and event.device not in closed
    }
    return MergeReport(
        added=tuple(news.values()),
        already_here=len(taken) - len(news),
        set_aside=tuple(Remark(n, refused[event.id]) for n, event in read if event.id in refused),
        heads=tuple(heads.values()),
        damaged=tuple(damaged),
        chains=_chains(here.values(), taken, (*news.values(), *heads.values())),
        clocks=wild_clocks(taken, now or datetime.now(UTC), since),
    )


def _chains(known: Iterable[Event], taken: Iterable[Event], kept: Sequence[Event]) -> ChainReport:
    came = {event.device for event in (*taken, *kept)}
    return check_chain((*(event for event in known if event.device in came), *kept))


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


def _is_new(event: Event, here: dict[str, Event]) -> bool:
    known = here.get(event.id)
    return known is None or (known.payload is None and event.payload is not None)


def export_events(laptop: Laptop, batch: str) -> list[Event]:
    """Return what goes back for one batch: the heads of all events of the laptop, chain by chain.

    Content comes only with the events of this batch and with withdrawals that reach it, and not with texts that
    their person took back or changed since. All heads come, so that each chain can be checked from its first event
    to its last. StoreError where no key of the laptop opens what is written in it.
    """
    events = sorted(laptop.events(), key=lambda event: (event.device, event.seq, event.id))
    over = _not_said_any_more([event for event in events if _belongs(event, batch)])
    given = [
        event if _belongs(event, batch) and event.id not in over else event.erased()
        for event in events
    ]
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
