"""From events to a panel: who counts, for what, and what the organisation decides about flags."""

from random import Random
from typing import Any

import pytest

from harness.core.failures import UsageError
from review.log.event import Event, make_event, read_event
from review.log.fold import Adjudication
from review.log.payloads import MOST_TEXT, Adjudicate, Consent, Face, HarmFlag, NotJudged, Rate, Undo
from review.rating import CannotJudge, Rating
from review.verdict.gate.adjudication import Case, Grounds, ItemComment, SecondLook, decisions, grounds, queue
from review.verdict.gate.key import AnswerKey, ControlKind, KeyItem, KeyRun
from review.verdict.gate.panel import Harm, Panel, not_shown, panel_of
from tests.harness.sealed.refusals import refuses
from tests.review.office import reviewed
from tests.review.office.reviewed import ITEMS, PEOPLE, Reason, said, state
from tests.review.verdict.histories import ORGANISATION, WALL, Chain, evidence_of

BATCH = "b" * 16
A, B, STRANGER = "AAAAAAAA", "BBBBBBBB", "ZZZZZZZZ"
ONE, TWO, OTHER, BAD, AGAIN = (f"{n:016x}" for n in range(5))


def key(**more: Any) -> AnswerKey:
    items = {
        ONE: KeyItem(run_id="r1", entry=1, stratum=1),
        TWO: KeyItem(run_id="r1", entry=2, stratum=2),
        OTHER: KeyItem(run_id="r2", entry=1, stratum=1),
        BAD: KeyItem(run_id=None, entry=1, stratum=1, control=ControlKind.BAD, partner=ONE),
        AGAIN: KeyItem(run_id="r1", entry=2, stratum=2, control=ControlKind.REPEAT, partner=OTHER),
    }
    facts = {"dataset_id": "d", "language_pair": "EN→EO", "segments": {"gold_standard": 2}}
    card = {"run_card_hash": "1" * 64, "strata": {1: 30, 2: 10}}
    told = {
        "review": "demo", "batches": (BATCH,), "batch_sha256": {BATCH: "0" * 64}, "items": items,
        "runs": [KeyRun(run_id=run, **card, **facts) for run in ("r1", "r2")],
        "core": (ONE, OTHER), "orders": {A: tuple(items), B: tuple(items)}, "seed": 1, "panel": "",
    }  # fmt: skip
    return AnswerKey.model_validate(told | more)


class Laptop(Chain):
    def __init__(self, device: str | None = None) -> None:
        super().__init__(Random(1), device)

    def agree(self, who: str) -> None:
        self.write(
            Consent(
                wall=WALL, reviewer=who, batch=BATCH, consent_sha256="c" * 64, language="en",
                share_corrections=False,
            )
        )  # fmt: skip

    def rate(self, who: str, item: str, rating: Rating, ms: int = 1000) -> Event:
        return self.write(Rate(rating=rating, **self._judged(who, item, ms)))

    def cannot(self, who: str, item: str, why: CannotJudge = CannotJudge.UNSAID) -> None:
        self.write(NotJudged(why=why, **self._judged(who, item, 1)))

    def flag(self, who: str, item: str, harmful: bool = True) -> None:
        self.write(HarmFlag(wall=WALL, reviewer=who, batch=BATCH, item=item, harmful=harmful))

    def decide(self, item: str, harmful: bool | None) -> None:
        self.write(Adjudicate(wall=WALL, batch=BATCH, item=item, harmful=harmful, note=""))

    def _judged(self, who: str, item: str, ms: int) -> dict[str, Any]:
        return {
            "wall": WALL, "reviewer": who, "batch": BATCH, "item": item, "position": 0,
            "active_ms": ms, "face": Face.LINES, "version": "0",
        }  # fmt: skip


def panel(*chains: Laptop, run: str = "r1", look: int = 1) -> Panel:
    events = [event for chain in chains for event in chain.events]
    evidence = evidence_of(key(), events)
    return panel_of(evidence.state, evidence.key, run, look)


