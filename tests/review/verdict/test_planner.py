"""The planner in simulation; quantiles, bounds and coefficients of agreement against published and other ones."""

import ast
import csv
import itertools
import math
import re
import tarfile
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from review.verdict.gate.agreement import (
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
from review.verdict.gate.gate import GateOutcome, decide_gate
from review.verdict.gate.panel import Panel, clopper_pearson, wilson_bounds
from review.verdict.gate.planner import (
    Chances,
    Forecast,
    More,
    RatingPlan,
    RequiredData,
    chances,
    power,
    promises,
    settling,
    simulated_reviews,
)
from review.verdict.gate.policy import proposed
from scoring.statistics.distributions import beta_probability, beta_quantile, student_quantile
from tests.outside import MLQE, only_with
from tests.review.thorough import examples, times
from tests.review.verdict.panels import bad, good, made
from tests.scoring.late import Late, stats

POLICY, _ = proposed()
GRID = [(n, r, truth) for r in (3, 5, 8) for n in (50, 80, 100, 150) for truth in (0.85, 0.90)]
PUBLISHED = {
    (50, 3): (0.605, 0.813), (100, 3): (0.669, 0.865), (150, 3): (0.683, 0.875),
    (50, 5): (0.797, 0.971), (100, 5): (0.879, 0.987), (150, 5): (0.904, 0.997),
    (100, 8): (0.967, 0.999),
}  # fmt: skip


simulation = Late("benchmarks.gate_simulation")


@pytest.mark.parametrize("plan", list(PUBLISHED)[:: times(6, 1)], ids=str)
def test_powers_are_near_the_published_ones(plan: tuple[int, int]) -> None:
    found = [power(*plan, truth, POLICY) for truth in (0.85, 0.90)]
    assert found == pytest.approx(PUBLISHED[plan], abs=0.04)


@pytest.mark.parametrize(("items", "people", "truth"), GRID[:: times(12, 1)], ids=str)
def test_promises_are_kept_in_another_simulation(items: int, people: int, truth: float) -> None:
    seen = simulation.share_passed(items, people, truth, 0.5, times(2000, 10_000))
    assert power(items, people, truth, POLICY) == pytest.approx(seen, abs=0.03)


@pytest.mark.parametrize("people", [3, 5, 8][:: times(2, 1)])
def test_a_method_just_at_the_level_seldom_passes(people: int) -> None:
    assert simulation.share_passed(100, people, 0.70, 0.5, times(2000, 10_000)) <= 0.07


def test_simulation_has_the_gates_rule_and_the_true_share() -> None:
    marks = simulation.reviews(50, 3, 0.9, 0.5, 20)
    lower, upper = simulation.bounds(marks)
    for one, low, high in zip(marks, lower, upper, strict=True):
        numbers = decide_gate(simulation.panel(one), POLICY).numbers
        assert float(numbers.lower or 0) == pytest.approx(low, abs=6e-7)
        assert float(numbers.upper or 0) == pytest.approx(high, abs=6e-7)
    plan = RatingPlan(4, {1: 30, 2: 10, 4: 20}, {1: 0.5, 2: 0.2, 4: 0.3})
    accepted = np.concatenate(list(simulated_reviews(plan, 0.8, 4000, 1))).mean(axis=(0, 2))
    shares = [accepted[:30].mean(), accepted[30:40].mean(), accepted[40:].mean()]
    assert np.dot([0.5, 0.2, 0.3], shares) == pytest.approx(0.8, abs=0.006)
    assert shares[0] > shares[1] > shares[2]


def test_more_people_and_items_have_better_chances() -> None:
    plain = power(50, 3, 0.85, POLICY)
    assert plain < power(50, 5, 0.85, POLICY) < power(100, 5, 0.85, POLICY)
    assert power(50, 3, 0.80, POLICY) < plain < power(50, 3, 0.95, POLICY)
    assert power(50, 3, 0.85, POLICY, look=2) < plain
    assert power(50, 3, 0.85, POLICY, reviewer_sd=0.9) < plain
    assert power(50, 3, 0.85, POLICY) == plain


def test_chances_of_small_plans_and_of_a_go() -> None:
    found = chances(RatingPlan.even(60, 5), 0.85, POLICY)
    assert found.go <= found.level
    assert chances(RatingPlan.even(60, 5), 0.40, POLICY).no_go > 0.95
    for plan in (
        RatingPlan.even(49, 5), RatingPlan.even(60, 2), RatingPlan(5, {1: 60, 2: 7}), RatingPlan(5, {1: 60, 2: 1}),
    ):  # fmt: skip
        found = chances(plan, 0.97, POLICY, trials=200)
        assert (found.go, found.no_go) == (0, 0)
        assert found.level > 0
    plain = chances(RatingPlan(5, {0: 60}, {0: 1.0}), 0.85, POLICY)  # one stratum is a plan too
    assert 0.5 < plain.level < 1
    for plan, truth in (
        (RatingPlan.even(50, 1), 0.85), (RatingPlan(3, {1: 9, 2: 0}), 0.85), (RatingPlan(3, {}), 0.85),
        (RatingPlan.even(50, 3), 1.0),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="needs two reviewers"):
            chances(plan, truth, POLICY)


def test_table_of_the_page_is_what_the_planner_says_in_words() -> None:
    table = promises(POLICY)
    page = (Path(__file__).parents[3] / "docs" / "internals" / "gate.md").read_text("utf-8")
    rows = re.findall(r"^\| (\d+) \| (\d+) \| (\d+) % \| (\d+) % \|", page, re.MULTILINE)
    for row, told in zip(table, [tuple(map(int, each)) for each in rows], strict=True):
        assert told[:2] == (row.reviewers, row.items)
        found = (row.chances.level * 100, row.chances.go * 100)
        assert told[2:] == pytest.approx(tuple(map(round, found)), abs=1)
    assert [(row.reviewers, row.items) for row in table[:2]] == [(3, 50), (3, 80)]
    row = replace(table[0], chances=Chances(0.8, 0.77, 0.0), reviewers=5, items=60)
    assert row.words().startswith("5 people × 60 items: 80 % chance to see it if the method is truly at 0.85")


def test_only_an_open_level_asks_what_would_settle_it() -> None:
    assert settling(decide_gate(made(good), POLICY), POLICY) is None
    assert settling(decide_gate(made(bad), POLICY), POLICY) is None
    assert settling(decide_gate(made(good, items=20), POLICY), POLICY) is None


@pytest.mark.costly("fewer reviews do not reach the border of the confidence")
def test_what_would_settle_it_is_the_least_that_does() -> None:
    seen = 0
    for one in simulation.reviews(50, 3, 0.82, 0.5, 40, 3):
        verdict = decide_gate(simulation.panel(one), POLICY)
        found = settling(verdict, POLICY) if verdict.outcome is GateOutcome.DISCUSS else None
        if found is None:
            continue
        outlook = Forecast.of(verdict.numbers, 0.70, 0.975)
        assert outlook.ratings(More(1, 10)) == 4 * 60 - 3 * 50
        for way in filter(None, (found.reviewers, found.items)):
            seen += 1
            fewer = More(max(way.reviewers - 1, 0), max(way.items - 1, 0))
            assert outlook.chance(way.reviewers, way.items) >= 0.8
            assert fewer == More(0, 0) or outlook.chance(fewer.reviewers, fewer.items) < 0.8
        if found.both is not None:
            seen += 1
            assert outlook.chance(found.both.reviewers, found.both.items) >= 0.8
            assert 0 <= found.doubled <= 1
    assert seen > 3


@pytest.mark.thorough
def test_what_settles_it_does_so_in_eight_of_ten_cases() -> None:
    draw = np.random.default_rng(1)
    seen: list[bool] = []
    shifts = np.resize([1.2, 0.6, 0.0, -0.6, -1.2], 600)[:, None]
    while len(seen) < times(25, 600):
        people, items = int(draw.choice([3, 5])), int(draw.choice([50, 80]))
        latent = draw.uniform(0.8, 2.2) + shifts + 1.2 * draw.standard_normal((600, 1))
        latent = latent + 0.5 * draw.standard_normal((1, 30)) + draw.standard_normal((600, 30))
        found = settling(decide_gate(_of(latent[:items, :people]), POLICY), POLICY)
        way = found and (found.reviewers or found.items or found.both)
        if way:
            more = latent[: items + way.items, : people + way.reviewers]
            again = decide_gate(replace(_of(more), look=2), POLICY)
            seen.append(again.numbers.lower >= Decimal("0.7") or again.numbers.upper < Decimal("0.7"))
    print(f"settled in {np.mean(seen):.1%} of {len(seen)} cases")
    assert stats.binomtest(sum(seen), len(seen), 0.78).pvalue > 0.001


def _of(latent: Any) -> Any:
    return made(  # type: ignore[misc]
        lambda i, j: 3 if latent[i, j] > 0 else 1, *latent.shape, weights=dict.fromkeys(range(1, 6), 0.2)
    )


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (RequiredData(More(3, 0), More(0, 24), None, 0.9), "3 more reviewers, or 24 more items would settle it in 8 of 10 cases."),
        (RequiredData(None, None, More(1, 30), 0.9), "1 more reviewer and 30 more items would settle it in 8 of 10 cases."),
        (RequiredData(None, None, None, 0.42), "Twice the people and twice the items would settle it in 4 of 10 cases: the share seems to lie near the level."),
    ],
    ids=["either", "both", "neither"],
)  # fmt: skip
def test_it_is_said_in_one_sentence(found: RequiredData, words: str) -> None:
    assert found.words() == words


