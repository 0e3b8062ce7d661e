"""Coefficients of agreement against published values and against definitions written another way."""

import ast
import csv
import itertools
import tarfile
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from review.verdict.panel.agreement import (
    WhyNot,
    agreement,
    alpha,
    alpha_of_sums,
    gwet_of_sums,
    gwet_row,
    ordinal,
    pair_row,
    ratio,
    tallies,
)
from review.verdict.panel.panel import Panel
from tests.outside import MLQE, only_with
from tests.review.thorough import examples
from tests.review.verdict.panels import made

FOUR_OBSERVERS = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""
THREE_CODERS = """
. . . . . 3 4 1 2 1 1 3 3 . 3
1 . 2 1 3 3 4 3 . . . . . . .
. . 2 1 3 4 4 . 2 1 1 3 3 . 4
"""


def nominal(_used: object, one: int, other: int) -> Fraction:
    return Fraction(one != other)


def interval(_used: object, one: int, other: int) -> Fraction:
    return Fraction((one - other) ** 2)


def units(table: str, categories: int) -> list[tuple[int, ...]]:
    columns = zip(*(line.split() for line in table.strip().splitlines()), strict=True)
    return [tuple(unit.count(str(k + 1)) for k in range(categories)) for unit in columns]


def summed(rows: Sequence[Sequence[object]]) -> list[Any]:
    return [sum(column) for column in zip(*rows, strict=True)]


@pytest.mark.parametrize(
    ("table", "categories", "distance", "expected"),
    [
        (FOUR_OBSERVERS, 5, nominal, 0.743421), (FOUR_OBSERVERS, 5, ordinal, 0.815388),
        (FOUR_OBSERVERS, 5, interval, 0.849107), (THREE_CODERS, 4, nominal, 0.691358),
        (THREE_CODERS, 4, interval, 0.810845),
    ],
)  # fmt: skip
def test_alpha_is_krippendorff_s(
    table: str, categories: int, distance: Any, expected: float
) -> None:
    """Four observers of his, and three coders of the encyclopedia."""
    assert float(alpha(units(table, categories), distance) or 0) == pytest.approx(
        expected, abs=6e-7
    )


def test_gwet_s_coefficients() -> None:
    for quadratic, expected, digits in ((False, 0.77544, 5e-6), (True, 0.914001, 6e-7)):
        rows = [
            gwet_row(each, quadratic=quadratic) for each in units(FOUR_OBSERVERS, 5) if sum(each)
        ]
        found = gwet_of_sums(summed(rows), quadratic=quadratic)
        assert float(found or 0) == pytest.approx(expected, abs=digits)


def panel_of(table: str) -> Panel:
    """Make a panel of a table of categories from 1, one person a row, a dot where nothing was rated."""
    rows = [line.split() for line in table.strip().splitlines()]
    ratings = {
        f"p{who}": {f"i{place}": int(one) - 1 for place, one in enumerate(row) if one != "."}
        for who, row in enumerate(rows)
    }
    items = {f"i{place}": 0 for place in range(len(rows[0]))}
    return Panel(items, {0: 1.0}, ratings, frozenset(items))


def gwet_by_the_book(table: str, categories: int) -> float:
    """Write AC2 with quadratic weights as Gwet's handbook does, over a matrix of items and categories.

    Observed agreement is of items with two ratings or more, the share of each category of all that were rated.
    """
    counts = np.array(units(table, categories), dtype=float)
    k = np.arange(categories)
    weights = 1 - (k[:, None] - k[None, :]) ** 2 / (categories - 1) ** 2
    raters = counts.sum(axis=1)
    rated, paired = raters > 0, raters > 1
    weighted = counts @ weights
    observed = (
        (counts * (weighted - 1)).sum(axis=1)[paired] / (raters * (raters - 1))[paired]
    ).mean()
    shares = (counts[rated] / raters[rated, None]).mean(axis=0)
    chance = weights.sum() * (shares * (1 - shares)).sum() / (categories * (categories - 1))
    return float((observed - chance) / (1 - chance))


