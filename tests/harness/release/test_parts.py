"""Nothing that is told of runs or certificates adds up to single entries, by a second account that knows no atoms."""

import random
from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.card.withholding import too_small
from harness.release.budget import MOMENT, History, NotReleased, set_id, uses
from harness.release.certified import (
    STRATUM,
    CertificateQuestion,
    certificate_answer,
    certificate_question,
    last_certificate,
)
from harness.release.parts import Partition, tellable
from harness.release.records import CertificateTold, Rule
from tests.harness.sealed.refusals import refuses
from tests.review.thorough import times

Cell = tuple[str, str]

TRIES = times(150, 10_000)


class Histories:
    """Runs over nearly the same entries, each with overlapping breakdowns, as a try of an attacker."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.entries = self.random.randint(5, 40)
        self.tags = [
            [self.random.randint(0, kinds) for kinds in (1, 2, 4)] for _ in range(self.entries)
        ]

    def runs(self) -> Iterator[tuple[set[int], dict[Cell, set[int]]]]:
        everything, random = set(range(self.entries)), self.random
        for _ in range(random.randint(1, 4)):
            match random.randint(0, 3):
                case 0:
                    whole = everything
                case 1:  # a few are missing
                    whole = everything - set(random.sample(range(self.entries), random.randint(1, 4)))  # fmt: skip
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
    partition, sums = Partition(), []
    for whole, parts in history.runs():
        if (found := tellable(partition, whole, parts)) is not None:
            chosen, partition = found
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
    found = tellable(Partition(), whole, parts)
    assert (None if found is None else {tag for _, tag in found[0]}) == kept


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 12))
def test_a_second_run_differs_by_no_entry_or_by_five(only: int, both: int, new: int) -> None:
    first = {f"a{n}" for n in range(only)} | {f"b{n}" for n in range(both)}
    second = {f"b{n}" for n in range(both)} | {f"c{n}" for n in range(new)}
    found = tellable(Partition(), first, {})
    if found is None:
        assert len(first) < 5
        return
    allowed = tellable(found[1], second, {}) is not None
    sizes = [only, both, new] if both else [only, new]
    if len(second) >= 5:
        assert allowed is all(size == 0 or size >= 5 for size in sizes)


def test_entries_never_told_may_be_few_beside_told_ones() -> None:
    parts = Partition({str(n): 1 for n in range(10)})
    assert parts.may_tell([str(n) for n in range(10)])
    assert parts.divided({}).atoms == parts.atoms
    assert not parts.may_tell([*(str(n) for n in range(10)), "new"])


# Certificates of one run

START = datetime(2026, 3, 1, tzinfo=UTC)
Rated = dict[str, dict[str, int]]


def question(rated: Rated, strata: dict[str, int] | None = None) -> CertificateQuestion:
    """Ask for a certificate of items, each with its ratings by person."""
    people = {who for said in rated.values() for who in said}
    ratings = {who: {i: said[who] for i, said in rated.items() if who in said} for who in people}
    of = strata or dict.fromkeys(rated, 1)
    digest = lambda text: sha256(text.encode()).hexdigest()[:32]  # noqa: E731
    return certificate_question("run", "corpus", ratings, of, digest)


def certified(history: History, asked: CertificateQuestion, when: datetime) -> History:
    answer = certificate_answer(history, asked, when)
    act = CertificateTold(
        submitter=asked.submitter, run=asked.run, corpus=asked.corpus, entries=set_id(asked.entries),
        atoms=None if answer.atoms is None else dict(answer.atoms), certificate=f"{answer.number}", signature="0" * 128,
    )  # fmt: skip
    return history.after(act, when.strftime(MOMENT))


def ratings(items: int, people: int = 3) -> Rated:
    return {f"i{n}": {f"p{who}": (n + who) % 4 for who in range(people)} for n in range(items)}


@pytest.mark.parametrize(("changed", "allowed"), [(0, True), (1, False), (4, False), (5, True), (20, True), (16, False)])  # fmt: skip
def test_second_certificate_has_five_changed_entries_or_none(changed: int, allowed: bool) -> None:
    """Of 20: 16 changed leave 4 that did not."""
    before = certified(History(), question(ratings(20)), START)
    after = ratings(20)
    for item in list(after)[:changed]:
        after[item] = after[item] | {"p0": (after[item]["p0"] + 1) % 4}
    later = START + timedelta(days=2)
    if allowed:
        assert last_certificate(certified(before, question(after), later), "run") is not None
    else:
        refuses(NotReleased, "fewer than 5 entries", certified, before, question(after), later)


def test_a_difficulty_of_few_items_is_left_out_with_another_one() -> None:
    strata = {f"i{n}": 1 if n < 10 else 2 if n < 20 else 3 for n in range(23)}
    answer = certificate_answer(History(), question(ratings(23), strata), START)
    assert answer.parts == {(STRATUM, "1")}


def test_item_is_another_where_its_difficulty_weighs_otherwise() -> None:
    """The share of all is weighed by difficulties: one more item changes what each of its difficulty adds to it."""
    strata = {f"i{n}": 1 if n < 10 else 2 for n in range(20)} | {"i20": 1}
    before, after = question(ratings(20), strata), question(ratings(21), strata)
    assert before.entries & after.entries == before.entries_of[STRATUM, "2"]


def test_certificate_counts_for_its_run_with_a_pause() -> None:
    history = certified(History(), question(ratings(20)), START)
    more, soon = question(ratings(20, 4)), START + timedelta(hours=23)
    refuses(NotReleased, "from 2026-03-02T00:00:00Z on", certificate_answer, history, more, soon)
    answer = certificate_answer(history, more, START + timedelta(hours=24))
    assert (answer.number, answer.of, answer.supersedes) == (2, 10, sha256(b"1").hexdigest())
    spent = history.after(Rule(count=1), MOMENT)
    late = START + timedelta(days=9)
    refuses(NotReleased, "had all 1 answer", certificate_answer, spent, more, late)
    [use] = uses(history)
    assert (use.names, use.answers) == (("certificates of run run",), 1)
    # another run, and the scores, have a budget of their own
    assert history.given("Ann", "corpus", frozenset()) == []
    assert last_certificate(history, "other") is None
