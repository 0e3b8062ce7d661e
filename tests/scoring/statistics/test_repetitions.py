"""Repetitions of a run, a method against the best of its baselines, Fisher's test, and running spreads."""

from __future__ import annotations

from statistics import fmean, stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.best_baseline import BASELINES, WORLDS, mean_table
from scoring.core.metric import FloatArray, Table
from scoring.core.scorer import Scorer
from scoring.metrics.inventory import surface_metrics
from scoring.statistics.clusters import Z_BOTH, AgainstBest, against_best, pooled, rank, smallest_difference
from scoring.statistics.distributions import chance_of_so_many
from scoring.statistics.intervals import RunningSpread
from scoring.statistics.repetitions import Holding, of_values, repetitions
from scoring.statistics.significance import compare
from tests.harness.sealed.refusals import refuses
from tests.review.thorough import examples, first, times
from tests.scoring.late import stats
from tests.scoring.samples import translations


def by_regression(values: FloatArray) -> tuple[float, float, float]:
    """Mean squares of entries, repetitions and remainder as what a regression loses without a factor."""
    r, n = values.shape
    entry, run = np.tile(np.eye(n), (r, 1)), np.repeat(np.eye(r), n, axis=0)

    def left(design: FloatArray) -> float:
        fit = np.linalg.lstsq(design, values.ravel(), rcond=None)[0]
        return float(((values.ravel() - design @ fit) ** 2).sum())

    both = left(np.hstack([entry, run]))
    return (left(run) - both) / (n - 1), (left(entry) - both) / (r - 1), both / ((n - 1) * (r - 1))


def test_mean_squares_are_those_of_a_regression() -> None:
    random = np.random.default_rng(1)
    values = random.random((4, 12)) + random.random(12) + random.random((4, 1))
    found = of_values(values)
    entries, runs, rest = by_regression(values)
    assert found.squares == pytest.approx((entries, runs, rest))
    assert found.between_entries == pytest.approx((entries - rest) / 4)
    assert found.between_repetitions == pytest.approx((runs - rest) / 12)
    assert found.remainder == pytest.approx(rest)


def test_of_a_mean_the_pseudo_values_are_the_values_and_intervals_are_student_s() -> None:
    values = np.random.default_rng(2).random((3, 20))
    found = repetitions([mean_table(row) for row in values])
    assert found.squares == pytest.approx(of_values(values).squares)
    means = values.mean(axis=0)
    half = stats.t.ppf(0.975, 19) * means.std(ddof=1) / 20**0.5
    for_entries = found.interval(Holding.ENTRIES)
    assert (for_entries.lower, for_entries.upper) == pytest.approx((means.mean() - half, means.mean() + half))
    runs = values.mean(axis=1)
    half = stats.t.ppf(0.975, 2) * runs.std(ddof=1) / 3**0.5
    for_runs = found.interval(Holding.REPETITIONS)
    assert (for_runs.upper - for_runs.lower) / 2 == pytest.approx(half)
    assert for_runs.holds is Holding.REPETITIONS


def test_a_corpus_value_has_jackknife_s_pseudo_values() -> None:
    outputs = [["a b c d", "a x", "q r s", "a b"], ["a b c x", "a b", "q r", "a b"]]
    references = ["a b c d", "a b", "q r s t", "a b"]
    scorer = Scorer([each for each in surface_metrics() if each.info.id == "chrf_plus_plus"])
    tables = [scorer.table(scorer.statistics(translations(run, references))) for run in outputs]

    def value(table_rows: list[int], run: int) -> float:
        found = tables[run].rows(table_rows).corpus_values()["chrf_plus_plus"]
        assert found is not None
        return found

    whole = [value([0, 1, 2, 3], run) for run in range(2)]
    pseudo = [
        [4 * whole[run] - 3 * value([i for i in range(4) if i != out], run) for out in range(4)] for run in range(2)
    ]
    found = repetitions(tables, "chrf_plus_plus")
    assert found.squares == pytest.approx(of_values(np.array(pseudo)).squares)
    assert found.mean == pytest.approx(sum(whole) / 2)


def test_intervals_hold_for_what_they_say() -> None:
    """Both sources drawn anew: only the interval for both holds 95 times of 100; the one for entries does not."""
    random = np.random.default_rng(4)
    simulations = times(80, 4000)
    held = dict.fromkeys(Holding, 0)
    for _ in range(simulations):
        runs = 0.04 * random.normal(size=(5, 1))
        values = 0.5 + 0.2 * random.normal(size=60) + runs + 0.1 * random.normal(size=(5, 60))
        found = of_values(values)
        for holds in Holding:
            ends = found.interval(holds)
            held[holds] += ends.lower <= 0.5 <= ends.upper
    assert held[Holding.BOTH] / simulations > 0.88
    assert held[Holding.ENTRIES] / simulations < 0.92
    assert found.between_repetitions < 0.02


