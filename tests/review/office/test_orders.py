"""Orders of items, and who gets which."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.failures import UsageError
from review.office.items.assignment import REPEAT_APART, order, orders, spread
from tests.review.thorough import times


def batch(
    real: int, bad: int, repeats: int, runs: int = 1
) -> tuple[dict[str, int], dict[str, str]]:
    """Return item → original, and repeat → item, of a batch."""
    originals = {f"r{run}-{entry}": entry for run in range(runs) for entry in range(real)}
    originals |= {f"b{entry}": entry for entry in range(bad)}
    partners = {f"p{entry}": f"r0-{entry + bad}" for entry in range(repeats)}
    originals |= {repeat: originals[item] for repeat, item in partners.items()}
    return originals, partners


@settings(max_examples=times(60, 600), deadline=None)
@given(
    st.integers(60, 120), st.integers(0, 12), st.integers(0, 12), st.integers(1, 3), st.integers()
)
def test_repeats_stand_thirty_apart_and_one_original_never_twice_in_a_row(
    real: int, bad: int, repeats: int, runs: int, seed: int
) -> None:
    originals, partners = batch(real, bad, repeats, runs)
    made = order(list(originals), originals, partners, Random(seed))
    assert sorted(made) == sorted(originals)
    place = {item: at for at, item in enumerate(made)}
    for repeat, item in partners.items():
        assert abs(place[repeat] - place[item]) >= REPEAT_APART
    for one, other in pairwise(made):
        assert originals[one] != originals[other]


@given(st.integers(1, 20), st.integers(0, 5), st.integers())
def test_short_orders_are_whole_too(real: int, repeats: int, seed: int) -> None:
    originals, partners = batch(real, 0, min(repeats, real))
    made = order(list(originals), originals, partners, Random(seed))
    assert sorted(made) == sorted(originals)


def test_an_order_follows_from_its_seed() -> None:
    originals, partners = batch(80, 8, 8)
    items = list(originals)
    first = order(items, originals, partners, Random(1))
    assert first == order(items[::-1], originals, partners, Random(1))
    assert first != order(items, originals, partners, Random(2))


def test_a_place_tells_nothing_of_what_stands_there() -> None:
    """Over many orders, controls stand in the first half as often as in the second."""
    originals, partners = batch(80, 8, 8)
    trials = 300
    first: Counter[str] = Counter()
    for seed in range(trials):
        made = order(list(originals), originals, partners, Random(seed))
        first.update(item[0] for item in made[: len(made) // 2])
    for kind, count in (("b", 8), ("p", 8), ("r", 80)):
        share = first[kind] / (trials * count)
        assert abs(share - 0.5) < 0.05, kind  # 2,400 places: five deviations


@given(st.integers(1, 60), st.integers(1, 12), st.integers(0, 60), st.integers())
def test_extra_entries_are_spread_evenly(extra: int, people: int, each: int, seed: int) -> None:
    given_ = spread(list(range(extra)), [str(n) for n in range(people)], each, Random(seed))
    counts = Counter(entry for entries in given_.values() for entry in entries)
    full = [counts[entry] for entry in range(extra)]
    assert max(full) - min(full) <= 1
    assert all(len(set(entries)) == len(entries) == min(each, extra) for entries in given_.values())


def test_everybody_gets_the_core_and_an_even_share() -> None:
    originals = {f"i{n}": n for n in range(20)}
    extra = {n: [f"i{n}"] for n in range(10, 20)}
    given_ = orders(originals, {}, [f"i{n}" for n in range(10)], extra, ["A", "B", "C"], 5, 1)  # type: ignore[arg-type]
    for items in given_.values():
        assert {f"i{n}" for n in range(10)} <= set(items)
        assert len(items) == 15
    counts = Counter(item for items in given_.values() for item in items)
    assert sorted(counts[f"i{n}"] for n in range(10, 20)) == [1] * 5 + [2] * 5
    assert len(set(given_.values())) == 3


def test_entries_that_would_reach_nobody_are_refused() -> None:
    extra = {n: [f"i{n}"] for n in range(10)}
    with pytest.raises(UsageError, match="asked of nobody"):
        orders({f"i{n}": n for n in range(10)}, {}, [], extra, ["A", "B"], 4, 1)  # type: ignore[arg-type]
