"""What an organiser may decide about an item, and what becomes of it."""

from __future__ import annotations

import pytest

from harness.core.failures import UsageError
from review.log.event import make_event, read_event
from review.log.fold import Adjudication
from review.log.payloads import MOST_TEXT, Adjudicate
from review.verdict.gate.adjudication import Case, Grounds, decisions, grounds
from tests.review.verdict.histories import WALL

ITEM, BATCH = "a" * 16, "b" * 16
WHY = Grounds("an insult here", "Ann")
UPHELD, CLEARED, NOTED = (Adjudication(harmful, "") for harmful in (True, False, None))


def case(flags: int, decided: Adjudication | None = None) -> Case:
    return Case(ITEM, BATCH, flags, (1, 0, 0, 1), 0, decided)


@pytest.mark.parametrize("harmful", [True, False])
@pytest.mark.parametrize("before", [None, NOTED], ids=["nothing", "a note"])
def test_nobody_upholds_or_clears_what_nobody_flagged(
    harmful: bool, before: Adjudication | None
) -> None:
    assert not case(0, before).may_be_decided
    with pytest.raises(UsageError, match="Nobody flagged"):
        decisions(case(0, before), harmful, "", WALL)
    assert decisions(case(0, before), None, "hm", WALL) == [
        Adjudicate(wall=WALL, batch=BATCH, item=ITEM, harmful=None, note="hm")
    ]


@pytest.mark.parametrize(
    ("flags", "before", "said", "now"),
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
    flags: int, before: Adjudication | None, said: bool, now: bool | None
) -> None:
    [event] = decisions(case(flags, before), said, "", WALL, WHY)
    assert event.harmful is now
    assert (event.reason, event.by) == (("", "") if now is None else (WHY.reason, WHY.by))


def test_a_note_leaves_what_was_decided() -> None:
    assert [each.harmful for each in decisions(case(1, UPHELD), None, " x ", WALL)] == [None, True]
    assert [each.note for each in decisions(case(1, UPHELD), None, " x ", WALL)] == ["x", ""]
    assert decisions(case(1, UPHELD), None, "  ", WALL) == []


def test_a_note_leaves_the_grounds_of_a_decision_and_makes_up_none() -> None:
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
    ("said", "quotes"),
    [
        ("We say THE little, Dog here", True),
        ("the little cat is no insult", False),
        ("little dog", False),
        ("atim is what we say", True),
        ("atimak is what we say", False),
        ("because the little dog", True),
    ],
)
def test_grounds_quote_no_text_of_the_item(said: str, quotes: bool) -> None:
    texts = ["Look: the little dog sleeps", "Atim."]
    if not quotes:
        assert grounds(said, "Ann", texts).reason == said
        return
    for reason, by in ((said, "Ann"), ("used so here", said)):
        with pytest.raises(UsageError, match="repeats words of the sentence") as refused:
            grounds(reason, by, texts)
        assert "dog" not in str(refused.value).lower()


def test_a_decision_of_before_is_read_and_written_as_it_was() -> None:
    """Its content has neither reason nor name, and its head commits to just that."""
    said = Adjudicate(wall=WALL, batch=BATCH, item=ITEM, harmful=False, note="")
    event = make_event(said, device="0" * 16, seq=0, lamport=1, prev="", salt=b"0" * 16)
    assert b"reason" not in event.line()
    read = read_event(event.line())
    assert read.line() == event.line()
    assert isinstance(read.payload, Adjudicate)
    assert (read.payload.reason, read.payload.by) == ("", "")


def test_a_note_with_half_a_character_is_kept_as_far_as_it_can_be() -> None:
    [said] = decisions(case(1), None, "a\udc80b\ud83d\ude00", WALL)
    event = make_event(said, device="0" * 16, seq=0, lamport=1, prev="", salt=b"0" * 16)
    assert read_event(event.line()).payload == said
    assert said.note == "a\ufffdb😀"


def test_a_note_that_is_too_long_is_refused_in_words_that_do_not_quote_it() -> None:
    with pytest.raises(UsageError, match="4,001 characters") as refused:
        decisions(case(1), None, "x" * (MOST_TEXT + 1), WALL)
    assert "xx" not in str(refused.value)
