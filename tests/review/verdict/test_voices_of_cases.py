"""What people wrote about an item, as whoever decides reads it: nobody can be told or followed."""

from __future__ import annotations

from review.rating import Rating
from review.verdict.gate.adjudication import SecondLook, Voice, queue
from tests.review.office.reviewed import ITEMS, PEOPLE, Reason, key, said, state

GOOD, BAD = Rating.EXCELLENT, Rating.REJECT


def test_reasons_comments_and_wordings_come_with_the_rating_and_without_the_person() -> None:
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


def test_the_order_of_people_is_another_for_each_item() -> None:
    """With a fixed order, who is first at one item would be first at all of them."""
    people = [
        said(*[GOOD if n % 2 else BAD] * 4, comments=dict.fromkeys(ITEMS, f"of {n}"))
        for n in range(6)
    ]
    orders = {tuple(each.comment for each in case.voices) for case in queue(state(*people), key())}
    assert len(orders) == len(ITEMS)


def test_who_did_not_agree_is_not_heard_and_a_second_look_stands_beside() -> None:
    silent = said(BAD, comments={ITEMS[0]: "never agreed"})
    object.__setattr__(silent, "consented", False)
    second = SecondLook((0, 0, 2, 0), 0, 2, 1, 0, ())
    found = queue(state(said(GOOD), said(BAD), silent), key(), {ITEMS[0]: second})
    assert found[0].voices == ()
    assert found[0].second == second
    assert found[0].counts == (1, 0, 0, 1), "the first round alone is counted"
