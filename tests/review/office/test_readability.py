"""What reviewers can read is known before a batch goes out, and what no laptop could show when it comes back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from review.office.results.progress import progress
from rosetta_tui.review.organiser.words.letters import not_shown_words
from tests.review.office.made import Desk, Person, desk, take_vouched


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Desk]:
    made = desk(tmp_path / "office")
    yield made
    made.office.close()


def person(made: Desk, number: int, folder: Path) -> Person:
    return Person(folder / str(number), made.batch, made.codes[number])


def take(made: Desk, someone: Person) -> None:
    take_vouched(made.office, made.identity, someone.handed_over())


def test_what_a_laptop_could_not_show_is_named_by_its_entry(made: Desk, tmp_path: Path) -> None:
    first, second = person(made, 0, tmp_path), person(made, 1, tmp_path)
    first.leave_out(3)
    for place in (3, 4):
        second.leave_out(second.order.index(first.order[place]))
    take(made, first)
    take(made, second)
    found = progress(made.office, made.review)
    both, one = (made.review.key.items[first.order[place]].entry for place in (3, 4))
    assert found.not_shown == {both: 2, one: 1}
    assert found.done == 3
    (said,) = not_shown_words(found)
    assert said.startswith("NOT SHOWN: 2 sentences could not be shown on a laptop")
    assert f"(3 times in all): entries {both}, {one}." in said
