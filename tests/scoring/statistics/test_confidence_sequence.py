"""Looking at any time: the capital of bets, races of set-ups; and clusters of systems by pairwise findings."""

from __future__ import annotations

import random
from itertools import pairwise, permutations
from math import exp, inf, log

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scoring.core.metric import FloatArray, Table
from scoring.core.scorer import Scorer
from scoring.core.setup import Translation
from scoring.core.specification import metric_info
from scoring.metrics.inventory import surface_metrics
from scoring.statistics.clusters import Ranking, clusters, drawn_values, rank
from scoring.statistics.racing import (
    WAGERS,
    ConfidenceSequence,
    Race,
    enough,
    highest_log_capital,
    log_capital,
    power_sums,
    shuffled,
    span_of,
)
from scoring.statistics.significance import compare
from tests.harness.sealed.refusals import refuses
from tests.review.thorough import examples, first, times
from tests.scoring.samples import ALPHABETS, corpus, matches, worse

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
    likely = np.clip(np.random.default_rng(1).normal(0.04, 0.15, 500), -1, 1)
    exact = exact_log_capital(likely, 0.0)  # and hardly less of what is likely
    assert float(log_capital(power_sums(likely)[-1], 0.0)) == pytest.approx(exact, rel=0.06, abs=0.25)


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
        refuses(ValueError, "bounded", ConfidenceSequence, span, level=level)
    with pytest.raises(ValueError, match="larger than 1"):
        ConfidenceSequence(1.0).add([1.5])


SCORER = Scorer(surface_metrics(tokenizer="13a", has_variants=True))


def systems(shares: list[float], entries: int = 150) -> list[Table]:
    """Runs of which a share of the outputs is right, the rest noisy."""
    made = []
    for number, share in enumerate(shares):
        rng, outputs = random.Random(number), []
        for item in corpus(ALPHABETS["syllabics"], entries):
            text = item.reference if rng.random() < share else worse(item.reference, rng)
            outputs.append(Translation(item, text))
        made.append(SCORER.table(SCORER.statistics(outputs)))
    return made


def better(*pairs: tuple[int, int], runs: int) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    found = np.zeros((runs, runs), dtype=bool)
    found[tuple(np.array(pairs, dtype=int).reshape(-1, 2).T)] = True
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


def test_runs_alike_share_a_cluster_and_unlike_tables_are_refused() -> None:
    tables = systems([0.2, 0.4], entries=20)
    assert rank([tables[0]] * 3, "bleu").clusters == ((0, 1, 2),)
    assert rank([], "bleu").clusters == ()
    refuses(ValueError, "no run is better", rank, tables, "length_ratio")
    refuses(ValueError, "same entries", rank, [tables[0], tables[1].rows(range(5))], "ter")
    refuses(ValueError, "same inputs", rank, [tables[0], tables[1].only({"exact_match_rate"})], "composite")
    empty = Scorer(surface_metrics(has_variants=False))
    nothing = empty.table([dict.fromkeys(empty.ids)] * 4)
    refuses(ValueError, "no value", rank, [nothing, nothing], "chrf_plus_plus")


def test_draws_without_a_value_are_left_out() -> None:
    one, other = matches([1] * 40, [0] * 40)
    for table in (one, other):
        table.matrix[6:] = 0
    assert np.isnan(drawn_values([one, other], "exact_match_rate", 2000)[1]).any()
    assert rank([other, one], "exact_match_rate", draws=2000).clusters == ((1,), (0,))


def capitals(differences: list[float], mean: float, entries: int) -> list[float]:
    """What bets on more than ``mean`` make of 1, after each difference, bet by bet."""
    purses = [1 / len(WAGERS)] * len(WAGERS)
    history, total = [1.0], 0.0
    for seen, each in enumerate(differences):
        rest = (entries * mean - total) / (entries - seen)
        for place, wager in enumerate(WAGERS):
            purses[place] *= 1 + min(wager, 0.95 / (1 + rest)) * (each - rest)
        total += each
        history.append(sum(purses))
    return history


def test_capital_is_that_of_single_bets_and_one_on_average() -> None:
    seen = [0.3, -0.2, 0.5, 0.1, 0.0, 0.4]
    for mean in (-0.4, 0.0, 0.2):
        expected = max(capitals(seen, mean, 20)[1:])
        assert exp(highest_log_capital(np.array(seen), mean, 20)) == pytest.approx(expected)
    # the proof's heart, by enumeration: against the true mean no time has more than 1 on average
    values = [0.5, -0.5, 0.25, -0.25, 0.1, -0.1]
    histories = np.array([capitals(list(order)[:5], 0.0, 6) for order in permutations(values)])
    assert histories.mean(axis=0) == pytest.approx(np.ones(6))
    assert highest_log_capital(np.array([1.0, 1.0, 1.0]), 0.0, 5) == inf
    assert highest_log_capital(np.array([1.0, 1.0]), 0.0, 4) < inf  # two losses would make it even