Z95 = 1.959963984540054


def test_quantiles_are_scipy_s_for_any_real_shape() -> None:
    for a, b in product((0.5, 1, 2.5, 8, 41, 200, 3000), repeat=2):
        for probability in (1e-6, 0.025, 0.05, 0.5, 0.9, 0.95, 0.999999):
            expected = float(stats.beta.ppf(probability, a, b))
            assert beta_quantile(probability, a, b) == pytest.approx(expected, rel=1e-11), (a, b)
    for df in (1, 1.3, 2, 2.7, 4, 10, 78.6779, 400, 10_000):
        for probability in (0.5, 0.6, 0.9, 0.95, 0.975, 0.99999):
            expected = float(stats.t.ppf(probability, df))
            assert student_quantile(probability, df) == pytest.approx(expected, rel=3e-11, abs=1e-12)


@given(st.floats(0.1, 500), st.floats(0.1, 500), st.floats(0.001, 0.999))
def test_beta_probabilities_are_scipy_s(a: float, b: float, x: float) -> None:
    expected = float(stats.beta.cdf(x, a, b))
    assert beta_probability(x, a, b) == pytest.approx(expected, rel=1e-10, abs=1e-14)


@given(st.floats(0.3, 3000), st.floats(0.3, 3000), st.floats(0.001, 0.999))
@example(410.0, 0.3125, 0.99609375)  # steep: two neighbouring numbers lie further apart than 1e-8
def test_a_quantile_undoes_its_probability(a: float, b: float, probability: float) -> None:
    x = beta_quantile(probability, a, b)
    if 1e-300 < x < 1 - 1e-12:
        ends = (1 - 1e-15, 1 + 1e-15)
        below, above = (beta_probability(min(x * near, 1.0), a, b) for near in ends)
        assert below * (1 - 1e-8) <= probability <= above * (1 + 1e-8)


