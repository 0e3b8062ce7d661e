"""From events to what they add up to: who agreed, who said what, and what was taken back.

It is the same for everybody, in whatever order and however often the events came. The order of reading is (lamport,
device, seq, id). Undo and withdrawal reach their targets wherever those are in that order, so that copies which
lack some events agree once they have them. One person's part of one batch is folded event by event: what an event
changes costs the same in any log.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TypeVar

from review.log.event import Event, covered, withdrawals
from review.log.payloads import (
    Adjudicate,
    AnyPayload,
    Comment,
    Consent,
    Face,
    HarmFlag,
    NotJudged,
    OrganiserLook,
    Payload,
    Rate,
    Reasons,
    Related,
    ReviewerPayload,
    Scope,
    Skip,
    Suggest,
    Train,
    Translate,
    Undo,
)
from review.rating import CannotJudge, Rating, Reason, Relation


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a person decided about an item, the last one of those not taken back."""

    event: str  # Id of its event
    rating: Rating | None  # None where the person cannot judge the item
    why_not: CannotJudge | None
    position: int
    active_ms: int
    face: Face
    override: bool


@dataclass(frozen=True, slots=True)
class ReviewerState:
    consented: bool = False
    # SHA-256 of the texts to which this person said yes last, on each laptop
    agreed_to: frozenset[str] = frozenset()
    share_corrections: bool = False
    # What this person says of themselves and the method; None where they were not asked
    relation: Relation | None = None
    # Items that this person judged, translated or could not judge, in the order in which that was
    # done
    decided: tuple[str, ...] = ()
    # By item, in the same order; of those that were translated there is none
    judgements: Mapping[str, Judgement] = field(default_factory=dict)
    # By item; only of a batch that asks for translations
    translations: Mapping[str, str] = field(default_factory=dict)
    # By item: differing ratings of the same person from another laptop that a later one replaced
    earlier: Mapping[str, tuple[Rating, ...]] = field(default_factory=dict)
    skipped: tuple[str, ...] = ()  # Items put at the end and not decided since, in that order
    trained: Mapping[str, Rating] = field(default_factory=dict)
    reasons: Mapping[str, tuple[Reason, ...]] = field(default_factory=dict)
    comments: Mapping[str, str] = field(default_factory=dict)
    suggestions: Mapping[str, str] = field(default_factory=dict)
    # Items that this person calls harmful or culturally wrong
    harmful: frozenset[str] = frozenset()
    undoable: tuple[str, ...] = ()  # Ids of the events that undo can take back, the next one last


@dataclass(frozen=True, slots=True)
class Adjudication:
    """What the organisation decided about an item; the last word counts."""

    harmful: bool | None
    note: str
    reason: str = ""  # Why, in words that are published; empty where none was recorded
    by: str = ""  # Who decided, likewise


@dataclass(frozen=True, slots=True)
class State:
    """Everything that a set of events says, whatever the order in which they arrived."""

    reviewers: Mapping[tuple[str, str], ReviewerState]  # By batch and reviewer
    # By reviewer and batch (None: all): what was taken back
    withdrawn: Mapping[tuple[str, str | None], frozenset[Scope]]
    adjudications: Mapping[str, Adjudication]  # By item
    looks: Mapping[str, int]  # Run id → number of different sets of events that were examined


Decided = Rate | NotJudged | Translate

_T = TypeVar("_T")


