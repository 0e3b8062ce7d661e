"""From events to what they add up to: the same for everybody, in whatever order and however often they came.

The order of reading is (lamport, device, seq, id). Undo and withdrawal reach their targets wherever those
stand in that order, so that copies which lack some events agree once they have them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from operator import attrgetter
from typing import TypeVar

from review.log.event import Event
from review.log.payloads import (
    Adjudicate,
    AnyPayload,
    Comment,
    Consent,
    HarmFlag,
    Look,
    NotJudged,
    OfReviewer,
    Payload,
    Rate,
    Reasons,
    Related,
    Skip,
    Suggest,
    Train,
    Translate,
    Undo,
)
from review.log.state import Adjudication, Judgement, ReviewerState, State
from review.log.withdrawal import covered, withdrawals
from review.rating import Rating, Relation

_T = TypeVar("_T")
_P = TypeVar("_P", bound=Payload)
_Decided = Rate | NotJudged | Translate
_Last = dict[str, tuple[Event, _Decided]]


def fold(events: Iterable[Event], batches: Collection[str] | None = None) -> State:
    """Give what events say of some batches, or of all of them.

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
        if isinstance(payload, OfReviewer):
            persons[payload.batch, payload.reviewer].append(event)
        else:
            office.append(payload)
    return State(
        reviewers={place: _person(persons[place]) for place in sorted(persons)},
        withdrawn=withdrawn,
        adjudications=_adjudications(_all(office, Adjudicate)),
        looks={run: len(seen) for run, seen in looks_by_run(_all(office, Look)).items()},
    )


def _all(said: Iterable[AnyPayload | None], what: type[_P]) -> list[_P]:
    return [payload for payload in said if isinstance(payload, what)]


def _adjudications(decided: Iterable[Adjudicate]) -> dict[str, Adjudication]:
    return {
        each.item: Adjudication(each.harmful, each.note, each.reason, each.by) for each in decided
    }


def looks_by_run(looks: Iterable[Look]) -> dict[str, set[str]]:
    """Give run → the sets of ratings that were looked at, each as its one hash; runs in order."""
    seen: dict[str, set[str]] = defaultdict(set)
    for look in looks:
        seen[look.run_id].add(look.events_sha256)
    return {run: seen[run] for run in sorted(seen)}


def _person(events: Sequence[Event]) -> ReviewerState:
    said = [event.payload for event in events]
    undone = {undo.target for undo in _all(said, Undo)}
    acts = [
        event
        for event in events
        if isinstance(event.payload, _Decided | Skip) and event.id not in undone
    ]
    last = _last_decisions(acts)
    consents = {e.device: e.payload for e in events if isinstance(e.payload, Consent)}
    return ReviewerState(
        consented=bool(consents),
        agreed_to=frozenset(each.consent_sha256 for each in consents.values()),
        share_corrections=bool(consents)
        and all(each.share_corrections for each in consents.values()),
        relation=_nearest(events),
        decided=tuple(last),
        judgements={
            item: _judgement(event, said)
            for item, (event, said) in last.items()
            if not isinstance(said, Translate)
        },
        translations={
            item: said.text for item, (_, said) in last.items() if isinstance(said, Translate)
        },
        earlier=_earlier(acts, last),
        skipped=_skipped(acts, last),
        trained={each.item: each.rating for each in _all(said, Train)},
        reasons=_kept({each.item: each.reasons for each in _all(said, Reasons)}),
        comments=_kept({each.item: each.text for each in _all(said, Comment)}),
        suggestions=_kept({each.item: each.text for each in _all(said, Suggest)}),
        harmful=frozenset(_kept({each.item: each.harmful for each in _all(said, HarmFlag)})),
        undoable=tuple(event.id for event in acts),
    )


def _nearest(events: Iterable[Event]) -> Relation | None:
    """Give the nearest of the last words on each device: another laptop can take no nearness away."""
    last = {e.device: e.payload.relation for e in events if isinstance(e.payload, Related)}
    return min(last.values(), key=list(Relation).index, default=None)


def _kept(last: dict[str, _T]) -> dict[str, _T]:
    """Leave out what was taken back by something empty."""
    return {item: value for item, value in last.items() if value}


def _last_decisions(acts: Iterable[Event]) -> _Last:
    """Give each item's last decision, in the order in which those were made."""
    last: _Last = {}
    for event in acts:
        if isinstance(event.payload, _Decided):
            last.pop(event.payload.item, None)
            last[event.payload.item] = event, event.payload
    return last


def _judgement(event: Event, said: Rate | NotJudged) -> Judgement:
    return Judgement(
        event=event.id,
        rating=said.rating if isinstance(said, Rate) else None,
        why_not=said.why if isinstance(said, NotJudged) else None,
        position=said.position,
        active_ms=said.active_ms,
        face=said.face,
        override=said.override,
    )


def _earlier(acts: Iterable[Event], last: _Last) -> dict[str, tuple[Rating, ...]]:
    found: dict[str, list[Rating]] = defaultdict(list)
    for event in acts:
        if not isinstance(event.payload, Rate):
            continue
        final, said = last[event.payload.item]
        differs = isinstance(said, Rate) and said.rating is not event.payload.rating
        if differs and final.device != event.device:
            found[event.payload.item].append(event.payload.rating)
    return {item: tuple(ratings) for item, ratings in found.items()}


def _skipped(acts: Iterable[Event], last: _Last) -> tuple[str, ...]:
    waiting: dict[str, None] = {}
    for event in acts:
        if isinstance(event.payload, Skip) and event.payload.item not in last:
            waiting.pop(event.payload.item, None)
            waiting[event.payload.item] = None
    return tuple(waiting)
