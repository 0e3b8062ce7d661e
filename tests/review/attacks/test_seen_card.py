"""The speaker as attacker: somebody whose laptop is enrolled, with a photo of another person's card."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from review.log.event import make_event
from review.log.fold import ReviewerState
from review.log.payloads import Comment, Consent, HarmFlag, Reasons, Related, Suggest, Undo
from review.log.table import insert_event
from review.office.intake.file_report import FileReport
from review.office.intake.speaking import speaking
from review.rating import Rating, Reason, Relation
from tests.review.office.made import Desk, Person, desk, take_vouched


class Table:
    """A review, the honest person whose card was seen, and the speaker who saw it."""

    def __init__(self, folder: Path) -> None:
        self.desk: Desk = desk(folder / "home", items=30)
        card, own = self.desk.codes[:2]
        self.card = self.desk.review.code(card)
        self.honest = Person(folder / "honest", self.desk.batch, card)
        self.other = Person(folder / "other", self.desk.batch, own)
        self.place: dict[str, Any] = dict(self.honest.place)
        self.honest.rate([Rating.GIST] * 20)
        self.other.rate([Rating.EXCELLENT] * 20)

    def take(self, person: Person) -> FileReport:
        return take_vouched(self.desk.office, self.desk.identity, person.handed_over())

    @property
    def state(self) -> ReviewerState:
        """What counts of the honest person."""
        reviewers = self.desk.office.state(self.desk.review).reviewers
        return reviewers[self.place["batch"], self.place["reviewer"]]


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return Table(tmp_path)


def consent(table: Table, *, share: bool) -> Consent:
    return Consent(**table.place, consent_sha256="0" * 64, language="en", share_corrections=share)


def test_nobody_agrees_in_anothers_name_that_wordings_are_shared(table: Table) -> None:
    table.honest.laptop.append(consent(table, share=False))
    table.honest.laptop.append(Suggest(**table.place, item=table.honest.order[0], text="mine"))
    table.take(table.honest)
    table.other.laptop.append(consent(table, share=True))
    report = table.take(table.other)
    assert report.elsewhere == (table.card,)  # told at the import
    assert not table.state.share_corrections
    assert table.state.consented


def test_nobody_puts_words_in_anothers_mouth(table: Table) -> None:
    item = table.honest.order[0]
    table.honest.laptop.append(Suggest(**table.place, item=item, text="mine"))
    table.take(table.honest)
    for said in (
        Suggest(**table.place, item=item, text="rude"),
        Comment(**table.place, item=item, text="rude"),
        Reasons(**table.place, item=item, reasons=(Reason.WRONG_MEANING,)),
    ):
        table.other.laptop.append(said)
    table.take(table.other)
    state = table.state
    assert (dict(state.suggestions), state.comments, state.reasons) == ({item: "mine"}, {}, {})
    assert len(state.judgements) == 20


def test_nobody_says_in_anothers_name_that_they_are_not_near_the_method(table: Table) -> None:
    table.honest.laptop.append(Related(**table.place, relation=Relation.MADE))
    table.take(table.honest)
    table.other.laptop.append(Related(**table.place, relation=Relation.NEITHER))
    table.take(table.other)
    assert table.state.relation is Relation.MADE


def test_words_count_from_a_laptop_that_speaks_and_where_none_does(table: Table) -> None:
    item = table.honest.order[0]
    table.honest.laptop.append(Comment(**table.place, item=item, text="mine"))
    table.take(table.honest)
    assert dict(table.state.comments) == {item: "mine"}


@pytest.mark.parametrize("what", ["undo", "harm"])
def test_who_takes_something_back_in_anothers_name_is_told_and_heard_by_nobody(
    table: Table, what: str
) -> None:
    last = next(e for e in reversed(list(table.honest.laptop.events())) if e.kind == "rate")
    table.honest.laptop.append(HarmFlag(**table.place, item=table.honest.order[0], harmful=True))
    table.take(table.honest)
    table.other.laptop.append(
        Undo(**table.place, target=last.id)
        if what == "undo"
        else HarmFlag(**table.place, item=table.honest.order[0], harmful=False)
    )
    report = table.take(table.other)
    assert [each.code for each in report.several] == [table.card]
    assert table.state.harmful == {table.honest.order[0]}  # a flag is heard from every laptop
    assert not table.state.judgements  # waits until the organisation says who speaks


def test_who_rates_for_somebody_absent_is_told_by_name_each_time(table: Table) -> None:
    table.other.laptop.append(consent(table, share=True))
    told = table.take(table.other)
    assert not told.speaks_for
    said = next(e.payload for e in table.honest.laptop.events() if e.kind == "rate")
    assert said is not None
    table.other.laptop.append(said)
    for _ in range(2):
        told = table.take(table.other)
        assert set(told.speaks_for) >= {table.card}
    shared = speaking(table.desk.office, table.desk.review).shared
    assert [set(each.people) >= {table.card} for each in shared] == [True]


def test_another_laptops_log_and_the_offices_take_nothing_from_it(table: Table) -> None:
    table.take(table.honest)
    victim = table.honest.laptop.device
    office = table.desk.office.first_device
    before = table.state
    for device in (victim, office):
        said = consent(table, share=True)
        chain = [e for e in table.honest.laptop.events() if e.device == victim]
        place = (
            {"seq": len(chain), "prev": chain[-1].id}
            if device == victim
            else {"seq": 0, "prev": ""}
        )
        event = make_event(said, device=device, lamport=10**6, salt=bytes(16), **place)  # type: ignore[arg-type]
        with table.other.laptop.connection:
            insert_event(table.other.laptop.connection, event)
    report = table.take(table.other)
    assert report.aside or report.why
    assert table.state == before
