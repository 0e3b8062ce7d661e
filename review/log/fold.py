"""From events to what they add up to: the same for everybody, in whatever order and however often they came.

The order of reading is (lamport, device, seq, id). Undo and withdrawal reach their targets wherever those
stand in that order, so that copies which lack some events agree once they have them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from operator import attrgetter
from typing import TypeVar

from review.log.event import Event
from review.log.payloads import Adjudicate, AnyPayload, OfReviewer, OrganiserLook, Payload
from review.log.person import Person
from review.log.state import Adjudication, State
from review.log.withdrawal import covered, withdrawals

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
        if isinstance(payload, OfReviewer):
            persons[payload.batch, payload.reviewer].append(event)
        else:
            office.append(payload)
    return State(
        reviewers={place: Person(persons[place]).state() for place in sorted(persons)},
        withdrawn=withdrawn,
        adjudications=_adjudications(_all(office, Adjudicate)),
        looks={run: len(seen) for run, seen in looks_by_run(_all(office, OrganiserLook)).items()},
    )


def _all(said: Iterable[AnyPayload | None], what: type[_P]) -> list[_P]:
    return [payload for payload in said if isinstance(payload, what)]


def _adjudications(decided: Iterable[Adjudicate]) -> dict[str, Adjudication]:
    return {
        each.item: Adjudication(each.harmful, each.note, each.reason, each.by) for each in decided
    }


def looks_by_run(looks: Iterable[OrganiserLook]) -> dict[str, set[str]]:
    """Return run → the sets of ratings that were looked at, each as its one hash; runs in order."""
    seen: dict[str, set[str]] = defaultdict(set)
    for look in looks:
        seen[look.run_id].add(look.events_sha256)
    return {run: seen[run] for run in sorted(seen)}
