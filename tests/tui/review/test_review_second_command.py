"""A second look, end to end: what split the panel goes out once more, comes back, and changes no verdict."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from review.files.batch import Batch
from review.files.manifests import OthersWords
from review.log.payloads import Comment, HarmFlag, Reasons, Scope, Suggest
from review.office.making.second_look import second_looks
from review.office.results.progress import progress
from review.office.store.store import Office
from review.rating import Rating, Reason
from review.verdict.gate.adjudication import SecondLook, queue
from rosetta_tui.review.organiser.desk import OrganiserDesk
from rosetta_tui.review.organiser.facts import read_review
from rosetta_tui.review.organiser.pages.review import ReviewScreen
from rosetta_tui.review.organiser.pages.reviews import ReviewsScreen
from tests.review.office import made
from tests.tui.review.creating import batch_at, create, home, refused, rosetta
from tests.tui.screens import App, settle, text

__all__ = ["home"]

WORDS = {"comment": "mark-0 too formal", "wording": "mark-0 Mi vidis lian hundon."}
EVERY = ("second", "spring", "-o")


@dataclass
class Ground:
    """Three people who rated at random, the first of whom wrote about every sentence."""

    home: Path
    stick: Path
    people: list[made.Person] = field(default_factory=list)

    def take(self, people: list[made.Person]) -> None:
        for number, person in enumerate(people):
            file = self.stick / f"{person.code}{number}.rosetta-ratings"
            file.write_bytes(person.handed_over())
        rosetta("import", self.stick, "--enrol", "--yes")

    def batch(self, name: str) -> Batch:
        return batch_at(self.stick / f"{name}.rosetta-batch")

    def second(self, *more: str) -> Batch:
        rosetta(*EVERY, self.stick, "--name", "again", *more)
        return self.batch("again")


def ground(home: Path, stick: Path, *more: str) -> Ground:
    create(stick, "--name", "spring", "--reviewers", "3", "--items", "16", "--anyway", *more)
    assert "Nothing in review 'spring' split the panel" in refused(*EVERY, stick)
    scene = Ground(home, stick)
    for place, (who, code) in enumerate(made.codes_of(home, "spring").items()):
        person = made.Person(stick.parent / f"laptop {place}", scene.batch("spring"), who, code)
        person.rate(Random(place).choices([Rating.REJECT, Rating.EXCELLENT], k=len(person.order)))
        scene.people.append(person)
    first = scene.people[0]
    for item in first.order:
        about = {**first.place, "item": item}
        first.laptop.append(Reasons(**about, reasons=(Reason.REGISTER,)))
        first.laptop.append(Comment(**about, text=WORDS["comment"]))
        first.laptop.append(Suggest(**about, text=WORDS["wording"]))
    scene.take(scene.people)
    return scene


@pytest.fixture
def told(home: Path, tmp_path: Path) -> Ground:
    return ground(home, tmp_path / "stick", "--second-look")


def everything(batch: Batch) -> str:
    archive = zipfile.ZipFile(io.BytesIO(batch.archive))
    return "\n".join(archive.read(name).decode("utf-8", "replace") for name in archive.namelist())


def test_words_go_along_without_names_and_answers_where_told(told: Ground) -> None:
    first = told.batch("spring").manifest
    assert first.shows_words
    assert "may be shown to the others" in first.consent
    assert "être montré aux autres" in first.translations["fr"].consent
    batch = told.second()
    assert batch.manifest.second_of == first.batch
    assert not batch.manifest.shows_words, "there is no third"
    assert not batch.training
    with Office.open(told.home) as office:
        review, again = office.review("spring"), office.review("again")
        split = [each for each in queue(office.state(review), review.key) if each.is_split]
        assert sorted(about.partner or "" for about in again.key.items.values()) == sorted(
            case.item for case in split
        )
        assert {about.run_id for about in again.key.items.values()} == {None}
        assert set(again.codes.values()) == set(review.codes.values()), "their cards stay theirs"
        kept = office.connection.execute("SELECT * FROM item").fetchall()
    for item in batch.items:
        [said] = set(item.others)  # of both showings, where it was shown twice
        assert said == OthersWords(
            reasons=(Reason.REGISTER,), comment=WORDS["comment"], suggestion=WORDS["wording"]
        )
    whole = everything(batch)
    assert not any(person.code in whole for person in told.people)
    assert not any(name in whole for name in ('"reject"', '"excellent"', '"counts"'))
    assert "mark-0" not in str(kept), "what is taken back is erased here: it is not kept twice"
    for command, why in (
        ((*EVERY, told.stick), "had its second look: 'again'"),
        (("second", "again", "-o", told.stick), "There is no third"),
        (("gate", "again"), "is advice for who decides"),
        (("adjudicate", "again"), "Decide in the first one"),
    ):
        assert why in refused(*command)
    for name in ("spring", "again"):
        assert name in rosetta("status", name).output


def test_people_who_were_not_told_are_not_quoted(home: Path, tmp_path: Path) -> None:
    scene = ground(home, tmp_path / "stick")
    plan = rosetta(*EVERY, scene.stick, "--dry-run").output
    assert "nothing of what people wrote" in plan
    batch = scene.second()
    assert batch.items
    assert not any(item.others for item in batch.items)
    assert "mark-0" not in everything(batch)


def test_what_somebody_took_back_is_not_shown_to_others(told: Ground) -> None:
    told.people[0].withdraw(Scope.COMMENTS)
    told.people[2].withdraw()
    told.take([told.people[0], told.people[2]])
    batch = told.second()
    assert "mark-0" not in everything(batch)
    assert len(batch.manifest.orders) == 2, "who took everything back is not asked again"


def test_the_answers_are_advice_and_no_verdict_counts_them(told: Ground) -> None:
    batch = told.second()
    before = json.loads(rosetta("gate", "spring", "--json").stdout)
    people = [
        made.Person(told.stick.parent / f"again {code}", batch, who, code)
        for who, code in made.codes_of(told.home, "again").items()
    ]
    for person in people:
        person.rate([Rating.ACCEPTABLE] * len(person.order))
    flagged = people[1].order[0]
    people[1].laptop.append(HarmFlag(**people[1].place, item=flagged, harmful=True))
    told.take(people)
    gate = rosetta("gate", "spring", "--json")
    assert json.loads(gate.stdout) == before
    assert "1 of the sentences were called harmful in the second look" in gate.stderr
    assert "No certificate is issued before that" in refused("gate", "spring", "--issue")
    with Office.open(told.home) as office:
        review, again = office.review("spring"), office.review("again")
        found = second_looks(office, review, office.state(review))
        item = again.key.items[flagged].partner or ""
        assert found[item] == SecondLook((0, 0, 3, 0), 0, 3, 3, 1, ())
        assert {each.counts for each in found.values()} == {(0, 0, 3, 0)}
        assert [each.done for each in progress(office, again).reviewers] == [len(batch.items)] * 3
    queued = json.loads(rosetta("adjudicate", "spring", "--json").stdout)
    assert [each["second_look"] for each in queued] == [[0, 0, 3, 0]] * len(batch.items)
    shown = rosetta("adjudicate", "spring", text="q\n").output
    assert "Somebody, " in shown
    assert WORDS["comment"] in shown
    assert "Second look: 0 reject, 0 gist, 3 acceptable" in shown
    assert "the gate counts the first round alone" in shown
    desk = OrganiserDesk(told.home, told.home / "rosetta.sqlite")
    [case] = [each for each in read_review(desk, "spring").cases if each.item == item]
    assert case.is_open, "a flag of the second look waits for a decision"
    assert case.may_be_decided
    assert read_review(desk, "again").cases == [], "nothing is decided in the second look"
    rosetta("adjudicate", "spring", text="c\nused so\nAnn\nq\n")
    assert "second look" not in rosetta("gate", "spring", "--json").stderr


@pytest.mark.thorough
async def test_screens_say_that_it_is_advice(told: Ground) -> None:
    told.second()
    desk = OrganiserDesk(told.home, told.home / "rosetta.sqlite")
    app = App(None, told.home / "rosetta.sqlite")
    async with app.run_test(size=(100, 30)) as pilot:
        await app.push_screen(ReviewsScreen(desk))
        await settle(pilot)
        assert "a second look" in text(app)
        for section in ("Progress", "Gate"):
            await app.push_screen(ReviewScreen(desk, "again", section))
            await settle(pilot)
            said = "is advice for who decides there" in " ".join(text(app).split())
            assert said == (section == "Gate")
