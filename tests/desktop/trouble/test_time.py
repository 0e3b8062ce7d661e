"""Clocks that jump and laptops that sleep: no answer is lost, none is late, nobody is hurried or blamed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from review.desktop.item.item_page import ItemPage
from review.log.chain import check_chain
from review.log.fold import fold
from review.log.payloads import Rate
from review.rating import Rating
from review.session.timing import IDLE_SECONDS
from tests.desktop.trouble.conftest import Begin
from tests.desktop.trouble.told import told
from tests.desktop.visit_scene import Entry
from tests.review.session.scenes import CODE, item_id


def rated(entry: Entry) -> list[Rate]:
    return [e.payload for e in entry.laptop.events() if isinstance(e.payload, Rate)]


def painted(entry: Entry) -> None:
    session = entry.visit.flow.session
    assert session is not None
    entry.page(ItemPage)
    entry.qtbot.waitUntil(lambda: session._time._painted is not None)


JUMPS = {
    "an hour back": timedelta(hours=-1),
    "to the year 1970": datetime(1970, 1, 1, tzinfo=UTC) - datetime.now(UTC),
    "years ahead": timedelta(days=4000),
}


@pytest.mark.parametrize("name", list(JUMPS))
def test_a_clock_that_was_moved_changes_no_answer(begin: Begin, name: str) -> None:
    entry = begin()
    entry.answer("2")
    painted(entry)
    session = entry.visit.flow.session
    assert session is not None
    now = session._author._now
    session._author._now = lambda: now() + JUMPS[name]
    entry.press("3")
    painted(entry)
    entry.press("u")
    painted(entry)
    entry.press("4")
    assert told(entry) is None
    events = list(entry.laptop.events())
    assert all(chain.whole for chain in check_chain(events).chains)
    judged = fold(events).reviewers["ba" * 8, CODE].judgements
    assert {item: each.rating for item, each in judged.items()} == {
        item_id(1): Rating.GIST,
        item_id(2): Rating.EXCELLENT,
    }


def test_a_night_with_the_lid_closed_is_no_time_spent_on_a_sentence(begin: Begin) -> None:
    entry = begin()
    painted(entry)
    session = entry.visit.flow.session
    assert session is not None
    clock = session._time._clock
    session._time._clock = lambda: clock() + 8 * 3600
    assert "Sentence 1 of 4" in entry.page(ItemPage).accessibleName()
    entry.press("3")
    [first] = rated(entry)
    assert first.item == item_id(1)
    assert first.active_ms <= (IDLE_SECONDS + 5) * 1000
    painted(entry)
    entry.press("3")
    assert [each.item for each in rated(entry)] == [item_id(1), item_id(2)]
    assert told(entry) is None