def raced(values: FloatArray, block: int = 10, level: float = 0.95) -> Race:
    """Race rows of composites over their columns, in the order in which they stand."""
    race = Race([str(row) for row in range(len(values))], values.shape[1], level=level)
    for start in range(0, values.shape[1], block):
        race.add({name: values[int(name), start : start + block].tolist() for name in race.running})
    return race


def drawn(random: np.random.Generator, setups: int, spread: float) -> FloatArray:
    means = random.normal(0.5, spread, (setups, 1))
    return np.clip(means + random.normal(0, 0.15, 150) + random.normal(0, 0.15, (setups, 150)), 0, 1)


def test_who_is_stopped_is_behind_in_the_end_and_its_interval_holds() -> None:
    random = np.random.default_rng(1)
    for _ in range(times(3, 200)):
        values = drawn(random, 12, 0.12)
        race = raced(values)
        ends = values.mean(axis=1)
        assert str(ends.argmax()) in race.running
        assert race.out
        for name, out in race.out.items():
            real = ends[int(out.leader)] - ends[int(name)]
            assert 0 < out.lower <= real <= out.upper
            seen = values[int(out.leader), : out.entries] - values[int(name), : out.entries]
            assert out.difference == pytest.approx(seen.mean())
            assert out.entries < 150


def test_equal_set_ups_seldom_lose_one_that_would_have_come_out_ahead() -> None:
    """All pairs together: in races of alike set-ups hardly one is stopped by one that ends behind it."""
    random = np.random.default_rng(2)
    races, wrong = times(8, 2000), 0
    for _ in range(races):
        values = drawn(random, 6, 0.0)
        ends, race = values.mean(axis=1), raced(values, 5, level=0.8)
        wrong += any(ends[int(name)] >= ends[int(out.leader)] for name, out in race.out.items())
    assert wrong <= max(1, 0.2 * races)


def test_what_has_all_entries_is_a_whole_run_and_never_stopped() -> None:
    values = np.vstack([np.full(10, 0.9), np.full(10, 0.1)])
    whole = raced(values, block=10)
    assert whole.running == ("0", "1")
    early = raced(np.repeat(values, 5, axis=1), block=10)
    assert early.running == ("0",)
    assert early.out["1"].entries < 50


def test_the_level_is_shared_by_all_pairs() -> None:
    """With more set-ups in the race the same two need more capital: K (K - 1) ends share alpha."""
    for setups in (2, 12):
        race = Race([str(row) for row in range(setups)], 100)
        needed, ahead = log(setups * (setups - 1) / 0.05), np.full(100, 0.3)
        stop = next(n for n in range(1, 99) if highest_log_capital(ahead[:n], 0.0, 100) >= needed)
        scores = dict.fromkeys(race.running, 0.5) | {"0": 0.8}
        for _ in range(stop - 1):
            race.add({name: [score] for name, score in scores.items()})
        assert not race.out
        race.add({name: [score] for name, score in scores.items()})
        assert len(race.out) == setups - 1
        assert race.leader == "0"


def test_a_set_up_can_leave_without_being_raced_out() -> None:
    race = Race(["a", "b", "c"], 20)
    race.add({"a": [0.5], "b": [0.4], "c": [0.3]})
    race.leave("a")
    assert (race.running, race.leader, race.out) == (("b", "c"), "b", {})
    race.leave("b")
    race.leave("c")
    assert race.add({}) == ()
    refuses(ValueError, "no set-up 'a'", race.leave, "a")


def test_bad_blocks_are_refused_and_leave_the_race_as_it_was() -> None:
    for scores, words in [
        ({"a": [0.5]}, "exactly the set-ups"),
        ({"a": [0.5], "b": [0.5], "c": [0.5]}, "exactly the set-ups"),
        ({"a": [0.5, 0.1], "b": [0.5]}, "same entries"),
        ({"a": [0.5] * 4, "b": [0.5] * 4}, "no more than there are"),
        ({"a": [1.5], "b": [0.5]}, "between 0 and 1"),
        ({"a": [float("nan")], "b": [0.5]}, "empty output"),
    ]:
        race = Race(["a", "b"], 3)
        refuses(ValueError, words, race.add, scores)
        assert (race.seen, race.add({"a": [0.5] * 3, "b": [0.4] * 3})) == (0, ("a", "b"))


def test_race_needs_two_names_and_has_a_seeded_order() -> None:
    for setups, entries, level in [
        (["a"], 5, 0.95), (["a", "a"], 5, 0.95), (["a", "b"], 0, 0.95), (["a", "b"], 5, 1.0),
    ]:  # fmt: skip
        refuses(ValueError, "two set-ups", Race, setups, entries, level=level)
    assert shuffled(50, 3) == shuffled(50, 3) != shuffled(50, 4)
    assert sorted(shuffled(50, 3)) == list(range(50))