def cases(laptop: Laptop) -> list[Case]:
    evidence = evidence_of(key(), laptop.events)
    return queue(evidence.state, evidence.key)


def test_only_real_items_of_people_who_agreed_count() -> None:
    laptop = Laptop()
    laptop.agree(A)
    for place, item in enumerate((BAD, ONE, OTHER, AGAIN, TWO)):
        laptop.rate(A, item, Rating.GIST if item == BAD else Rating.EXCELLENT, 100 * place)
    found = panel(laptop)
    assert (found.strata, found.weights) == ({ONE: 1, TWO: 2}, {1: 0.75, 2: 0.25})
    assert (found.ratings, found.core) == ({A: {ONE: 3, TWO: 3}}, {ONE})
    assert found.control_ratings == {A: {BAD: 1, AGAIN: 3}}
    assert found.partner_ratings == {A: {ONE: 3, OTHER: 3}}
    assert found.sequences == {A: (1, 3, 3, 3, 3)}
    assert found.times_ms == {A: (0, 100, 200, 300, 400)}
    assert panel(laptop, run="r2").ratings == {A: {OTHER: 3}}
    refuses(UsageError, "no run 'r9'", panel, Laptop(), run="r9")
    laptop = Laptop()
    laptop.agree(STRANGER)
    for who in (A, STRANGER):
        laptop.rate(who, ONE, Rating.EXCELLENT)
        laptop.flag(who, ONE)
    found = panel(laptop)
    assert (found.ratings, found.harm, found.sequences) == ({}, {}, {})
    laptop = Laptop()
    laptop.agree(A)
    laptop.cannot(A, TWO)  # which is no rating
    found = panel(laptop)
    assert (found.ratings, found.cannot_judge) == ({}, {A: frozenset({TWO})})
    laptop.rate(A, ONE, Rating.REJECT)
    last = laptop.rate(A, ONE, Rating.EXCELLENT)
    laptop.write(Undo(wall=WALL, reviewer=A, batch=BATCH, target=last.id))
    assert panel(laptop).ratings == {A: {ONE: 0}}


def test_what_no_laptop_could_show_is_told_of_its_run_alone() -> None:
    laptop = Laptop()
    for who in (A, B, STRANGER):
        laptop.agree(who)
    for item in (ONE, OTHER, BAD, AGAIN):
        laptop.cannot(A, item, CannotJudge.NOT_SHOWN)
    laptop.cannot(STRANGER, TWO, CannotJudge.NOT_SHOWN)
    laptop.cannot(B, TWO)
    evidence = evidence_of(key(), laptop.events)
    assert not_shown(evidence.state, evidence.key, "r1") == {ONE: False}
    laptop.rate(B, ONE, Rating.REJECT)
    evidence = evidence_of(key(), laptop.events)
    assert not_shown(evidence.state, evidence.key, "r1") == {ONE: True}
    laptop.rate(A, ONE, Rating.REJECT)  # on another laptop it could be seen
    evidence = evidence_of(key(), laptop.events)
    assert not_shown(evidence.state, evidence.key, "r1") == {}


@pytest.mark.parametrize(
    ("words", "become"),
    [((), Harm.FLAGGED), ((True,), Harm.UPHELD), ((True, False), Harm.CLEARED), ((None,), Harm.FLAGGED)],
)  # fmt: skip
def test_what_became_of_a_flag(words: tuple[bool | None, ...], become: Harm) -> None:
    laptop, office = Laptop(), Laptop(ORGANISATION)
    laptop.agree(A)
    laptop.flag(A, ONE)
    laptop.flag(A, BAD)
    for harmful in words:
        office.decide(ONE, harmful)
    assert panel(laptop, office).harm == {ONE: become}


