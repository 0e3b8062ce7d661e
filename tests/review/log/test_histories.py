"""Six laptops, any history, any way in which the files arrive: one final state."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable
from contextlib import closing
from random import Random
from typing import Any

import pytest

from review.log.chain import check_chain
from review.log.event import Event, read_event
from review.log.fold import Person, ReviewerState, fold
from review.log.merge import merge
from review.log.payloads import Kind, OfReviewer
from review.log.table import create_event_table, insert_event, read_events
from review.log.withdrawal import covered, withdrawals
from tests.review.log.histories import History, history, plainly
from tests.review.thorough import times


class Heap:
    """An organisation that keeps its events in no order at all."""

    def __init__(self) -> None:
        self.events: dict[str, Event] = {}

    def take(self, file: Iterable[bytes | Event]) -> None:
        for event in merge(self.events.values(), file).to_keep:
            self.events[event.id] = event
        withdrawn = withdrawals(self.events.values())
        for event in self.events.values():
            if covered(event, withdrawn):
                self.events[event.id] = event.erased()


def through_a_store(files: Iterable[list[bytes]]) -> list[Event]:
    """Bring files in as lines, into the real table."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as store:
        create_event_table(store)
        for file in files:
            for event in merge(read_events(store), file).to_keep:
                insert_event(store, event)
        return list(read_events(store))


def arrivals(random: Random, files: list[Any]) -> list[Any]:
    """Return the files in any order, some of them again later."""
    return random.sample(files, len(files)) + random.choices(files, k=min(3, len(files)))


def summary(person: ReviewerState) -> dict[str, Any]:
    return {
        "judgements": {item: (each.event, each.rating) for item, each in person.judgements.items()},
        "translations": dict(person.translations),
        "order": list(person.decided),
        "earlier": person.earlier,
        "skipped": list(person.skipped),
        "undoable": list(person.undoable),
        "comments": person.comments,
        "suggestions": person.suggestions,
        "reasons": person.reasons,
        "harmful": person.harmful,
        "trained": person.trained,
        "consented": person.consented,
        "share": person.share_corrections,
    }


def check(random: Random, made: History) -> None:
    """Let the files of a history arrive in several ways, and compare all that comes out."""
    read = [[read_event(line) for line in file] for file in made.files]
    ends = [{event.id: event for event in through_a_store(arrivals(random, made.files))}]
    for _ in range(3):
        heap = Heap()
        for file in arrivals(random, read):
            heap.take(file)
        ends.append(heap.events)
    states = [fold(end.values()) for end in ends]
    assert states.count(states[0]) == len(states)
    contents = [{event.line() for event in end.values()} for end in ends]
    assert contents.count(contents[0]) == len(contents)
    assert fold(event for file in read for event in file) == states[0]  # without any merging
    people = states[0].reviewers.items()
    assert {place: summary(person) for place, person in people} == plainly(made.files)
    withdrawn = withdrawals(ends[0].values())
    check_one_by_one(ends[0].values())
    known = set(ends[0])
    assert known <= {event.id for event in made.truth}
    if known == {event.id for event in made.truth}:
        assert check_chain(ends[0].values()).whole
        reached = {event.id for event in made.truth if covered(event, withdrawn)}
        assert not [each for each in reached if ends[0][each].payload]


def check_one_by_one(events: Iterable[Event]) -> None:
    """Fold a history event by event, and compare after each with the fold of everything until then."""
    withdrawn = withdrawals(events)
    left = [event for event in events if event.payload and not covered(event, withdrawn)]
    live: dict[tuple[str, str], Person] = defaultdict(Person)
    for count, event in enumerate(sorted(left, key=lambda each: each.order), 1):
        if isinstance(said := event.payload, OfReviewer):
            live[said.batch, said.reviewer].add(event)
        if count % 7 == 0 or count == len(left):
            whole = fold(sorted(left, key=lambda each: each.order)[:count]).reviewers
            assert {place: person.state() for place, person in live.items()} == whole
            assert list(map(repr, whole.values())) == [repr(live[p].state()) for p in whole]


@pytest.mark.thorough
def test_any_order_of_arrival_gives_one_state() -> None:
    count = times(60, 10_000)
    seen = {"events": 0, "copied": 0, "withdrawals": 0, "undone": 0, "files": 0}
    for number in range(count):
        random = Random(number)
        made = history(random)
        check(random, made)
        seen["events"] += len(made.truth)
        seen["files"] += len(made.files)
        seen["copied"] += any(chain.forked for chain in check_chain(made.truth).chains)
        seen["withdrawals"] += any(event.kind is Kind.WITHDRAW for event in made.truth)
        seen["undone"] += sum(event.kind is Kind.UNDO for event in made.truth)
    print(f"{count} histories, {seen}")
    assert all(seen.values())
