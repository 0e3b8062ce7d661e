"""Laptops, and the ratings that they hand in."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from harness.sealed.keys import Identity
from harness.sealed.sealing import seal
from review.files.ratings import sign_ratings
from review.log.event import Event, make_event
from review.log.fold import ReviewerState
from review.log.merge import export_events
from review.log.payloads import AnyPayload, Rate
from review.office.intake.importing import import_bytes
from review.office.intake.speaking import FileReport
from review.rating import Rating
from tests.review.office.made import Desk, Person, desk, random_ratings, vouch_for

NOW = datetime.now(UTC)


@pytest.fixture
def made(tmp_path: Path) -> Desk:
    return desk(tmp_path / "office", reviewers=3, items=30)


def person(made: Desk, place: int, count: int = 3, folder: str | None = None) -> Person:
    """Return somebody who has rated ``count`` items, on a laptop of their own or in ``folder``."""
    place_of = made.folder.parent / (folder or f"laptop{place}")
    someone = Person(place_of, made.batch, made.codes[place])
    someone.rate(random_ratings(count, place))
    return someone


def take_file(made: Desk, data: bytes, *, enrol: bool = True, name: str = "a.rosetta-ratings") -> FileReport:
    """Let the office read a file; ``enrol``: somebody vouches for its laptop before."""
    if enrol:
        vouch_for(made.office, made.identity, data)
    return import_bytes(made.office, [made.identity.age], data, name, now=NOW)


def events_of(someone: Person) -> list[Event]:
    return export_events(someone.laptop, someone.batch.manifest.batch)


def take(made: Desk, identity: Identity, events: Sequence[Event], enrol: bool = True) -> FileReport:
    archive = sign_ratings(events, made.batch, identity)
    data = seal(archive, made.batch.manifest.organisation.recipients)
    return take_file(made, data, enrol=enrol, name="x")


def hand_in(made: Desk, someone: Person) -> FileReport:
    return take_file(made, someone.handed_over())


def rating(someone: Person, place: int = 0, value: Rating = Rating.REJECT, **changes: object) -> Rate:
    fields = {
        **someone.place, "item": someone.order[place], "position": place, "active_ms": 1,
        "face": "lines", "version": "0", "rating": value,
    }  # fmt: skip
    return Rate.model_validate(fields | changes)


def next_of(last: Event, payload: AnyPayload, *, seq: int | None = None) -> Event:
    """Make what a forger, or a copy, would add to a chain after an event."""
    place = last.seq + 1 if seq is None else seq
    return make_event(
        payload, device=last.device, seq=place, lamport=last.lamport + 1, prev=last.id, salt=bytes(16)
    )  # fmt: skip


def first_of(device: str, payload: AnyPayload) -> Event:
    return make_event(payload, device=device, seq=0, lamport=1, prev="", salt=bytes(16))


def ratings(made: Desk, someone: Person) -> dict[str, Rating | None]:
    place = someone.batch.manifest.batch, someone.code
    person = made.office.state(made.review).reviewers.get(place, ReviewerState())
    return {item: judged.rating for item, judged in person.judgements.items()}