def test_a_flag_on_a_second_showing_is_one_on_the_first() -> None:
    laptop, office = Laptop(), Laptop(ORGANISATION)
    laptop.agree(A)
    laptop.agree(B)
    laptop.flag(A, AGAIN)  # a second showing of an item of the other run
    laptop.flag(A, BAD)
    assert panel(laptop).harm == {}
    found = panel(laptop, run="r2")
    assert (found.harm, found.flagged_controls) == ({OTHER: Harm.FLAGGED}, {BAD})
    laptop.flag(A, OTHER)
    [case] = cases(laptop)
    assert (case.item, case.flags) == (OTHER, 1)  # once, and by one person
    laptop.flag(B, AGAIN)
    assert [case.flags for case in cases(laptop)] == [2]
    office.decide(OTHER, False)
    assert panel(laptop, office, run="r2").harm == {OTHER: Harm.CLEARED}


def test_a_flag_taken_back_is_none_but_what_was_upheld_stays() -> None:
    laptop, office = Laptop(), Laptop(ORGANISATION)
    laptop.agree(A)
    for item in (ONE, TWO):
        laptop.flag(A, item)
        laptop.flag(A, item, harmful=False)
    laptop.flag(A, ONE)
    laptop.decide(ONE, False)  # only the organisation decides
    assert panel(laptop).harm == {ONE: Harm.FLAGGED}
    laptop.flag(A, ONE, harmful=False)
    office.decide(TWO, True)
    assert panel(laptop, office).harm == {TWO: Harm.UPHELD}


ITEM = "a" * 16
WHY = Grounds("an insult here", "Ann")
UPHELD, CLEARED, NOTED = (Adjudication(harmful, "") for harmful in (True, False, None))


def case(flags: int, decided: Adjudication | None = None) -> Case:
    return Case(ITEM, BATCH, flags, (1, 0, 0, 1), 0, decided)


@pytest.mark.parametrize("harmful", [True, False])
@pytest.mark.parametrize("before", [None, NOTED], ids=["nothing", "a note"])
def test_nobody_decides_what_nobody_flagged(harmful: bool, before: Adjudication | None) -> None:
    assert not case(0, before).may_be_decided
    refuses(UsageError, "Nobody flagged", decisions, case(0, before), harmful, "", WALL)
    assert decisions(case(0, before), None, "hm", WALL) == [
        Adjudicate(wall=WALL, batch=BATCH, item=ITEM, harmful=None, note="hm")
    ]


def test_the_same_decision_again_takes_it_back() -> None:
    for flags, before, answer, now in (
        (1, None, True, True),
        (1, NOTED, False, False),
        (1, UPHELD, False, False),
        (1, UPHELD, True, None),
        (1, CLEARED, False, None),
        (0, UPHELD, False, False),
        (0, UPHELD, True, None),
    ):
        [event] = decisions(case(flags, before), answer, "", WALL, WHY)
        assert event.harmful is now
        assert (event.reason, event.by) == (("", "") if now is None else (WHY.reason, WHY.by))


def test_note_is_kept_beside_what_was_decided() -> None:
    assert [each.harmful for each in decisions(case(1, UPHELD), None, " x ", WALL)] == [None, True]
    assert [each.note for each in decisions(case(1, UPHELD), None, " x ", WALL)] == ["x", ""]
    assert decisions(case(1, UPHELD), None, "  ", WALL) == []
    for decided in (Adjudication(False, "", "used so here", "Ann"), CLEARED):
        *_, again = decisions(case(1, decided), None, "hm", WALL)
        assert (again.harmful, again.reason, again.by) == (False, decided.reason, decided.by)
        given = {"reason", "by"} & set(again.model_dump())
        assert given == ({"reason", "by"} if decided.reason else set())
    [noted] = decisions(case(1), None, "a\udc80b\ud83d\ude00", WALL)
    event = make_event(noted, device="0" * 16, seq=0, lamport=1, prev="", salt=b"0" * 16)
    assert (read_event(event.line()).payload, noted.note) == (noted, "a\ufffdb😀")
    refused = refuses(UsageError, "4,001 characters", decisions, case(1), None, "x" * (MOST_TEXT + 1), WALL)
    assert "xx" not in str(refused)


