"""What an organiser may decide about an item, and what becomes of it."""

import pytest

from harness.core.failures import UsageError
from review.log.event import make_event, read_event
from review.log.fold import Adjudication
from review.log.payloads import MOST_TEXT, Adjudicate
from review.rating import Rating
from review.verdict.gate.adjudication import (
    Case,
    Grounds,
    SecondLook,
    Voice,
    decisions,
    grounds,
    queue,
)
from tests.review.office.reviewed import ITEMS, PEOPLE, Reason, key, said, state
from tests.review.verdict.histories import WALL

ITEM, BATCH = "a" * 16, "b" * 16
WHY = Grounds("an insult here", "Ann")
UPHELD, CLEARED, NOTED = (Adjudication(harmful, "") for harmful in (True, False, None))


def case(flags: int, decided: Adjudication | None = None) -> Case:
    return Case(ITEM, BATCH, flags, (1, 0, 0, 1), 0, decided)


@pytest.mark.parametrize("harmful", [True, False])
@pytest.mark.parametrize("before", [None, NOTED], ids=["nothing", "a note"])
def test_nobody_decides_what_nobody_flagged(harmful: bool, before: Adjudication | None) -> None:
    assert not case(0, before).may_be_decided
    with pytest.raises(UsageError, match="Nobody flagged"):
        decisions(case(0, before), harmful, "", WALL)
    assert decisions(case(0, before), None, "hm", WALL) == [
        Adjudicate(wall=WALL, batch=BATCH, item=ITEM, harmful=None, note="hm")
    ]


@pytest.mark.parametrize(
    ("flags", "before", "answer", "now"),
    [
        (1, None, True, True),
        (1, NOTED, False, False),
        (1, UPHELD, False, False),
        (1, UPHELD, True, None),
        (1, CLEARED, False, None),
        (0, UPHELD, False, False),
        (0, UPHELD, True, None),
    ],
    ids=["first", "after a note", "other", "again", "again no", "flag gone", "flag gone, again"],
)
def test_the_same_decision_again_takes_it_back(
    flags: int, before: Adjudication | None, answer: bool, now: bool | None
) -> None:
    [event] = decisions(case(flags, before), answer, "", WALL, WHY)
    assert event.harmful is now
    assert (event.reason, event.by) == (("", "") if now is None else (WHY.reason, WHY.by))


def test_a_note_leaves_what_was_decided() -> None:
    assert [each.harmful for each in decisions(case(1, UPHELD), None, " x ", WALL)] == [None, True]
    assert [each.note for each in decisions(case(1, UPHELD), None, " x ", WALL)] == ["x", ""]
    assert decisions(case(1, UPHELD), None, "  ", WALL) == []


def test_note_leaves_the_grounds_of_a_decision() -> None:
    for decided in (Adjudication(False, "", "used so here", "Ann"), CLEARED):
        *_, again = decisions(case(1, decided), None, "hm", WALL)
        assert (again.harmful, again.reason, again.by) == (False, decided.reason, decided.by)
        given = {"reason", "by"} & set(again.model_dump())
        assert given == ({"reason", "by"} if decided.reason else set())


def test_nothing_is_decided_without_grounds() -> None:
    with pytest.raises(UsageError, match="a reason and the name"):
        decisions(case(1), False, "", WALL)
    for reason, by in (("", "Ann"), (" \t", "Ann"), ("used so here", " "), ("", "")):
        with pytest.raises(UsageError, match="A decision needs a"):
            grounds(reason, by, [])
    with pytest.raises(UsageError, match="201 characters"):
        grounds("x" * 201, "Ann", [])
    assert grounds("  used\n so ", "Ann ", []) == Grounds("used so", "Ann")


@pytest.mark.parametrize(
    ("words", "quotes"),
    [
        ("We say THE little, Dog here", True),
        ("the little cat is no insult", False),
        ("little dog", False),
        ("atim is what we say", True),
        ("atimak is what we say", False),
        ("because the little dog", True),
    ],
)
def test_grounds_quote_no_text_of_the_item(words: str, quotes: bool) -> None:
    texts = ["Look: the little dog sleeps", "Atim."]
    if not quotes:
        assert grounds(words, "Ann", texts).reason == words
        return
    for reason, by in ((words, "Ann"), ("used so here", words)):
        with pytest.raises(UsageError, match="repeats words of the sentence") as refused:
            grounds(reason, by, texts)
        assert "dog" not in str(refused.value).lower()


def test_a_decision_of_before_is_read_and_written_as_it_was() -> None:
    """Its content has neither reason nor name, and its head commits to just that."""
    old = Adjudicate(wall=WALL, batch=BATCH, item=ITEM, harmful=False, note="")
    event = make_event(old, device="0" * 16, seq=0, lamport=1, prev="", salt=b"0" * 16)
    assert b"reason" not in event.line()
    read = read_event(event.line())
    assert read.line() == event.line()
    assert isinstance(read.payload, Adjudicate)
    assert (read.payload.reason, read.payload.by) == ("", "")


def test_note_with_half_a_character_is_kept() -> None:
    [noted] = decisions(case(1), None, "a\udc80b\ud83d\ude00", WALL)
    event = make_event(noted, device="0" * 16, seq=0, lamport=1, prev="", salt=b"0" * 16)
    assert read_event(event.line()).payload == noted
    assert noted.note == "a\ufffdb😀"


def test_note_that_is_too_long_is_refused_unquoted() -> None:
    with pytest.raises(UsageError, match="4,001 characters") as refused:
        decisions(case(1), None, "x" * (MOST_TEXT + 1), WALL)
    assert "xx" not in str(refused.value)


GOOD, BAD = Rating.EXCELLENT, Rating.REJECT


def test_words_come_with_the_rating_without_the_person() -> None:
    people = state(
        said(GOOD, comments={ITEMS[0]: "we say it so"}),
        said(BAD, reasons={ITEMS[0]: (Reason.GRAMMAR,)}, suggestions={ITEMS[0]: "better"}),
        said(GOOD, comments={ITEMS[1]: "of another one"}),
        said(None, comments={ITEMS[0]: "not my dialect"}),
    )
    case = queue(people, key())[0]
    assert case.item == ITEMS[0]
    assert set(case.voices) == {
        Voice(GOOD, (), "we say it so", ""),
        Voice(BAD, (Reason.GRAMMAR,), "", "better"),
        Voice(None, (), "not my dialect", ""),
    }
    assert not any(who in repr(case) for who in PEOPLE)


def test_order_of_people_is_another_for_each_item() -> None:
    """With a fixed order, who is first at one item would be first at all of them."""
    people = [
        said(*[GOOD if n % 2 else BAD] * 4, comments=dict.fromkeys(ITEMS, f"of {n}"))
        for n in range(6)
    ]
    orders = {tuple(each.comment for each in case.voices) for case in queue(state(*people), key())}
    assert len(orders) == len(ITEMS)


def test_who_did_not_agree_is_not_heard() -> None:
    silent = said(BAD, comments={ITEMS[0]: "never agreed"})
    object.__setattr__(silent, "consented", False)
    second = SecondLook((0, 0, 2, 0), 0, 2, 1, 0, ())
    found = queue(state(said(GOOD), said(BAD), silent), key(), {ITEMS[0]: second})
    assert found[0].voices == ()
    assert found[0].second == second
    assert found[0].counts == (1, 0, 0, 1), "the first round alone is counted"