PUBLISHED_BOUNDS = [
    (81, 263, (0.252737, 0.367622), (0.255289, 0.366210)),
    (15, 148, (0.057844, 0.161650), (0.062386, 0.160487)),
    (0, 20, (0.0, 0.168433), (0.0, 0.161125)),
    (1, 29, (0.000873, 0.177644), (0.006113, 0.171755)),
]
"""Events, of so many, bounds of Clopper and Pearson, bounds of Wilson."""


def test_bounds_are_the_published_ones() -> None:
    for events, total, exact, wilson in PUBLISHED_BOUNDS:
        assert clopper_pearson(events, total, 0.975) == pytest.approx(exact, abs=6e-7)
        assert wilson_bounds(events / total, total, Z95) == pytest.approx(wilson, abs=6e-7)
    t = student_quantile(0.95, 78.6779)
    assert t == pytest.approx(1.66445, abs=5e-6)
    assert wilson_bounds(0.865, 345.1756, t)[0] == pytest.approx(0.831463, abs=6e-7)
    for items in (20, 50, 100):  # a flawless method is bounded by the root
        root = 0.05 ** (1 / items)
        assert clopper_pearson(items, items, 0.95) == (pytest.approx(root, rel=1e-12), 1.0)
        assert clopper_pearson(0, items, 0.95) == pytest.approx((0.0, 1 - root))
    for items, least in {30: 26, 40: 34, 50: 41, 60: 49, 80: 64, 100: 78, 150: 115, 200: 152}.items():
        missed, reached = (clopper_pearson(k, items, 0.95)[0] for k in (least - 1, least))
        assert missed < 0.70 <= reached