def test_ac2_takes_chance_from_items_of_one_rating(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("review.verdict.panel.agreement.RANKS", 5)
    found = agreement(panel_of(FOUR_OBSERVERS), draws=20)
    assert found.ac2.value == pytest.approx(0.914001, abs=6e-7)
    assert gwet_by_the_book(FOUR_OBSERVERS, 5) == pytest.approx(0.914001, abs=6e-7)
    assert found.items == 11
    before = agreement(panel_of(FOUR_OBSERVERS), draws=20, paired_chance=True)
    assert before.ac2.value == pytest.approx(0.912798, abs=6e-7)
    monkeypatch.undo()
    found = agreement(panel_of(THREE_CODERS), draws=20)  # of whom some coded alone
    assert found.ac2.value == pytest.approx(gwet_by_the_book(THREE_CODERS, 4), abs=1e-9)


def test_ac2_of_earlier_certificates_is_what_they_state() -> None:
    """The number and its interval as the program that wrote certificates of the form 1 gave them."""
    panel = made(lambda i, j: (i * 7 + j * 3) % 4 if (i + j) % 3 else 3, items=40, people=4)
    ratings = {
        who: {i: r for i, r in mine.items() if int(i[1:]) < 25 or (int(i[1:]) + int(who[1:])) % 4 == 0}
        for who, mine in panel.ratings.items()
    }  # fmt: skip
    found = agreement(replace(panel, ratings=ratings), paired_chance=True).ac2
    assert found.value == pytest.approx(0.05131434607727624, abs=1e-12)
    assert found.interval is not None
    assert found.interval.lower == pytest.approx(-0.1432607905104795, abs=1e-12)
    assert found.interval.upper == pytest.approx(0.27723470773836284, abs=1e-12)


def mlqe() -> list[list[int]]:
    with tarfile.open(MLQE) as archive:
        file = archive.extractfile("ne-en/test20.neen.df.short.tsv")
        assert file is not None
        lines = file.read().decode().splitlines()
    rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    return [ast.literal_eval(row["scores"]) for row in rows]


@only_with(MLQE)
def test_alpha_of_a_thousand_real_translations() -> None:
    scores = mlqe()
    tiers = [[(v >= 25) + (v >= 50) + (v >= 75) for v in row] for row in scores]
    counted = [tuple(row.count(rank) for rank in range(4)) for row in tiers]
    assert float(alpha(counted) or 0) == pytest.approx(0.483474, abs=6e-7)
    assert float(alpha(counted, nominal) or 0) == pytest.approx(0.228923, abs=6e-7)
    raw = np.array([np.bincount(row, minlength=101) for row in scores])
    sums = (raw.T @ raw - np.diag(raw.sum(axis=0))) / 5.0
    found = alpha_of_sums([int(one) / 5 for one in (sums * 5).round().ravel()], interval)
    assert float(found or 0) == pytest.approx(0.586469, abs=6e-7)


def alpha_by_pairs(rows: list[list[int]]) -> float | None:
    """Write ordinal alpha by its definition, pair by pair over ratings, not over categories."""
    rated = [row for row in rows if len(row) > 1]
    pool = sorted(rank for row in rated for rank in row)

    def far(a: int, b: int) -> float:
        low, high = min(a, b), max(a, b)
        between = [rank for rank in pool if low <= rank <= high]
        return (len(between) - (pool.count(a) + pool.count(b)) / 2) ** 2

    within = [
        far(a, b) / (len(row) - 1) for row in rated for a, b in itertools.permutations(row, 2)
    ]
    across = [far(a, b) for a, b in itertools.permutations(pool, 2)]
    if not pool or not sum(across):
        return None
    return 1 - (sum(within) / len(pool)) / (sum(across) / len(across))


ROWS = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=5), min_size=1, max_size=12)


@given(ROWS)
@examples(30, 200)
def test_alpha_is_one_less_observed_over_expected_disagreement(rows: list[list[int]]) -> None:
    found = alpha([tuple(row.count(rank) for rank in range(4)) for row in rows])
    expected = alpha_by_pairs(rows)
    assert (found is None) == (expected is None)
    if found is not None:
        assert float(found) == pytest.approx(expected, abs=1e-9)


@given(ROWS)
@examples(30, 100)
def test_near_pairs_are_counted_one_by_one(rows: list[list[int]]) -> None:
    pairs = [abs(a - b) for row in rows for a, b in itertools.combinations(row, 2)]
    for steps in (0, 1):
        counted = [pair_row(tuple(row.count(rank) for rank in range(4)), steps) for row in rows]
        found = ratio(summed(counted))
        expected = sum(d <= steps for d in pairs) / len(pairs) if pairs else None
        assert found == (None if expected is None else pytest.approx(expected))


