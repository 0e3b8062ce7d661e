"""The confidence sequence against the exact capital of its bets; clusters of systems against pairwise findings."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scoring.core.metric import FloatArray
from scoring.core.scorer import Scorer
from scoring.core.specification import metric_info
from scoring.core.table import Table
from scoring.core.translation import Translation
from scoring.metrics.inventory import surface_metrics
from scoring.statistics.clusters import Ranking, clusters, drawn_values, rank
from scoring.statistics.confidence_sequence import (
    WAGERS,
    ConfidenceSequence,
    enough,
    log_capital,
    power_sums,
    span_of,
)
from scoring.statistics.significance import compare
from tests.review.thorough import examples, first, times
from tests.scoring.samples import ALPHABETS, corpus, worse
from tests.scoring.statistics.matches import matches

shares = st.lists(st.floats(-1, 1), min_size=1, max_size=40)


def exact_log_capital(values: FloatArray, mean: float) -> float:
    """What the bets really made of 1: the product of their returns, wager by wager."""
    returns = [np.prod(1 + wager * (values - mean) / (1 + mean)) for wager in WAGERS]
    return float(np.log(np.mean(returns)))


@examples(15, 100)
@given(shares, st.floats(-0.95, 0.95))
def test_kept_sums_claim_no_more_than_the_bets_made(values: list[float], mean: float) -> None:
    array = np.array(values)
    found = float(log_capital(power_sums(array)[-1], mean))
    assert found <= exact_log_capital(array, mean) + 1e-6


def test_little_capital_is_lost_by_keeping_sums_only() -> None:
    random = np.random.default_rng(1)
    for size, spread in ((50, 0.2), (500, 0.15), (5000, 0.2)):
        values = np.clip(random.normal(0.04, spread, size), -1, 1)
        exact = exact_log_capital(values, 0.0)
        assert float(log_capital(power_sums(values)[-1], 0.0)) == pytest.approx(
            exact, rel=0.06, abs=0.25
        )


@examples(15, 100)
@given(shares)
def test_the_mean_lies_inside_and_batches_do_not_matter(values: list[float]) -> None:
    whole, single = ConfidenceSequence(100.0), ConfidenceSequence(100.0)
    whole.add(100 * value for value in values)
    for value in values:
        single.add([100 * value])
    ends, mean = whole.interval(), whole.mean
    assert mean is not None
    assert -100.0 <= ends[0] <= mean + 1e-9
    assert mean - 1e-9 <= ends[1] <= 100.0
    assert single.interval() == pytest.approx(ends)


@examples(15, 100)
@given(shares)
@example([0.997053385119052])
def test_it_is_symmetrical(values: list[float]) -> None:
    one, other = ConfidenceSequence(1.0), ConfidenceSequence(1.0)
    one.add(values)
    other.add(-value for value in values)
    ends = one.interval()
    assert other.interval() == pytest.approx((-ends[1], -ends[0]))


def test_who_looks_after_every_entry_is_seldom_deceived() -> None:
    """Many comparisons without a difference: at most 5 % alarms ever, and a plain interval many times that."""
    random = np.random.default_rng(5)
    alarms, plain, many = 0, 0, times(200, 600)
    for _ in range(many):
        values = random.choice([0.3, 0.1, 0.05, 0.6], 400) * random.choice([-1, 1], 400)
        sums = power_sums(values)
        sides = [log_capital(s, 0.0) for s in (sums, sums * (-1.0) ** np.arange(7))]
        alarms += bool((np.maximum(*sides) >= enough(0.95)).any())
        count = np.arange(1, 401)
        z = np.cumsum(values) / np.sqrt(np.cumsum(values**2))
        plain += bool((np.abs(z[count >= 10]) > 1.96).any())
    assert alarms <= 0.05 * many
    assert plain >= 0.2 * many


def test_a_real_difference_is_found_and_the_interval_narrows_to_it() -> None:
    random = np.random.default_rng(6)
    sequence, widths = ConfidenceSequence(100.0), []
    for _ in range(4):
        sequence.add(np.clip(random.normal(5, 15, 1000), -100, 100))
        ends = sequence.interval()
        assert ends[0] < 5 < ends[1]
        widths.append(ends[1] - ends[0])
    assert ends[0] > 0
    assert all(later < earlier for earlier, later in pairwise(widths))
    assert widths[-1] < 3 * 2 * 1.96 * 15 / 4000**0.5


def test_few_or_valueless_entries_say_nothing() -> None:
    sequence = ConfidenceSequence(1.0)
    assert (sequence.interval(), sequence.mean) == (None, None)
    sequence.add([])
    assert sequence.interval() is None
    sequence.add([1.0])
    ends = sequence.interval()
    assert ends[0] < 0
    sequence = ConfidenceSequence(1.0)
    sequence.add([0.5, float("nan")])
    assert (sequence.entries, sequence.mean) == (1, 0.5)


def test_what_has_no_bound_is_refused() -> None:
    assert span_of(metric_info("ter")) is None
    assert span_of(metric_info("chrf_plus_plus")) == 100.0
    for span, level in ((float("inf"), 0.95), (0.0, 0.95), (1.0, 1.0)):
        with pytest.raises(ValueError, match="bounded"):
            ConfidenceSequence(span, level=level)
    with pytest.raises(ValueError, match="larger than 1"):
        ConfidenceSequence(1.0).add([1.5])


SCORER = Scorer(surface_metrics(tokenizer="13a", has_variants=True))


def systems(shares: list[float], entries: int = 150) -> list[Table]:
    """Runs of which a share of the outputs is right, the rest noisy."""
    items = corpus(ALPHABETS["syllabics"], entries)
    made = []
    for number, share in enumerate(shares):
        rng = random.Random(number)
        outputs = [
            Translation(
                item, item.reference if rng.random() < share else worse(item.reference, rng)
            )
            for item in items
        ]
        made.append(SCORER.table(SCORER.statistics(outputs)))
    return made


def better(*pairs: tuple[int, int], runs: int) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    found = np.zeros((runs, runs), dtype=bool)
    for above, below in pairs:
        found[above, below] = True
    return found


def test_cut_needs_every_run_above_to_beat_every_run_below() -> None:
    points = np.array([0.5, 0.9, 0.7, 0.1])  # ranked: 1, 2, 0, 3
    all_beat_last = [(1, 3), (2, 3), (0, 3)]
    assert clusters(points, better(*all_beat_last, runs=4)) == ((1, 2, 0), (3,))
    first_too = [*all_beat_last, (1, 2), (1, 0)]
    assert clusters(points, better(*first_too, runs=4)) == ((1,), (2, 0), (3,))
    gap = [(1, 0), (1, 3), (2, 3)]
    assert clusters(points, better(*gap, runs=4)) == ((1, 2, 0, 3),)
    assert clusters(np.array([]), better(runs=0)) == ()
    assert Ranking(((1, 2), (0,), (3,)), better(runs=4)).ranks() == {1: 1, 2: 1, 0: 3, 3: 4}


@examples(15, 100)
@given(st.integers(1, 7), st.integers(0, 5000))
def test_clusters_are_the_finest_cuts_there_are(runs: int, seed: int) -> None:
    random_ = np.random.default_rng(seed)
    points: FloatArray = random_.random(runs)
    found = random_.random((runs, runs)) < 0.7
    order = sorted(range(runs), key=lambda run: -points[run])
    made = clusters(points, found)
    assert [run for cluster in made for run in cluster] == order
    cuts = {
        place
        for place in range(1, runs)
        if all(found[above, below] for above in order[:place] for below in order[place:])
    }
    assert set(np.cumsum([len(cluster) for cluster in made])[:-1].tolist()) == cuts


@pytest.mark.parametrize("metric", first(1, ["ter", "chrf_plus_plus", "composite"]))
def test_pairs_are_decided_as_in_a_comparison_by_bootstrap(metric: str) -> None:
    tables = systems([0.1, 0.15, 0.6, 0.65])
    found = rank(tables, metric)
    for one in range(4):
        for other in range(4):
            if one == other:
                assert not found.better[one, other]
                continue
            told = compare(tables[one], tables[other], trials=1)[metric]
            apart = (told.lower > 0 or told.upper < 0) and told.p_bootstrap < 0.05
            assert found.better[one, other] == (apart and told.ahead == "first"), (one, other)
    assert [sorted(cluster) for cluster in found.clusters] == [[2, 3], [0, 1]]


def test_runs_alike_share_one_cluster() -> None:
    [table] = systems([0.3])
    assert rank([table, table, table], "bleu").clusters == ((0, 1, 2),)
    assert rank([], "bleu").clusters == ()


def test_what_cannot_be_ranked_is_refused() -> None:
    tables = systems([0.2, 0.4], entries=20)
    with pytest.raises(ValueError, match="no run is better"):
        rank(tables, "length_ratio")
    with pytest.raises(ValueError, match="same entries"):
        rank([tables[0], tables[1].rows(range(5))], "ter")
    with pytest.raises(ValueError, match="same inputs"):
        rank([tables[0], tables[1].only({"exact_match_rate"})], "composite")
    empty = Scorer(surface_metrics(has_variants=False))
    nothing = empty.table([dict.fromkeys(empty.ids)] * 4)
    with pytest.raises(ValueError, match="no value"):
        rank([nothing, nothing], "chrf_plus_plus")


def test_draws_without_a_value_are_left_out() -> None:
    one, other = matches([1] * 40, [0] * 40)
    for table in (one, other):
        table.matrix[6:] = 0
    assert np.isnan(drawn_values([one, other], "exact_match_rate", 2000)[1]).any()
    assert rank([other, one], "exact_match_rate", draws=2000).clusters == ((1,), (0,))
