"""Nothing that is told of runs adds up to single entries, by a second account that knows no atoms."""

import random
from collections.abc import Collection, Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.card.withholding import Atoms, are_safe, divided, tellable, too_small
from tests.review.thorough import times

Cell = tuple[str, str]

TRIES = times(150, 10_000)


class Histories:
    """Runs over nearly the same entries, each with overlapping breakdowns, as a try of an attacker."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.entries = self.random.randint(5, 40)
        self.tags = [[self.random.randint(0, kinds) for kinds in (1, 2, 4)] for _ in range(self.entries)]

    def runs(self) -> Iterator[tuple[set[int], dict[Cell, set[int]]]]:
        everything, random = set(range(self.entries)), self.random
        for _ in range(random.randint(1, 4)):
            match random.randint(0, 3):
                case 0:
                    whole = everything
                case 1:  # a few are missing
                    whole = everything - set(random.sample(range(self.entries), random.randint(1, 4)))
                case 2:  # a segment
                    whole = {place for place in everything if self.tags[place][0]}
                case _:
                    whole = {place for place in everything if random.random() < 0.8}
            parts: dict[Cell, set[int]] = {}
            for dimension in range(3):
                for place in whole:
                    if self.tags[place][dimension] or random.random() < 0.95:  # some have no tag
                        cell = (str(dimension), str(self.tags[place][dimension]))
                        parts.setdefault(cell, set()).add(place)
            yield whole, parts


def rows(sums: Collection[Collection[int]], entries: int) -> np.ndarray:
    matrix = np.zeros((len(sums), entries))
    for row, members in zip(matrix, sums, strict=True):
        row[list(members)] = 1
    return matrix


def found_out(sums: Collection[Collection[int]], entries: int) -> list[int]:
    """Return the entries whose own score is a combination of the sums: their axis lies in the space of the rows."""
    if not sums:
        return []
    matrix = rows(sums, entries)
    shares = np.diag(np.linalg.pinv(matrix) @ matrix)
    return [place for place in range(entries) if shares[place] > 1 - 1e-6]


def told(history: Histories) -> list[set[int]]:
    atoms: Atoms = {}
    sums = []
    for whole, parts in history.runs():
        if (found := tellable(atoms, whole, parts)) is not None:
            chosen, atoms = found
            sums += [whole, *(parts[cell] for cell in chosen)]
    return sums


def told_by_breakdown(history: Histories) -> list[set[int]]:
    """Suppress in each breakdown alone, which is not enough."""
    sums = []
    for whole, parts in history.runs():
        sums.append(whole)
        for dimension in {name for name, _ in parts}:
            counts = {tag: len(each) for (name, tag), each in parts.items() if name == dimension}
            gone = too_small(counts, len(whole))
            sums += [e for (name, tag), e in parts.items() if name == dimension and tag not in gone]
    return sums


def test_sums_and_differences_of_all_told_find_no_entry() -> None:
    reached, alone = 0, 0
    for seed in range(TRIES):
        sums = told(Histories(seed))
        entries = Histories(seed).entries
        assert found_out(sums, entries) == [], seed
        reached += bool(sums)
        alone += bool(found_out(told_by_breakdown(Histories(seed)), entries))
    assert reached > TRIES / 2  # something is told, or nothing could be found out
    assert alone > TRIES / 20  # and each breakdown by itself would give single entries away


def test_groups_that_no_sum_tells_apart_have_five_entries() -> None:
    smallest = []
    for seed in range(TRIES):
        history = Histories(seed)
        if sums := told(history):
            columns, counts = np.unique(rows(sums, history.entries), axis=1, return_counts=True)
            smallest.append(counts[columns.any(axis=0)].min())
    assert min(smallest) == 5


def cut(*sizes: int) -> dict[Cell, set[str]]:
    return {("d", str(n)): {f"{n}-{i}" for i in range(size)} for n, size in enumerate(sizes)}


@pytest.mark.parametrize(("sizes", "untagged", "kept"), [
    ((30, 30), 0, {"0", "1"}),
    ((30, 4), 0, set()),  # the total less the large one is the small one
    ((30, 30, 4), 0, {"0"}),  # one more gives way
    ((30, 30, 5), 0, {"0", "1", "2"}),
    ((30, 3, 2), 0, {"0"}),  # five together
    ((30, 30), 4, {"0"}),  # those without a tag are a part as well
    ((4,), 0, None),
])  # fmt: skip
def test_small_parts_and_those_that_would_tell_them_are_left_out(
    sizes: tuple[int, ...], untagged: int, kept: set[str] | None
) -> None:
    parts = cut(*sizes)
    whole = set.union(*parts.values()) | {f"u{n}" for n in range(untagged)}
    found = tellable({}, whole, parts)
    assert (None if found is None else {tag for _, tag in found[0]}) == kept


def test_large_part_goes_before_one_that_differs_by_few() -> None:
    whole = {str(n) for n in range(30)}
    parts = {("d", "small"): {str(n) for n in range(17)}, ("e", "large"): {str(n) for n in range(20)}}
    found = tellable({}, whole, parts)
    assert found is not None
    assert found[0] == {("e", "large")}


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 12))
def test_a_second_run_differs_by_no_entry_or_by_five(only: int, both: int, new: int) -> None:
    first = {f"a{n}" for n in range(only)} | {f"b{n}" for n in range(both)}
    second = {f"b{n}" for n in range(both)} | {f"c{n}" for n in range(new)}
    found = tellable({}, first, {})
    if found is None:
        assert len(first) < 5
        return
    allowed = tellable(found[1], second, {}) is not None
    sizes = [only, both, new] if both else [only, new]
    if len(second) >= 5:
        assert allowed is all(size == 0 or size >= 5 for size in sizes)


def test_entries_never_told_may_be_few_beside_told_ones() -> None:
    known = {str(n): 1 for n in range(10)}
    assert are_safe(divided(known, known))
    assert divided(known, {}) == known
    assert not are_safe(divided(known, {**known, "new": 1}))
