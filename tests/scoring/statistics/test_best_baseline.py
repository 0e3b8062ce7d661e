"""A method against the best of its baselines, held against brute force."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.best_baseline import BASELINES, WORLDS, mean_table
from scoring.core.metric import FloatArray
from scoring.core.scorer import Scorer
from scoring.core.table import Table
from scoring.metrics.inventory import surface_metrics
from scoring.statistics.best_baseline import AgainstBest, against_best, pooled
from scoring.statistics.clusters import rank
from scoring.statistics.significance import compare
from scoring.statistics.smallest import Z_BOTH, smallest_difference
from tests.review.thorough import first, times
from tests.scoring.samples import translations

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


def test_a_close_second_that_is_hard_to_tell_decides_and_not_the_one_that_was_picked() -> None:
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


def test_it_beats_the_best_where_it_beats_all_and_never_where_one_came_out_as_good() -> None:
    random = np.random.default_rng(6)
    values = random.normal(0.4, 0.1, (9, 100))
    values[0] += 0.2
    assert held(values).beats
    assert held(values).lower > 0
    values[4] = values[0]
    tied = held(values)
    assert (tied.p_maximum, tied.p_picked, tied.nearest, tied.picked) == (1.0, 1.0, 3, 3)
    assert not tied.beats
    assert (tied.lower, tied.upper) == (0.0, 0.0)


def test_of_a_metric_where_lower_is_better_the_signs_are_its_own() -> None:
    outputs = (["a b c d"] * 30, ["a b c x"] * 30, ["a x x d"] * 15 + ["a b x d"] * 15)
    scorer = Scorer(surface_metrics())
    method, near, far = (
        scorer.table(scorer.statistics(translations(texts, ["a b c d"] * 30))) for texts in outputs
    )
    found = against_best(method, [far, near], "ter")
    assert found.picked == 1
    assert found.difference == pytest.approx(-25.0)
    assert found.lower <= found.difference <= found.upper < 0
    assert found.beats


def test_what_cannot_be_held_against_another_is_refused() -> None:
    table, shorter = mean_table(np.full(10, 0.5)), mean_table(np.full(9, 0.5))
    for method, baselines, metric in (
        (table, [], "composite"),
        (shorter, [table], "composite"),
        (table, [table], "length_ratio"),
        (table, [table], "ter"),
        (table.rows([]), [table.rows([])], "composite"),
    ):
        with pytest.raises(ValueError, match=r"."):
            against_best(method, baselines, metric)


@pytest.mark.parametrize("world", first(2, reversed(WORLDS)))
def test_it_seldom_claims_to_beat_what_is_as_good(world: str) -> None:
    random = np.random.default_rng(11)
    simulations = times(6, 400)
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
    with pytest.raises(ValueError, match="same entries"):
        pooled([mean_table(runs[0]), mean_table(runs[1][:5])])


def test_the_smallest_difference_is_that_of_the_middle_pair() -> None:
    random = np.random.default_rng(9)
    values = random.normal(0.5, [[0.1], [0.2], [0.4]], (3, 200))
    values = np.vstack([values, values[:1]])  # a pair that never differs
    tables = [mean_table(row) for row in values]
    draws = np.random.default_rng(SEED)
    drawn = np.array([values[:, draws.integers(0, 200, 200)].mean(axis=1) for _ in range(DRAWS)]).T
    errors = [
        np.std(drawn[i] - drawn[j], ddof=1)
        for i in range(4)
        for j in range(i + 1, 4)
        if (i, j) != (0, 3)
    ]
    expected = Z_BOTH * float(np.median(np.square(errors))) ** 0.5
    assert rank(tables, "composite").smallest == pytest.approx(expected, rel=1e-9)
    assert rank(tables[:1], "composite").smallest is None
    assert smallest_difference(drawn[[0, 3]]) is None
    assert isinstance(tables[0], Table)


@pytest.mark.parametrize(("apart", "groups"), [(5, 1), (6, 2)])
def test_no_run_is_above_another_by_fewer_entries_than_any_test_needs(
    apart: int, groups: int
) -> None:
    """Five entries that all agree come out so by chance once in 16, which is no p of 0.05; six once in 32."""
    worse = np.zeros(apart + 2)
    better = np.array([0.5] * apart + [0.0, 0.0])
    found = rank([mean_table(better), mean_table(worse)], "composite")
    assert len(found.clusters) == groups