def test_nothing_is_decided_without_grounds() -> None:
    refuses(UsageError, "a reason and the name", decisions, case(1), False, "", WALL)
    for reason, by in (("", "Ann"), (" \t", "Ann"), ("used so here", " "), ("", "")):
        refuses(UsageError, "A decision needs a", grounds, reason, by, [])
    refuses(UsageError, "201 characters", grounds, "x" * 201, "Ann", [])
    assert grounds("  used\n so ", "Ann ", []) == Grounds("used so", "Ann")


@pytest.mark.parametrize(("words", "quotes"), [
    ("We say THE little, Dog here", True), ("the little cat is no insult", False),
    ("little dog", False), ("atim is what we say", True), ("atimak is what we say", False),
    ("because the little dog", True),
])  # fmt: skip
def test_grounds_quote_no_text_of_the_item(words: str, quotes: bool) -> None:
    texts = ["Look: the little dog sleeps", "Atim."]
    if not quotes:
        assert grounds(words, "Ann", texts).reason == words
        return
    for reason, by in ((words, "Ann"), ("used so here", words)):
        refused = refuses(UsageError, "repeats words of the sentence", grounds, reason, by, texts)
        assert "dog" not in str(refused).lower()


def test_a_decision_of_before_is_read_and_written_as_it_was() -> None:
    """Its content has neither reason nor name, and its head commits to just that."""
    old = Adjudicate(wall=WALL, batch=BATCH, item=ITEM, harmful=False, note="")
    event = make_event(old, device="0" * 16, seq=0, lamport=1, prev="", salt=b"0" * 16)
    assert b"reason" not in event.line()
    read = read_event(event.line())
    assert read.line() == event.line()
    assert isinstance(read.payload, Adjudicate)
    assert (read.payload.reason, read.payload.by) == ("", "")


GOOD, POOR = Rating.EXCELLENT, Rating.REJECT


def test_words_come_with_the_rating_without_the_person() -> None:
    people = state(
        said(GOOD, comments={ITEMS[0]: "we say it so"}),
        said(POOR, reasons={ITEMS[0]: (Reason.GRAMMAR,)}, suggestions={ITEMS[0]: "better"}),
        said(GOOD, comments={ITEMS[1]: "of another one"}),
        said(None, comments={ITEMS[0]: "not my dialect"}),
    )
    case = queue(people, reviewed.key())[0]
    assert case.item == ITEMS[0]
    assert set(case.voices) == {
        ItemComment(GOOD, (), "we say it so", ""),
        ItemComment(POOR, (Reason.GRAMMAR,), "", "better"),
        ItemComment(None, (), "not my dialect", ""),
    }
    assert not any(who in repr(case) for who in PEOPLE)


def test_people_come_in_another_order_if_they_agreed() -> None:
    """With a fixed order, who is first at one item would be first at all of them."""
    people = [said(*[GOOD if n % 2 else POOR] * 4, comments=dict.fromkeys(ITEMS, f"of {n}")) for n in range(6)]
    orders = {tuple(each.comment for each in case.voices) for case in queue(state(*people), reviewed.key())}
    assert len(orders) == len(ITEMS)
    silent = said(POOR, comments={ITEMS[0]: "never agreed"})
    object.__setattr__(silent, "consented", False)
    second = SecondLook((0, 0, 2, 0), 0, 2, 1, 0, ())
    found = queue(state(said(GOOD), said(POOR), silent), reviewed.key(), {ITEMS[0]: second})
    assert found[0].voices == ()
    assert found[0].second == second
    assert found[0].counts == (1, 0, 0, 1), "the first round alone is counted"
