"""An office and a translator who works for it."""

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import pytest

from harness.sealed.keys import Identity, Role
from review.files.batch import Batch
from review.log.payloads import Consent, Face, HarmFlag, NotJudged, Translate
from review.office.items.sentences import Sentences, of_lines
from review.office.making.batches import NO_POLICY, make
from review.office.making.creating import Share, draft_translations
from review.office.results.translations import Collected, collect
from review.office.store.store import Office, Review
from review.rating import CannotJudge
from tests.review.office import made
from tests.review.office.made import Person

LINES = ["I saw his dog.", "Where are you going?", "", "It is raining.", "I saw his dog.", "Good."]


def sentences(folder: Path, lines: list[str] | None = None) -> Sentences:
    path = folder / "sentences.txt"
    path.write_text("\n".join(LINES if lines is None else lines))
    return of_lines(path, "en", "crk")


@dataclass
class Desk:
    office: Office
    identity: Identity
    review: Review
    batch: Batch

    def take(self, person: Person) -> None:
        report = made.take_vouched(self.office, self.identity, person.handed_over())
        assert report.outcome == "taken", report.why

    def collected(self) -> Collected:
        return collect(self.review, self.office.state(self.review))

    def item(self, entry: int) -> str:
        [item] = [item for item, about in self.review.key.items.items() if about.entry == entry]
        return item


def opened(folder: Path, given: Sentences, share: Share) -> Desk:
    identity = Identity.make(Role.ORGANISATION)
    said = made.said(identity, "words")
    ready = make(draft_translations(given, share, 5), said, identity)
    office = Office.open(folder)
    review = office.create_review(ready.key, NO_POLICY, ready.manifests, ready.texts)
    return Desk(office, identity, review, ready.batches[0])


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return opened(tmp_path, sentences(tmp_path), Share(3))


class Translator(Person):
    def __init__(self, folder: Path, desk: Desk, place: int, *, shares: bool = True) -> None:
        super().__init__(
            folder / f"laptop {place}", desk.batch, list(desk.review.key.orders)[place]
        )
        self.agree(shares=shares)

    def agree(self, *, shares: bool, text: str = "") -> None:
        agreed = sha256(text.encode()).hexdigest()
        self.laptop.append(
            Consent(**self.place, consent_sha256=agreed, language="en", share_corrections=shares)
        )

    def about(self, item: str) -> dict[str, object]:
        return {
            **self.place, "item": item, "position": self.order.index(item), "active_ms": 9000,
            "face": Face.DESKTOP, "version": "0",
        }  # fmt: skip

    def write(self, item: str, text: str) -> None:
        self.laptop.append(Translate(**self.about(item), text=text))

    def cannot(self, item: str, why: CannotJudge) -> None:
        self.laptop.append(NotJudged(**self.about(item), why=why))

    def flag(self, item: str) -> None:
        self.laptop.append(HarmFlag(**self.place, item=item, harmful=True))
