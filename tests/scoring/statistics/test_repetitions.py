"""Components of variance of repeated runs, by an independent least-squares analysis and by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t as student

from benchmarks.best_baseline import mean_table
from scoring.core.metric import FloatArray
from scoring.core.scorer import Scorer
from scoring.metrics.inventory import surface_metrics
from scoring.statistics.repetitions import Holding, of_values, repetitions
from tests.review.thorough import times
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
    half = student.ppf(0.975, 19) * means.std(ddof=1) / 20**0.5
    for_entries = found.interval(Holding.ENTRIES)
    assert (for_entries.lower, for_entries.upper) == pytest.approx(
        (means.mean() - half, means.mean() + half)
    )
    runs = values.mean(axis=1)
    half = student.ppf(0.975, 2) * runs.std(ddof=1) / 3**0.5
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
        [4 * whole[run] - 3 * value([i for i in range(4) if i != out], run) for out in range(4)]
        for run in range(2)
    ]
    found = repetitions(tables, "chrf_plus_plus")
    assert found.squares == pytest.approx(of_values(np.array(pseudo)).squares)
    assert found.mean == pytest.approx(sum(whole) / 2)


def test_intervals_hold_for_what_they_say() -> None:
    """Both sources drawn anew: only the interval for both holds 95 times of 100; the one for entries does not."""
    random = np.random.default_rng(4)
    simulations = times(150, 4000)
    held = dict.fromkeys(Holding, 0)
    for _ in range(simulations):
        runs = 0.04 * random.normal(size=(5, 1))
        values = 0.5 + 0.2 * random.normal(size=60) + runs + 0.1 * random.normal(size=(5, 60))
        found = of_values(values)
        for holds in Holding:
            ends = found.interval(holds)
            held[holds] += ends.lower <= 0.5 <= ends.upper
    assert held[Holding.BOTH] / simulations > 0.9
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
        with pytest.raises(ValueError, match="two repetitions"):
            repetitions(tables)
    with pytest.raises(KeyError):
        repetitions([table, table], "bleu")
