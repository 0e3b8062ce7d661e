"""An office with a corpus of two sentences in the making, and somebody who looks over translations."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import pytest

from corpora.model.entry import Segment
from harness.project.candidates import CandidateDefaults, take_candidates
from harness.project.state import Project, ProjectEntry
from harness.sealed.keys import Identity, Role
from review.files.batch import Batch
from review.files.identities import make_codes
from review.log.payloads import Adjudicate, Consent, Face, HarmFlag, NotJudged, Suggest, Translate
from review.office.making.batches import NO_POLICY, make
from review.office.making.creating import (
    Share,
    draft_agreement,
    draft_sources,
    draft_translations,
    note_handed_out,
    secret_among,
    to_agree,
    to_translate,
)
from review.office.making.reviewed_runs import Sentences, of_lines
from review.office.results.into_project import gather
from review.office.results.progress import Gathered
from review.office.results.translations import Collected, collect
from review.office.store.store import Office, Review
from review.rating import CannotJudge, Rating
from tests.harness.project.making import begun, candidate
from tests.review.office import made
from tests.review.office.made import Person

LINES = ["I saw his dog.", "Where are you going?", "", "It is raining.", "I saw his dog.", "Good."]


def sentences(folder: Path, lines: list[str] | None = None) -> Sentences:
    path = folder / "sentences.txt"
    path.write_text("\n".join(LINES if lines is None else lines))
    return of_lines(path, "en", "crk")


@dataclass
class Written:
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


def opened(folder: Path, given: Sentences, share: Share) -> Written:
    identity = Identity.make(Role.ORGANISATION)
    said = made.said(identity, "words")
    ready = make(draft_translations(given, share, 5), said, identity)
    office = Office.open(folder)
    review = office.create_review(ready.key, NO_POLICY, ready.manifests, ready.texts)
    return Written(office, identity, review, ready.batches[0])


@pytest.fixture
def desk(tmp_path: Path) -> Written:
    return opened(tmp_path, sentences(tmp_path), Share(3))


class Translator(Person):
    def __init__(self, folder: Path, desk: Written, place: int, *, shares: bool = True) -> None:
        super().__init__(folder / f"laptop {place}", desk.batch, list(desk.review.key.orders)[place])
        self.agree(shares=shares)

    def agree(self, *, shares: bool, text: str = "") -> None:
        agreed = sha256(text.encode()).hexdigest()
        self.laptop.append(Consent(**self.place, consent_sha256=agreed, language="en", share_corrections=shares))

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


class Judge(Person):
    def says(self, item: str, rating: Rating, better: str = "") -> None:
        if better:
            self.laptop.append(Suggest(**self.place, item=item, text=better))
        self.rate([rating], self.order.index(item))

    def flags(self, item: str) -> None:
        self.laptop.append(HarmFlag(**self.place, item=item, harmful=True))

    def cannot(self, item: str, why: CannotJudge) -> None:
        at = {"item": item, "position": self.order.index(item), "active_ms": 1}
        self.laptop.append(NotJudged(**self.place, **at, face="lines", version="0", why=why))


@dataclass
class School:
    """An office with a corpus of two sentences in the making, one of them secret."""

    folder: Path
    office: Office
    identity: Identity
    project: Project

    def entry(self, number: int = 1) -> ProjectEntry:
        return self.project.state.entries[number - 1]

    def asks(self, kind: str, name: str, people: int = 1, *, again: bool = False) -> Written:
        waiting = {"translate": to_translate, "agree": to_agree}[kind](self.project, again=again)
        drafting = draft_sources if kind == "translate" else draft_agreement
        said = made.said(self.identity, name, secret=secret_among(waiting))
        ready = make(drafting(self.project, waiting, Share(people), 1), said, self.identity)
        review = self.office.create_review(ready.key, NO_POLICY, ready.manifests, ready.texts)
        note_handed_out(self.project, name, kind, waiting)
        return Written(self.office, self.identity, review, ready.batches[0])

    def gather(self) -> Gathered:
        return gather(self.project, self.office)

    def gather_again(self) -> Gathered:
        """Gather, which changes nothing any more."""
        before, found = self.project.state, self.gather()
        assert self.project.state == before
        return found

    def take(self, desk: Written, *people: Person) -> Gathered:
        for person in people:
            desk.take(person)
        return self.gather()

    def translated(self, *texts: str) -> tuple[Written, Translator]:
        texts = texts or ("Bonan tagon", "Sekreta frazo")
        desk = self.asks("translate", "words")
        person = Translator(self.folder, desk, 0)
        for number, text in enumerate(texts, 1):
            person.write(desk.item(number), text)
        assert self.take(desk, person).translated == len(texts)
        return desk, person

    def translate_again(self, text: str, number: int = 1) -> None:
        desk = self.asks("translate", "words-2")
        person = Translator(self.folder / "second", desk, 0)
        person.write(desk.item(number), text)
        self.take(desk, person)

    def look(self, name: str = "look", *, of: Translator | None = None, again: bool = False) -> tuple[Written, Judge]:
        """Ask a second speaker, on a laptop of their own or on a translator's; gives the review and who it is."""
        [desk, judge] = self.looks(1, name, again=again)
        if of is not None:
            judge.identity = of.identity
        return desk, judge

    def looks(self, people: int, name: str = "look", *, again: bool = False) -> list[Any]:
        desk = self.asks("agree", name, people, again=again)
        codes = enumerate(desk.review.key.orders)
        return [desk, *(Judge(self.folder / f"{name} {n}", desk.batch, code) for n, code in codes)]

    def reference(self, number: int = 1) -> str:
        return self.project.texts(self.entry(number)).reference

    def texts(self, number: int = 1) -> tuple[str, tuple[str, ...]]:
        texts = self.project.texts(self.entry(number))
        return texts.reference, texts.all_variants

    def outcome(self, number: int = 1) -> str | None:
        agreed = self.entry(number).agreed
        return None if agreed is None else agreed.outcome

    def waiting(self, *, again: bool = False) -> list[int]:
        return [each.id for each in to_agree(self.project, again=again)]

    def untranslated(self) -> list[int]:
        return [each.id for each in to_translate(self.project)]

    def decide(self, desk: Written, *, harmful: bool, number: int = 1) -> None:
        place = {"batch": desk.batch.manifest.batch, "item": desk.item(number), "note": ""}
        said = Adjudicate(wall=made.WALL, **place, harmful=harmful, reason="usual", by="Ann")
        self.office.append(desk.review, said)