def test_equal_repetitions_have_no_variance_of_their_own() -> None:
    values = np.tile(np.random.default_rng(7).random(10), (2, 1))
    found = of_values(values)
    assert (found.between_repetitions, found.remainder) == pytest.approx((0, 0))
    ends = found.interval(Holding.REPETITIONS)
    assert ends.lower == pytest.approx(ends.upper)
    both, entries = found.interval(Holding.BOTH), found.interval(Holding.ENTRIES)
    assert both.upper - both.lower >= (entries.upper - entries.lower) * 0.99


def test_what_is_no_repetition_is_refused() -> None:
    table = mean_table(np.array([0.1, 0.4, 0.3]))
    for tables in ([table], [table, table.rows([0, 1])], [table.rows([0]), table.rows([0])]):
        refuses(ValueError, "two repetitions", repetitions, tables)
    refuses(KeyError, "", repetitions, [table, table], "bleu")


DRAWS, SEED = 1000, 12345


def by_hand(values: FloatArray) -> tuple[float, float]:
    """The interval of method minus best, from single draws of entries, loop by loop."""
    random = np.random.default_rng(SEED)
    n = values.shape[1]
    drawn = np.array([values[:, random.integers(0, n, n)].mean(axis=1) for _ in range(DRAWS)])
    leads = drawn[:, :1] - drawn[:, 1:]
    seen = values[0].mean() - values[1:].mean(axis=1)
    lower = min(np.percentile(leads[:, k], 2.5) for k in range(leads.shape[1]))
    errors = [leads[:, k].std() for k in range(leads.shape[1])]
    largest = [max((seen - row) / errors) for row in leads]
    factor = np.quantile(largest, 0.975)
    return lower, min(seen + factor * np.array(errors))


def held(values: FloatArray, trials: int = 10_000) -> AgainstBest:
    tables = [mean_table(row) for row in values]
    return against_best(tables[0], tables[1:], trials=trials)


def test_interval_and_p_are_those_of_brute_force() -> None:
    random = np.random.default_rng(3)
    values = random.normal(0.5, 0.2, (6, 80)) + np.array([0.08, 0, 0.02, -0.1, 0.03, 0])[:, None]
    found = held(values)
    assert (found.lower, found.upper) == pytest.approx(by_hand(values), abs=1e-12)
    assert found.picked == int(values[1:].mean(axis=1).argmax())
    assert found.difference == pytest.approx(values[0].mean() - values[1:].mean(axis=1).max())
    pairs = [compare(mean_table(row), mean_table(values[0]))["composite"] for row in values[1:]]
    assert list(found.pairs) == pairs
    assert found.p_maximum == max(max(p.p_bootstrap, p.p_randomisation) for p in pairs)
    assert found.lower <= found.difference <= found.upper


def test_close_second_that_is_hard_to_tell_decides() -> None:
    random = np.random.default_rng(5)
    method = random.normal(0.5, 0.2, 120)
    copy = method - 0.02  # first of the baselines, and surely behind the method
    noisy = random.normal(0.5, 0.2, 120)
    noisy += method.mean() - 0.03 - noisy.mean()
    found = held(np.stack([method, noisy, copy]))
    assert (found.picked, found.nearest) == (1, 0)
    assert found.p_picked < 0.01
    assert found.p_maximum > 0.2
    assert not found.beats
    assert found.lower < 0


def test_it_beats_the_best_only_where_it_beats_all() -> None:
    random = np.random.default_rng(6)
    values = random.normal(0.4, 0.1, (9, 100))
    values[0] += 0.2
    found = held(values)
    assert found.beats
    assert found.lower > 0
    values[4] = values[0]
    tied = held(values)
    assert (tied.p_maximum, tied.p_picked, tied.nearest, tied.picked) == (1.0, 1.0, 3, 3)
    assert not tied.beats
    assert (tied.lower, tied.upper) == (0.0, 0.0)


def test_of_a_metric_where_lower_is_better_the_signs_are_its_own() -> None:
    outputs = (["a b c d"] * 30, ["a b c x"] * 30, ["a x x d"] * 15 + ["a b x d"] * 15)
    scorer = Scorer(surface_metrics())
    method, near, far = (scorer.table(scorer.statistics(translations(texts, ["a b c d"] * 30))) for texts in outputs)
    found = against_best(method, [far, near], "ter")
    assert (found.picked, found.difference) == (1, pytest.approx(-25.0))
    assert found.lower <= found.difference <= found.upper < 0
    assert found.beats


