"""Drawing entries by difficulty."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.model.entry import Entry
from review.office.items.sampling import allocate, draw, stratum

SIZES = st.dictionaries(st.integers(0, 5), st.integers(1, 300), min_size=1)


@given(SIZES, st.integers(1, 400), st.integers(0, 12))
def test_an_allocation_is_whole_and_within_the_strata(
    sizes: dict[int, int], wanted: int, least: int
) -> None:
    given_ = allocate(sizes, wanted, least)
    assert given_.keys() == sizes.keys()
    assert sum(given_.values()) == min(wanted, sum(sizes.values()))
    assert all(0 <= given_[name] <= sizes[name] for name in sizes)
    if sum(min(least, size) for size in sizes.values()) <= wanted:
        assert all(given_[name] >= min(least, sizes[name]) for name in sizes)


@given(SIZES, st.integers(1, 400))
def test_without_a_least_the_shares_are_those_of_the_corpus(
    sizes: dict[int, int], wanted: int
) -> None:
    total = sum(sizes.values())
    if wanted < total:
        for name, count in allocate(sizes, wanted, 0).items():
            assert abs(count - wanted * sizes[name] / total) < 1


def test_the_rest_goes_by_share() -> None:
    # 80 of 200: 8 each are 40, the other 40 by share 100:50:25:15:10 are 20, 10, 5, 3, 2
    sizes = {1: 100, 2: 50, 3: 25, 4: 15, 5: 10}
    assert allocate(sizes, 80, 8) == {1: 28, 2: 18, 3: 13, 4: 11, 5: 10}


def test_too_few_for_the_least_are_parted_evenly() -> None:
    assert allocate({1: 100, 2: 50, 3: 2}, 8, 8) == {1: 3, 2: 3, 3: 2}


def corpus(count: int) -> list[Entry]:
    return [
        Entry(id=number, source=f"s {number}", reference=f"r {number}", difficulty=1 + number % 5)
        for number in range(count)
    ]


def test_a_draw_keeps_to_the_seed_and_to_the_strata() -> None:
    entries = corpus(300)
    drawn = draw(entries, 80, 8, seed=3)
    assert [entry.id for entry in drawn] == [entry.id for entry in draw(entries, 80, 8, seed=3)]
    assert [entry.id for entry in drawn] != [entry.id for entry in draw(entries, 80, 8, seed=4)]
    assert Counter(map(stratum, drawn)) == dict.fromkeys(range(1, 6), 16)
    assert [entry.id for entry in drawn] == sorted(entry.id for entry in drawn)


@pytest.mark.parametrize("size", [10, 50, 80])
def test_a_small_corpus_is_shown_whole(size: int) -> None:
    assert draw(corpus(size), 80, 8, seed=1) == corpus(size)


def test_every_entry_of_a_stratum_is_drawn_equally_often() -> None:
    entries = corpus(100)
    counts = Counter(entry.id for seed in range(400) for entry in draw(entries, 50, 0, seed))
    assert min(counts.values()) > 140  # 200 ± 10 each; six deviations
    assert max(counts.values()) < 260
