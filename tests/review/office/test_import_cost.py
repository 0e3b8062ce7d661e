"""What taking a file in costs: it depends on the file and its people, never on what came before of others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest

from review.log.event import Event, read_event
from review.log.payloads import Scope
from review.log.withdrawal import known_withdrawals
from review.office.intake.file_report import FileReport
from review.office.intake.importing import import_bytes
from review.office.intake.speaking import (
    Speaking,
    let_speak,
    note_laptops,
    put_back,
    speaking,
    take_out,
)
from tests.growth import sqlite_steps
from tests.review.office.laptops import rating
from tests.review.office.made import Desk, Person, desk, random_ratings, vouch_for
from tests.review.thorough import times

PEOPLE = 9
NOW = datetime.now(UTC)


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Desk]:
    opened = desk(tmp_path / "office", reviewers=PEOPLE, items=30)
    yield opened
    opened.office.close()


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list of the devices of all events that the office's file is asked for, from now on."""
    asked: list[str] = []

    def counted(line: bytes) -> Event:
        event = read_event(line)
        asked.append(event.device)
        return event

    monkeypatch.setattr("review.log.table.read_event", counted)
    return asked


def files(made: Desk) -> list[bytes]:
    """Return the hand-overs of everybody, each from a laptop of its own."""
    found = []
    for place, code in enumerate(made.codes):
        someone = Person(made.folder.parent / f"laptop{place}", made.batch, code)
        someone.rate(random_ratings(12, place))
        found.append(someone.handed_over())
    for each in found:
        vouch_for(made.office, made.identity, each)
    return found


def test_the_last_of_many_files_costs_what_the_second_did(made: Desk, read: list[str]) -> None:
    """One that comes again asks for its own events alone."""
    asked, steps, every = [], [], files(made)
    for data in every:
        read.clear()
        with sqlite_steps(made.office.connection) as done:
            report = import_bytes(made.office, [made.identity.age], data, "x", now=NOW)
        assert report.added == 13
        asked.append(len(read))
        steps.append(done())
    assert asked == [13] * PEOPLE
    assert steps[-1] < 1.25 * steps[1]
    read.clear()
    report = import_bytes(made.office, [made.identity.age], every[3], "x", now=NOW)
    assert (report.added, report.already_here) == (0, 13)
    assert (len(read), len(set(read))) == (26, 1)


def of_file(told: Speaking, report: FileReport, people: set[str]) -> tuple[object, ...]:
    """Return what a report has to say of who speaks for whom, by what is told of the whole review."""
    mine = [each for each in told.laptops if each.signing_key == report.signing_key]
    return (
        tuple(code for each in mine if len(each.people) > 1 for code in each.people),
        tuple(each for each in told.several if each.code in people),
        any(each.far_ahead for each in mine),
    )


@pytest.mark.thorough
def test_a_report_says_of_its_laptop_and_people_what_is_told_of_the_whole_review(
    made: Desk,
) -> None:
    random, office = Random(3), made.office
    laptops = [
        Person(made.folder.parent / f"laptop{place}", made.batch, code)
        for place, code in enumerate(made.codes[:5])
    ]
    seen: set[object] = set()
    turns = times(40, 400)
    for turn in range(turns):
        writer, spoken = random.choice(laptops), random.choice(laptops[:3])
        value = random_ratings(1, turn)[0]
        # a laptop keeps nothing more of a person who withdrew on it
        if not known_withdrawals(writer.laptop.connection, spoken.code):
            writer.laptop.append(rating(spoken, random.randrange(12), value))
        if turn in {turns // 2, turns * 3 // 4}:
            writer.withdraw(Scope.BATCH)
        data = writer.handed_over()
        vouch_for(office, made.identity, data)
        report = import_bytes(office, [made.identity.age], data, "x", now=NOW)
        people = {made.card(writer), made.card(spoken)} | {
            made.review.code(getattr(each.payload, "reviewer", ""))
            for each in writer.laptop.events()
        }
        said = (report.speaks_for, report.several, report.far_ahead)
        assert said == of_file(speaking(office, made.review), report, people)
        seen.add((len(report.speaks_for) > 1, any(each.waits for each in report.several)))
        decide(made, random, report)
    assert len(seen) == 4


def decide(made: Desk, random: Random, report: FileReport) -> None:
    """Let the organisation now and then say who speaks, take a laptop out, or say what it came instead of."""
    office = made.office
    known = {each.signing_key: each for each in office.laptops()}
    laptop, act = known[report.signing_key], random.randrange(8)
    if act == 0 and report.several:
        person = made.review.person(random.choice(report.several).code)
        assert person is not None
        let_speak(office, made.review, person, [laptop])
    elif act == 1:
        take_out(office, laptop, "lost")
        told = speaking(office, made.review)
        assert [each.removed for each in told.laptops if each.name == laptop.name] == ["lost"]
        put_back(office, replace(laptop, removed="now"))
    elif act == 2 and (other := random.choice(list(known))) != laptop.signing_key:
        office.enrol(laptop.signing_key, laptop.name, None, other)
        note_laptops(office, made.review)