def test_what_cannot_be_held_against_another_is_refused() -> None:
    table, shorter = mean_table(np.full(10, 0.5)), mean_table(np.full(9, 0.5))
    for method, baselines, metric in (
        (table, [], "composite"), (shorter, [table], "composite"), (table, [table], "length_ratio"),
        (table, [table], "ter"), (table.rows([]), [table.rows([])], "composite"),
    ):  # fmt: skip
        refuses(ValueError, r".", against_best, method, baselines, metric)


@pytest.mark.parametrize("world", first(1, reversed(WORLDS)))
def test_it_seldom_claims_to_beat_what_is_as_good(world: str) -> None:
    random = np.random.default_rng(11)
    simulations = times(4, 400)
    claims = sum(held(WORLDS[world](random), trials=200).beats for _ in range(simulations))
    assert claims <= max(1, 0.05 * simulations)
    assert WORLDS[world](random).shape[0] == BASELINES + 1


def test_repetitions_are_pooled_entry_by_entry() -> None:
    random = np.random.default_rng(2)
    runs = random.random((3, 40))
    whole = pooled([mean_table(row) for row in runs])
    assert whole.corpus_values()["semantic_score"] == pytest.approx(runs.mean())
    assert whole.entry_values()["semantic_score"] == pytest.approx(runs.mean(axis=0))
    once = mean_table(runs.mean(axis=0))  # repetitions weigh no more than one run in a shuffle
    other = [mean_table(random.random(40))]
    assert against_best(whole, other).p_maximum == against_best(once, other).p_maximum
    refuses(ValueError, "same entries", pooled, [mean_table(runs[0]), mean_table(runs[1][:5])])


def test_the_smallest_difference_is_that_of_the_middle_pair() -> None:
    random = np.random.default_rng(9)
    values = random.normal(0.5, [[0.1], [0.2], [0.4]], (3, 200))
    values = np.vstack([values, values[:1]])  # a pair that never differs
    tables = [mean_table(row) for row in values]
    draws = np.random.default_rng(SEED)
    drawn = np.array([values[:, draws.integers(0, 200, 200)].mean(axis=1) for _ in range(DRAWS)]).T
    pairs = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]
    errors = [np.std(drawn[i] - drawn[j], ddof=1) for i, j in pairs]
    expected = Z_BOTH * float(np.median(np.square(errors))) ** 0.5
    assert rank(tables, "composite").smallest == pytest.approx(expected, rel=1e-9)
    assert rank(tables[:1], "composite").smallest is None
    assert smallest_difference(drawn[[0, 3]]) is None
    assert isinstance(tables[0], Table)


def test_no_run_is_above_another_by_fewer_entries_than_any_test_needs() -> None:
    """Five entries that all agree come out so by chance once in 16, which is no p of 0.05; six once in 32."""
    for apart, groups in [(5, 1), (6, 2)]:
        worse = np.zeros(apart + 2)
        better = np.array([0.5] * apart + [0.0, 0.0])
        found = rank([mean_table(better), mean_table(worse)], "composite")
        assert len(found.clusters) == groups


def test_it_is_the_tail_of_the_hypergeometric_distribution() -> None:
    for right, of, right_beside, of_beside in [
        (10, 10, 3, 40), (0, 5, 0, 5), (9, 10, 0, 5), (3, 10, 20, 30), (900, 1000, 700, 1000),
    ]:  # fmt: skip
        expected = stats.hypergeom.sf(right - 1, of + of_beside, right + right_beside, of)
        found = chance_of_so_many(right, of, right_beside, of_beside)
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-300)
    assert chance_of_so_many(5, 5, 0, 5) == 1 / 252  # one of the ways to choose 5 of 10
    for counts in [(6, 5, 0, 5), (-1, 5, 0, 5), (0, 5, 6, 5)]:
        refuses(ValueError, "between 0 and their group", chance_of_so_many, *counts)


VALUES = st.lists(st.none() | st.floats(-1e3, 1e3), max_size=12)


@examples(25, 100)
@given(st.lists(VALUES, max_size=6))
def test_groups_give_what_all_together_give(groups: list[list[float | None]]) -> None:
    running = RunningSpread()
    for group in groups:
        running.add(np.array([np.nan if each is None else each for each in group], np.float64))
    known = [each for group in groups for each in group if each is not None]
    found = running.value()
    if not known:
        assert found is None
        return
    assert (found.n, found.mean) == (len(known), pytest.approx(fmean(known), abs=1e-9))
    assert found.std == pytest.approx(stdev(known) if len(known) > 1 else 0.0, abs=1e-6)