def panel(*people: dict[str, int]) -> Panel:
    items = sorted({item for mine in people for item in mine})
    ratings = {f"p{place}": mine for place, mine in enumerate(people)}
    return Panel(dict.fromkeys(items, 0), {0: 1.0}, ratings, frozenset(items))


def skewed() -> Panel:
    """Three people, 100 items, all excellent but four single ratings."""
    rows = [dict.fromkeys((f"i{n:03}" for n in range(100)), 3) for _ in range(3)]
    for person, item in ((0, "i007"), (1, "i030"), (2, "i055"), (0, "i090")):
        rows[person][item] = 2
    return panel(*rows)


def test_a_skewed_batch_shows_why_alpha_alone_misleads() -> None:
    found = agreement(skewed())
    assert found.alpha.value == pytest.approx(-0.0101, abs=1e-3)
    assert found.ac2.value == pytest.approx(0.997, abs=1e-3)
    assert found.exact.value == pytest.approx(1 - 8 / 300)
    assert found.within_one.value == 1
    assert (found.items, found.reviewers) == (100, 3)


def test_every_value_lies_in_its_interval() -> None:
    found = agreement(skewed(), draws=200, seed=7)
    measures = [found.alpha, found.ac2, found.exact, found.within_one, *found.leniency.values()]
    for measure in measures:
        assert measure.value is not None
        assert measure.interval is not None
        assert measure.interval.lower <= measure.value <= measure.interval.upper
        assert (measure.interval.seed, measure.interval.level) == (7, 0.95)
        assert 0 < measure.interval.draws <= 200
    assert agreement(skewed(), draws=200, seed=7) == found


def test_the_interval_of_a_share_is_as_wide_as_theory_says() -> None:
    random = np.random.default_rng(5)
    rows = [{f"i{n}": int(v) for n, v in enumerate(random.integers(0, 2, 400))} for _ in range(2)]
    ends = agreement(panel(*rows)).exact.interval
    assert ends is not None
    assert ends.upper - ends.lower == pytest.approx(2 * 1.96 * 0.5 / 20, rel=0.12)


def test_one_mind_is_undefined_and_one_voice_not_computable() -> None:
    unanimous = agreement(panel(*[dict.fromkeys("abc", 2)] * 3))
    assert unanimous.alpha.value is None
    assert unanimous.alpha.why is WhyNot.UNANIMOUS
    assert "everyone gave the same rating" in unanimous.alpha.why
    alone = agreement(panel({"a": 1, "b": 3}))
    apart = agreement(panel({"a": 1}, {"b": 3}))
    for found in (alone, apart):
        for measure in (found.alpha, found.ac2, found.exact, found.within_one):
            assert (measure.value, measure.why) == (None, WhyNot.NO_OVERLAP)
    assert alpha([]) is None
    found = agreement(panel_of("1 . 2\n. 3 ."), draws=20)  # nobody rated what another did
    assert (found.ac2.value, found.ac2.why) == (None, WhyNot.NO_OVERLAP)


def test_leniency_is_the_own_share_less_the_panel_s() -> None:
    found = agreement(panel({"a": 3, "b": 3, "own": 0}, {"a": 2, "b": 1}, {"a": 0, "b": 1}))
    values = {who: measure.value for who, measure in found.leniency.items()}
    assert values == pytest.approx({"p0": 1 - 0.5, "p1": 0.5 - 0.5, "p2": 0 - 0.5})


@given(st.lists(st.lists(st.integers(0, 3), min_size=6, max_size=6), min_size=2, max_size=5))
@examples(10, 30)
def test_leniencies_cancel_out_where_everyone_rated_everything(rows: list[list[int]]) -> None:
    people = [dict(zip("abcdef", row, strict=True)) for row in rows]
    found = agreement(panel(*people), draws=20).leniency.values()
    assert sum(one.value or 0 for one in found) == pytest.approx(0, abs=1e-9)


def test_only_the_chosen_reviewers_count() -> None:
    people = panel({"a": 3, "b": 0}, {"a": 3, "b": 0}, {"a": 0, "b": 3})
    assert agreement(people, ["p0", "p1"]).alpha.value == 1
    assert tallies(people, ["p2", "p0"]) == {"a": (1, 0, 0, 1), "b": (1, 0, 0, 1)}