class Person:
    """Takes events in the order of reading (``Event.order``), withdrawn ones left out.

    An undo reaches its target wherever that is in the order.
    """

    def __init__(self, events: Iterable[Event] = ()) -> None:
        # Item → its last decision that was not taken back, in the order in which those were made
        self.decided: dict[str, Event] = {}
        # Items put at the end and not decided since → the last time, in that order
        self.skipped: dict[str, Event] = {}
        # Id → decision or skip that undo can take back, the next one last
        self.acts: dict[str, Event] = {}
        self.trained: dict[str, Rating] = {}
        self.reasons: dict[str, tuple[Reason, ...]] = {}
        self.comments: dict[str, str] = {}
        self.suggestions: dict[str, str] = {}
        # Items that this person calls harmful or culturally wrong; every value is True
        self.harmful: dict[str, bool] = {}
        self.consent: Consent | None = None  # The last yes to the terms, on whatever device
        self._of_item: dict[str, list[Event]] = defaultdict(list)
        self._undone: set[str] = set()
        self._consents: dict[str, Consent] = {}  # Device → its last yes to the terms
        self._relations: dict[str, Relation] = {}
        self._last: tuple[int, str, int, str] | None = None
        for event in events:
            self.add(event)

    def add(self, event: Event) -> None:
        """Fold one more event; raises ValueError where it comes before one that was folded."""
        if self._last is not None and event.order <= self._last:
            raise ValueError("events are folded in the order of reading")
        self._last = event.order
        match event.payload:
            case Rate() | NotJudged() | Translate() | Skip() as said:
                self._act(event, said.item)
            case Undo() as said:
                self._undo(said.target)
            case Consent() as said:
                self._consents[event.device] = self.consent = said
            case Related() as said:
                self._relations[event.device] = said.relation
            case _:
                self._say(event)

    def _say(self, event: Event) -> None:
        """Record a word about an item next to its decision: the last word counts."""
        match event.payload:
            case Train() as said:
                self.trained[said.item] = said.rating
            case Reasons() as said:
                _keep(self.reasons, said.item, said.reasons)
            case Comment() as said:
                _keep(self.comments, said.item, said.text)
            case Suggest() as said:
                _keep(self.suggestions, said.item, said.text)
            case HarmFlag() as said:
                _keep(self.harmful, said.item, said.harmful)
            case _:
                pass

    @property
    def consented(self) -> bool:
        """Return whether the person said yes to the terms."""
        return bool(self._consents)

    @property
    def share_corrections(self) -> bool:
        """Return whether what the person writes may be used, by the last word on every device."""
        return self.consented and all(e.share_corrections for e in self._consents.values())

    @property
    def relation(self) -> Relation | None:
        """The nearest of the last words on each device: another laptop can take no nearness away."""
        return min(self._relations.values(), key=list(Relation).index, default=None)

    def judgement(self, item: str) -> Judgement | None:
        """Return the rating of an item, or why there is none; None where neither was said."""
        event = self.decided.get(item)
        payload = None if event is None else event.payload
        if event is None or not isinstance(payload, Rate | NotJudged):
            return None
        return Judgement(
            event=event.id,
            rating=payload.rating if isinstance(payload, Rate) else None,
            why_not=payload.why if isinstance(payload, NotJudged) else None,
            position=payload.position,
            active_ms=payload.active_ms,
            face=payload.face,
            override=payload.override,
        )

    def translation(self, item: str) -> str | None:
        """Return the translation of an item, None where its last decision is none."""
        event = self.decided.get(item)
        payload = None if event is None else event.payload
        return payload.text if isinstance(payload, Translate) else None

    def state(self) -> ReviewerState:
        """Return what everything so far adds up to; it does not change with later events."""
        judged = {item: judgement for item in self.decided if (judgement := self.judgement(item))}
        translated = {item: text for item in self.decided if (text := self.translation(item)) is not None}
        earlier: dict[str, list[Rating]] = defaultdict(list)
        for payload, device in ((event.payload, event.device) for event in self.acts.values()):
            final = self.decided[payload.item] if isinstance(payload, Rate) else None
            if not isinstance(payload, Rate) or final is None or final.device == device:
                continue
            if isinstance(final.payload, Rate) and final.payload.rating is not payload.rating:
                earlier[payload.item].append(payload.rating)
        return ReviewerState(
            consented=self.consented,
            agreed_to=frozenset(consent.consent_sha256 for consent in self._consents.values()),
            share_corrections=self.share_corrections,
            relation=self.relation,
            decided=tuple(self.decided),
            judgements=judged,
            translations=translated,
            earlier={item: tuple(ratings) for item, ratings in earlier.items()},
            skipped=tuple(self.skipped),
            trained=dict(self.trained),
            reasons=dict(self.reasons),
            comments=dict(self.comments),
            suggestions=dict(self.suggestions),
            harmful=frozenset(self.harmful),
            undoable=tuple(self.acts),
        )

    def _act(self, event: Event, item: str) -> None:
        if event.id in self._undone:
            return
        self.acts[event.id] = event
        self._of_item[item].append(event)
        if isinstance(event.payload, Decided):
            self.skipped.pop(item, None)
            _last(self.decided, item, event)
        elif item not in self.decided:
            _last(self.skipped, item, event)

    def _undo(self, target: str) -> None:
        """Revoke one act about an item; what was there before holds in its old place."""
        self._undone.add(target)
        if (event := self.acts.pop(target, None)) is None:
            return
        item = getattr(event.payload, "item", "")
        left = self._of_item[item]
        left.remove(event)
        decision = next((event for event in reversed(left) if isinstance(event.payload, Decided)), None)
        aside = left[-1] if left and decision is None else None
        _stand(self.decided, item, decision)
        _stand(self.skipped, item, aside)


