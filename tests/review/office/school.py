"""An office with a corpus of two sentences in the making, and somebody who looks over translations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from corpora.model.entry import Segment
from harness.project.candidates import Usual, take_candidates
from harness.project.state import Project, ProjectEntry
from harness.sealed.keys import Identity, Role
from review.files.batch import Batch
from review.log.payloads import Adjudicate, Suggest
from review.office.making.batches import NO_POLICY, make
from review.office.making.creating import Share
from review.office.making.of_project import (
    draft_agreement,
    draft_sources,
    note_handed_out,
    secret_among,
    to_agree,
    to_translate,
)
from review.office.results.gathered import Gathered
from review.office.results.into_project import gather
from review.office.store.store import Office
from review.rating import Rating
from tests.harness.project.making import begun, candidate
from tests.review.office import made
from tests.review.office.made import Person
from tests.review.office.translator import Desk as Written
from tests.review.office.translator import Translator


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

    def translated(self, *texts: str) -> tuple[Written, Translator]:
        """Have all sentences translated; gives the review and who did it."""
        texts = texts or ("Bonan tagon", "Sekreta frazo")
        desk = self.asks("translate", "words")
        person = Translator(self.folder, desk, 0)
        for number, text in enumerate(texts, 1):
            person.write(desk.item(number), text)
        desk.take(person)
        assert gather(self.project, self.office).translated == len(texts)
        return desk, person

    def looks(self, number: int, do: Callable[[Judge, str], None], people: int = 1) -> Gathered:
        """Have a second speaker do something about one sentence."""
        desk = self.asks("agree", f"agree{len(self.project.state.reviews)}", people)
        for place in range(people):
            judge = Judge(
                self.folder / f"{desk.review.name} {place}",
                desk.batch,
                [*desk.review.key.orders][place],
            )
            do(judge, desk.item(number))
            desk.take(judge)
        return gather(self.project, self.office)

    def reference(self, number: int = 1) -> str:
        return self.project.texts(self.entry(number)).reference


class Judge(Person):
    """Somebody who looks over translations."""

    def __init__(self, folder: Path, batch: Batch, code: str) -> None:
        super().__init__(folder, batch, code)

    def says(self, item: str, rating: Rating, better: str = "") -> None:
        if better:
            self.laptop.append(Suggest(**self.place, item=item, text=better))
        self.rate([rating], self.order.index(item))


@pytest.fixture
def school(tmp_path: Path) -> Iterator[School]:
    project = begun(tmp_path)
    sources = (
        candidate("Good day to you", segment=Segment.DEVELOPMENT),
        candidate("A secret sentence", segment=Segment.GOLD_STANDARD),
    )
    take_candidates(project, sources, Usual())
    with Office.open(tmp_path / "home") as office:
        yield School(tmp_path, office, Identity.make(Role.ORGANISATION), project)


def judge_of(school: School, desk: Written, *, of: Translator | None = None) -> Judge:
    """Return the one who is asked in a review, on a laptop of their own or on a translator's."""
    [code] = desk.review.key.orders
    judge = Judge(school.folder / f"judge of {desk.review.name}", desk.batch, code)
    if of is not None:
        judge.identity = of.identity
    return judge


def decide(school: School, desk: Written, *, harmful: bool, number: int = 1) -> None:
    place = {"batch": desk.batch.manifest.batch, "item": desk.item(number), "note": ""}
    said = Adjudicate(wall=made.WALL, **place, harmful=harmful, reason="usual", by="Ann")
    school.office.append(desk.review, said)