def open_school(folder: Path, sources: Sequence[Any]) -> School:
    project = begun(folder)
    take_candidates(project, sources, CandidateDefaults())
    return School(folder, Office.open(folder / "home"), Identity.make(Role.ORGANISATION), project)


@pytest.fixture
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read no demo corpus, of which none of these sentences is; and draw the same codes in each test."""
    draw = Random(1).randrange
    known, codes = "harness.project.candidates.known_of_the_demo", "review.office.making.creating"
    monkeypatch.setattr(known, lambda sources: frozenset())
    monkeypatch.setattr(f"{codes}.make_codes", lambda count: make_codes(count, draw))


@pytest.fixture
def school(tmp_path: Path, cheap: None) -> School:
    sources = (
        candidate("Good day to you", segment=Segment.DEVELOPMENT),
        candidate("A secret sentence", segment=Segment.GOLD_STANDARD),
    )
    return open_school(tmp_path, sources)


@pytest.fixture
def days(tmp_path: Path, cheap: None) -> School:
    """Sentences of which none is secret, each of them translated in the same words."""
    texts = [f"{letter * 9} day to you" for letter in "abcdefghijk"]
    made = open_school(tmp_path, [candidate(text, segment=Segment.DEVELOPMENT) for text in texts])
    made.translated(*["Bonan tagon"] * len(texts))
    return made