def _keep(last: dict[str, _T], item: str, value: _T) -> None:
    """Store the last word about an item; something empty takes back what was there."""
    if value:
        last[item] = value
    else:
        last.pop(item, None)


def _last(events: dict[str, Event], item: str, event: Event) -> None:
    events.pop(item, None)
    events[item] = event


def _stand(events: dict[str, Event], item: str, event: Event | None) -> None:
    """Set the event of an item, None for nothing; the events stay in the order of reading."""
    if events.get(item) is event:
        return
    events.pop(item, None)
    if event is None:
        return
    before = next(reversed(events.values()), None)
    events[item] = event
    if before is not None and before.order > event.order:
        in_order = sorted(events.items(), key=lambda pair: pair[1].order)
        events.clear()
        events.update(in_order)


_P = TypeVar("_P", bound=Payload)


def fold(events: Iterable[Event], batches: Collection[str] | None = None) -> State:
    """Return what events say of some batches, or of all of them.

    The caller leaves out what a device may not say (adjudications and looks of any but the organisation's)
    and what contradicts its batch (unknown items).
    """
    whole = {event.id: event for event in events if event.payload is not None}.values()
    withdrawn = {
        place: scopes
        for place, scopes in withdrawals(whole).items()
        if batches is None or place[1] is None or place[1] in batches
    }
    counted = [event for event in whole if not covered(event, withdrawn)]
    persons: dict[tuple[str, str], list[Event]] = defaultdict(list)
    office: list[AnyPayload] = []
    for event in sorted(counted, key=attrgetter("order")):
        payload = event.payload
        batch = getattr(payload, "batch", None)
        if payload is None or not (batches is None or batch in batches):
            continue
        if isinstance(payload, ReviewerPayload):
            persons[payload.batch, payload.reviewer].append(event)
        else:
            office.append(payload)
    decided = _all(office, Adjudicate)
    adjudications = {a.item: Adjudication(a.harmful, a.note, a.reason, a.by) for a in decided}
    return State(
        reviewers={place: Person(persons[place]).state() for place in sorted(persons)},
        withdrawn=withdrawn,
        adjudications=adjudications,
        looks={run: len(seen) for run, seen in looks_by_run(_all(office, OrganiserLook)).items()},
    )


def _all(said: Iterable[AnyPayload | None], what: type[_P]) -> list[_P]:
    return [payload for payload in said if isinstance(payload, what)]


def looks_by_run(looks: Iterable[OrganiserLook]) -> dict[str, set[str]]:
    """Return run → the sets of ratings that were examined, each as its one hash; runs in order."""
    seen: dict[str, set[str]] = defaultdict(set)
    for look in looks:
        seen[look.run_id].add(look.events_sha256)
    return {run: seen[run] for run in sorted(seen)}
