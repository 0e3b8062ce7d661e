"""Which events of the office's one log a review may read."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from review.log.event import Event
from review.log.payloads import OrganiserLook, Withdraw
from review.log.sealed_words import WordKeys
from review.log.withdrawal import reach
from review.office.store.review import Review


@dataclass(frozen=True, slots=True)
class ReviewRead:
    """The events of a review as they were read, and the state of the file then."""

    review: Review
    words: WordKeys
    changes: tuple[int, int]
    """Version of the file's data, and rows that this connection has changed."""
    events: Sequence[Event]


def events_of(
    review: Review,
    events: Iterable[Event],
    connection: sqlite3.Connection,
    own_devices: Collection[str],
) -> list[Event]:
    """Return whole chains as far as they belong to a review, in the one order; of other reviews heads only.

    Looks of the organisation keep their content: a look at the run in another review counts, and verifiers must see that
    none is left out. ``events`` are all of the log, ``own_devices`` the organisation's.
    """
    batches = set(review.manifests)
    every = sorted(events, key=lambda event: event.order)
    last = _last(review, every, connection, own_devices)
    return [
        event
        if _belongs(event, batches, review) or _is_own_look(event, own_devices)
        else event.erased()
        for event in every
        if event.seq <= last.get(event.device, -1)
    ]


def _last(
    review: Review,
    every: Sequence[Event],
    connection: sqlite3.Connection,
    own_devices: Collection[str],
) -> dict[str, int]:
    """Return device → place in its chain of the last event that concerns a review.

    What came with a file of another review, as taking back everything may, is signed for as far as that file goes.
    """
    batches = set(review.manifests)
    ends: dict[str, int] = {}
    for event in every:
        ends[event.device] = max(event.seq, ends.get(event.device, 0))
    rows = connection.execute(
        "SELECT d.device, max(d.last_seq) FROM delivery d JOIN batch b ON b.batch = d.batch"
        " WHERE b.review = ? GROUP BY d.device",
        (review.number,),
    )
    last: dict[str, int] = dict(rows.fetchall())
    for event in every:
        beyond = event.seq > last.get(event.device, -1) and event.payload is not None
        own = event.device in own_devices
        if beyond and (_belongs(event, batches, review) or (own and _is_look_at(event, review))):
            last[event.device] = event.seq if own else ends[event.device]
    return last


def _belongs(event: Event, batches: set[str], review: Review) -> bool:
    """Return whether a review may read an event's payload: it is of its batches, or withdraws everything."""
    if event.payload is None:
        return True
    if isinstance(event.payload, Withdraw) and reach(event.payload) is None:
        return event.payload.reviewer in review.key.orders
    return getattr(event.payload, "batch", None) in batches


def _is_own_look(event: Event, own_devices: Collection[str]) -> bool:
    return isinstance(event.payload, OrganiserLook) and event.device in own_devices


def _is_look_at(event: Event, review: Review) -> bool:
    """Return whether an event is a look at one of a review's runs, whichever review it was made in."""
    payload = event.payload
    return isinstance(payload, OrganiserLook) and payload.run_id in {
        run.run_id for run in review.key.runs
    }