@given(st.floats(0, 1), st.floats(0.5, 1e6), st.floats(0, 60))
def test_wilson_bounds_hold_the_share(share: float, total: float, quantile: float) -> None:
    lower, upper = wilson_bounds(share, total, quantile)
    assert 0 <= lower <= upper <= 1
    assert lower <= share + 1e-12
    assert share - 1e-12 <= upper
    assert math.isfinite(lower + upper)


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
def test_alpha_is_krippendorffs(table: str, categories: int, distance: Any, expected: float) -> None:
    """Four observers of his, and three coders of the encyclopedia."""
    assert float(alpha(units(table, categories), distance) or 0) == pytest.approx(expected, abs=6e-7)


def test_gwet_s_coefficients() -> None:
    for quadratic, expected, digits in ((False, 0.77544, 5e-6), (True, 0.914001, 6e-7)):
        rows = [gwet_row(each, quadratic=quadratic) for each in units(FOUR_OBSERVERS, 5) if sum(each)]
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
    observed = ((counts * (weighted - 1)).sum(axis=1)[paired] / (raters * (raters - 1))[paired]).mean()
    shares = (counts[rated] / raters[rated, None]).mean(axis=0)
    chance = weights.sum() * (shares * (1 - shares)).sum() / (categories * (categories - 1))
    return float((observed - chance) / (1 - chance))


def test_ac2_takes_chance_from_items_of_one_rating(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("review.verdict.gate.agreement.RANKS", 5)
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

    within = [far(a, b) / (len(row) - 1) for row in rated for a, b in itertools.permutations(row, 2)]
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


def rated_by(*people: dict[str, int]) -> Panel:
    items = sorted({item for mine in people for item in mine})
    ratings = {f"p{place}": mine for place, mine in enumerate(people)}
    return Panel(dict.fromkeys(items, 0), {0: 1.0}, ratings, frozenset(items))


def skewed() -> Panel:
    rows = [dict.fromkeys((f"i{n:03}" for n in range(100)), 3) for _ in range(3)]
    for person, item in ((0, "i007"), (1, "i030"), (2, "i055"), (0, "i090")):
        rows[person][item] = 2
    return rated_by(*rows)


def test_skewed_batch_misleads_alpha_and_intervals_hold() -> None:
    found = agreement(skewed())
    assert found.alpha.value == pytest.approx(-0.0101, abs=1e-3)
    assert found.ac2.value == pytest.approx(0.997, abs=1e-3)
    assert (found.exact.value, found.within_one.value) == (pytest.approx(1 - 8 / 300), 1)
    assert (found.items, found.reviewers) == (100, 3)
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
    ends = agreement(rated_by(*rows)).exact.interval
    assert ends is not None
    assert ends.upper - ends.lower == pytest.approx(2 * 1.96 * 0.5 / 20, rel=0.12)


def test_one_mind_is_undefined_and_one_voice_not_computable() -> None:
    unanimous = agreement(rated_by(*[dict.fromkeys("abc", 2)] * 3))
    assert unanimous.alpha.value is None
    assert unanimous.alpha.why is WhyNot.UNANIMOUS
    assert "everyone gave the same rating" in unanimous.alpha.why
    alone = agreement(rated_by({"a": 1, "b": 3}))
    apart = agreement(rated_by({"a": 1}, {"b": 3}))
    for found in (alone, apart):
        for measure in (found.alpha, found.ac2, found.exact, found.within_one):
            assert (measure.value, measure.why) == (None, WhyNot.NO_OVERLAP)
    assert alpha([]) is None
    found = agreement(panel_of("1 . 2\n. 3 ."), draws=20)  # nobody rated what another did
    assert (found.ac2.value, found.ac2.why) == (None, WhyNot.NO_OVERLAP)


def test_leniency_is_the_own_share_less_that_of_the_chosen() -> None:
    found = agreement(rated_by({"a": 3, "b": 3, "own": 0}, {"a": 2, "b": 1}, {"a": 0, "b": 1}))
    values = {who: measure.value for who, measure in found.leniency.items()}
    assert values == pytest.approx({"p0": 1 - 0.5, "p1": 0.5 - 0.5, "p2": 0 - 0.5})
    people = rated_by({"a": 3, "b": 0}, {"a": 3, "b": 0}, {"a": 0, "b": 3})
    assert agreement(people, ["p0", "p1"]).alpha.value == 1
    assert tallies(people, ["p2", "p0"]) == {"a": (1, 0, 0, 1), "b": (1, 0, 0, 1)}
