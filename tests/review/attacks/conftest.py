"""An office with two enrolled laptops, fresh for each attack of a speaker; one of them is in bad hands."""

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.sealed.sealing import seal
from review.files.ratings import sign_ratings
from review.log.event import Event, make_event
from review.log.fold import ReviewerState
from review.log.merge import export_events
from review.log.payloads import AnyPayload, Rate
from review.office.intake.file_report import FileReport
from review.office.intake.importing import import_bytes
from review.office.store.store import Office
from review.rating import Rating
from tests.review.attacks.ground import ground
from tests.review.office.made import WALL, Desk, Person, desk
from tests.review.verdict.certified import fewer_draws

__all__ = ["fewer_draws"]


@dataclass
class Stage:
    """An office and two enrolled laptops: of Ann, who is honest, and of Mallory, who is not."""

    folder: Path
    desk: Desk
    ann: Person
    mallory: Person
    absent: str
    """A person who has not come yet, as the log names them."""

    def take(self, person: Person, events: Sequence[Event] | None = None) -> FileReport:
        """Take in what a laptop hands over, or some other events that it signed."""
        return self.bring(self.sealed(person, events))

    def sealed(self, person: Person, events: Sequence[Event] | None = None) -> bytes:
        batch = person.batch
        every = export_events(person.laptop, batch.manifest.batch) if events is None else events
        archive = sign_ratings(every, batch, person.identity)
        return seal(archive, batch.manifest.organisation.recipients)

    def bring(self, data: bytes, name: str = "stick") -> FileReport:
        return import_bytes(self.desk.office, [self.desk.identity.age], data, name)

    def forged(self, *said: AnyPayload, lamport: int | None = None) -> list[Event]:
        """Return Mallory's log with more at its end, written by another program."""
        events = export_events(self.mallory.laptop, self.mallory.batch.manifest.batch)
        for payload in said:
            last = events[-1]
            events.append(
                make_event(
                    payload, device=last.device, seq=last.seq + 1,
                    lamport=lamport or last.lamport + 1, prev=last.id, salt=bytes(16),
                )
            )  # fmt: skip
        return events

    def rate(self, who: str, place: int = 0, rating: Rating = Rating.EXCELLENT) -> Rate:
        item = self.desk.batch.manifest.order(self.ann.code)[place]
        return Rate(
            wall=WALL, reviewer=who, batch=self.desk.batch.manifest.batch, item=item, position=place,
            active_ms=1, face="lines", version="0", rating=rating,
        )  # fmt: skip

    def about(self) -> dict[str, str]:
        return {"wall": WALL, "batch": self.desk.batch.manifest.batch}

    def state(self, who: str) -> ReviewerState:
        """Return what counts of a person."""
        state = self.desk.office.state(self.desk.review).reviewers
        return state.get((self.desk.batch.manifest.batch, who), ReviewerState())

    def ratings(self, who: str) -> list[Rating | None]:
        return [each.rating for each in self.state(who).judgements.values()]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    made = desk(tmp_path_factory.mktemp("office"), reviewers=3, items=30)
    with made.office:
        yield made


@pytest.fixture
def stage(template: Desk, tmp_path: Path) -> Iterator[Stage]:
    home = tmp_path / "home"
    shutil.copytree(template.folder, home)
    with Office.open(home) as office:
        made = Desk(home, office, template.identity, office.review("demo"), template.batch)
        people = [Person(tmp_path / name, made.batch, made.codes[n]) for n, name in enumerate("am")]
        for person in people:
            person.rate([Rating.GIST, Rating.REJECT, Rating.GIST])
            key = person.identity.public
            office.enrol(key.signing_key, f"laptop {key.phrase[:5]}", key.recipient)
        yield Stage(tmp_path, made, people[0], people[1], made.codes[2])


@pytest.fixture
def honest_part(worked_out_once: None, fewer_draws: None) -> None:
    """Play the honest part of an organiser's review before the test that is the first to need it."""
    ground()
