"""Paired tests and intervals against sacreBLEU, scipy and enumeration; Holm's correction; the ±2 % verdict."""

from __future__ import annotations

import random
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import (
    PairedTest,
    _bootstrap_resample,  # estimate_ci tells its percentiles, not its draws
)

from scoring.core.inventory import composite, composites
from scoring.core.metric import RateMetric, Statistics, Table
from scoring.core.scorer import Scorer
from scoring.core.setup import Translation
from scoring.core.specification import metric_info
from scoring.metrics.chrf_bleu import Bleu
from scoring.metrics.inventory import surface_metrics
from scoring.metrics.match_ter import EquivalentMatch, ExactMatch
from scoring.statistics.intervals import LiveIntervals, bootstrap, poisson_counts, resample, wilson, wilson_intervals
from scoring.statistics.repetitions import verdict
from scoring.statistics.significance import Difference, compare, difference_intervals, flipped, holm, resamples
from tests.harness.sealed.refusals import refuses
from tests.review.thorough import examples, times
from tests.scoring.late import stats
from tests.scoring.samples import ALPHABETS, corpus, matches, translations, worse

SCORER = Scorer(surface_metrics(tokenizer="13a", has_variants=True))
NAMES = {"chrf_plus_plus": "chrF2++", "bleu": "BLEU", "ter": "TER"}
"""Our metrics by sacreBLEU's names."""


def two_systems(entries: int, seed: int = 4) -> tuple[list[Translation], list[Translation]]:
    rng = random.Random(seed)
    items = corpus(ALPHABETS["roman with circumflex"], entries, seed)
    first = [Translation(item, worse(item.reference, rng)) for item in items]
    second = [
        Translation(item, item.reference if rng.random() < 0.05 else worse(item.reference, rng)) for item in items
    ]
    return first, second


def tables(entries: int, seed: int = 4) -> tuple[Table, Table]:
    first, second = two_systems(entries, seed)
    return SCORER.table(SCORER.statistics(first)), SCORER.table(SCORER.statistics(second))


def test_both_tests_are_sacrebleus() -> None:
    first, second = two_systems(times(70, 300))
    references = [[each.entry.reference for each in first]]
    rows, others = (SCORER.table(SCORER.statistics(run)) for run in (first, second))
    ours, ties = compare(rows, others), shares_of_ties(rows, others)
    draws = resamples((rows, others), 1000, 12345)[1]
    named = [("A", [t.output for t in first]), ("B", [t.output for t in second])]
    oracle = {"chrf_plus_plus": CHRF(word_order=2), "bleu": BLEU(), "ter": TER()}
    _, bootstrap = PairedTest(named, oracle, references, test_type="bs")()  # type: ignore[arg-type]
    _, shuffles = PairedTest(named, oracle, references, test_type="ar", n_samples=2_000)()  # type: ignore[arg-type]
    for id_, name in NAMES.items():
        found, theirs = ours[id_], bootstrap[name][1]
        assert found.second == pytest.approx(theirs.score, abs=1e-9), id_
        assert found.p_bootstrap == pytest.approx(theirs.p_value, abs=3.1 / 1001), id_
        drawn = np.sort(draws.values(draws.matrix)[id_])  # their interval is half of this width
        assert (drawn[974] - drawn[25]) / 2 == pytest.approx(theirs.ci, abs=1e-4), id_
        p = shuffles[name][1].p_value
        error = (p * (1 - p) * (1 / 2_000 + 1 / 10_000)) ** 0.5
        assert found.p_randomisation - ties[id_] == pytest.approx(p, abs=4 * error + 1e-3), id_


def shares_of_ties(rows: Table, others: Table) -> dict[str, float]:
    """How many shuffles are exactly as far apart as the runs: they count here, and not for sacreBLEU."""
    moved = flipped(others.matrix - rows.matrix, 10_000, 12345)
    one, other = rows.values(rows.totals() + moved), rows.values(others.totals() - moved)
    first, second = rows.corpus_values(), others.corpus_values()
    apart = {id_: abs((second[id_] or 0.0) - (first[id_] or 0.0)) for id_ in NAMES}
    shuffled = {id_: np.abs(other[id_] - one[id_]) for id_ in NAMES}
    return {id_: float(np.mean(np.abs(shuffled[id_] - apart[id_]) < 1e-9)) for id_ in NAMES}


def test_shuffles_agree_with_all_shuffles_there_are() -> None:
    rows, others = tables(7, seed=2)
    found = compare(rows, others, trials=10_000)
    first, second = rows.matrix, others.matrix
    for id_ in ("chrf_plus_plus", "ter", "exact_match_rate"):
        apart = []
        for swaps in product((False, True), repeat=7):
            mask = np.array(swaps)[:, None]
            one = np.where(mask, second, first).sum(axis=0, keepdims=True)
            other = np.where(mask, first, second).sum(axis=0, keepdims=True)
            apart.append(float((rows.values(other)[id_] - rows.values(one)[id_])[0]))
        seen = abs(found[id_].difference)
        exact = np.mean([abs(value) >= seen - 1e-9 for value in apart])
        assert found[id_].p_randomisation == pytest.approx(exact, abs=0.024), id_


def test_right_and_wrong_is_the_exact_sign_test() -> None:
    for wins, losses in [(1, 0), (5, 0), (9, 1), (30, 14)]:
        first = [0] * wins + [1] * losses + [1] * 20
        second = [1] * wins + [0] * losses + [1] * 20
        found = compare(*matches(first, second), trials=20_000)["exact_match_rate"]
        exact = stats.binomtest(wins, wins + losses).pvalue
        assert found.p_randomisation == pytest.approx(exact, abs=0.016)
        assert (found.wins, found.losses, found.ties) == (wins, losses, 20)


def test_alike_runs_and_single_entries_prove_nothing() -> None:
    found = compare(*matches([1] * 99 + [0], [1] * 100))["exact_match_rate"]
    assert (found.p_randomisation, found.ahead) == (1.0, "second")
    assert not found.significant
    assert found.better is None
    rows, _ = tables(80)
    for id_, found in compare(rows, rows).items():
        assert (found.difference, found.lower, found.upper) == (0, 0, 0), id_
        assert found.p_bootstrap == found.p_randomisation == 1.0, id_
        assert found.better is None
        assert found.ahead is None
    found = compare(*matches([0] * 200, [1] * 200), draws=100, trials=200)["exact_match_rate"]
    assert (found.p_bootstrap, found.p_randomisation) == (1 / 101, 1 / 201)
    assert found.better == "second"


@examples(5, 30)
@given(st.integers(1, 30), st.integers(0, 10_000))
def test_the_other_way_round_is_the_mirror_image(entries: int, seed: int) -> None:
    rows, others = tables(entries, seed)
    there = compare(rows, others, draws=100, trials=300)
    back = compare(others, rows, draws=100, trials=300)
    assert list(there) == list(back)
    for id_, found in there.items():
        mirror = back[id_]
        assert mirror.difference == pytest.approx(-found.difference, abs=1e-9)
        assert (mirror.lower, mirror.upper) == pytest.approx((-found.upper, -found.lower), abs=1e-9)
        assert (mirror.wins, mirror.losses, mirror.ties) == (found.losses, found.wins, found.ties)
        assert mirror.p_bootstrap == pytest.approx(found.p_bootstrap, abs=0.011)
        assert mirror.p_randomisation == pytest.approx(found.p_randomisation, abs=0.011)
        assert found.lower <= found.difference <= found.upper
        assert {found.better, mirror.better} in ({None}, {"first", "second"})


def test_the_composite_is_tested_from_the_same_draws() -> None:
    rows, others = tables(60)
    found = compare(rows, others, draws=200)["composite"]
    singles = []
    for drawn in resamples((rows, others), 200):
        arrays = drawn.values(drawn.matrix)
        values = [{id_: float(v[draw]) for id_, v in arrays.items()} for draw in range(200)]
        singles.append(np.array([composite(each).value for each in values], dtype=float))
    expected = np.percentile(singles[1] - singles[0], [2.5, 97.5])
    assert (found.lower, found.upper) == pytest.approx(tuple(expected))
    whole = [composite(table.corpus_values()).value for table in (rows, others)]
    assert (found.first, found.second) == pytest.approx(tuple(map(float, filter(None, whole))))


class Half(RateMetric):
    """A metric of the composite that only some runs have."""

    info = metric_info("semantic_score")
    signature = "half"

    def stats(self, translation: Translation) -> Statistics | None:
        return (1, 2) if "seen" in translation.output else None


def test_composites_of_other_inputs_are_not_compared() -> None:
    scorer = Scorer([ExactMatch(), Half()])
    both = [translations(texts, ["a"] * 12) for texts in (["a seen"] * 12, ["a"] * 12)]
    one, other = (scorer.table(scorer.statistics(run)) for run in both)
    assert set(compare(one, other)) == {"exact_match_rate"}
    assert set(compare(one, one)) == {"exact_match_rate", "semantic_score", "composite"}


def test_effect_size_is_that_of_the_paired_t_test() -> None:
    rows, others = tables(150)
    found = compare(rows, others)
    own = [table.entry_values()["chrf_plus_plus"] for table in (rows, others)]
    t = float(stats.ttest_rel(own[1], own[0]).statistic)
    assert found["chrf_plus_plus"].effect_size == pytest.approx(t / 150**0.5)
    assert found["bleu"].effect_size is None
    assert found["bleu"].wins + found["bleu"].losses + found["bleu"].ties == 0
    assert compare(*matches([0] * 5, [1] * 5))["exact_match_rate"].effect_size is None
    assert compare(*matches([1, 0] * 5, [1, 0] * 5))["exact_match_rate"].effect_size == 0.0


def test_direction_follows_the_metric_and_length_has_none() -> None:
    texts = ["a b c d e f", "a b c x y z"]
    made = [translations([text] * 40, ["a b c d e f"] * 40) for text in texts]
    good, bad = (SCORER.table(SCORER.statistics(run)) for run in made)
    found = compare(good, bad, draws=200, trials=500)
    assert found["ter"].difference > 0
    assert found["ter"].better == found["chrf_plus_plus"].better == "first"
    assert (found["ter"].wins, found["ter"].losses) == (0, 40)
    made = [translations([text] * 40, ["abcdefghij"] * 40) for text in ("abcdefghij", "abcd")]
    one, other = (SCORER.table(SCORER.statistics(run)) for run in made)
    ratio = compare(one, other, draws=200, trials=500)["length_ratio"]
    assert ratio.significant
    assert (ratio.ahead, ratio.better) == (None, None)
    assert (ratio.wins, ratio.losses) == (0, 40)


@pytest.mark.thorough
def test_alike_methods_are_seldom_told_apart_and_unlike_ones_often() -> None:
    """500 comparisons of 60 entries: at most 5 % findings where there is nothing, with room for chance."""
    rng = np.random.default_rng(3)
    alarms = found = 0
    for _ in range(500):
        one = (rng.random(60) < 0.5).astype(int).tolist()
        same, better = ((rng.random(60) < share).astype(int).tolist() for share in (0.5, 0.8))
        first, second, third = matches(one, same, better)
        alarms += compare(first, second, draws=200, trials=500)["exact_match_rate"].significant
        found += compare(first, third, draws=200, trials=500)["exact_match_rate"].significant
    assert alarms <= 37  # 5 % of 500 and 2.5 standard errors
    assert found >= 425


def test_one_rule_decides() -> None:
    def made(lower: float, p_bootstrap: float, p_randomisation: float) -> Difference:
        return Difference(1, 2, 1, lower, 2, p_bootstrap, p_randomisation, 1, 1, 0, 0, "higher")

    assert made(0.1, 0.049, 0.049).better == "second"
    assert made(0.0, 0.001, 0.001).better is None
    assert made(0.1, 0.05, 0.001).better is None
    assert made(0.1, 0.001, 0.05).better is None


def test_what_does_not_fit_together_is_refused() -> None:
    rows, others = tables(8)
    refuses(ValueError, "same entries", compare, rows, others.rows(range(7)))
    refuses(ValueError, "same metrics", compare, rows, others.only({"ter"}))
    parts = {id_: (each.lower, each.upper) for id_, each in compare(rows, others).items()}
    assert difference_intervals(rows, others) == parts
    assert compare(rows.rows([]), others.rows([])) == {}
    assert difference_intervals(rows.rows([]), others.rows([])) == {}
    scorer = Scorer([EquivalentMatch(has_variants=False)])
    empty = scorer.table(scorer.statistics(translations(["a"] * 3, ["a"] * 3)))
    assert compare(empty, empty) == {}


def test_coins_are_fair_and_the_same_where_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = np.eye(21)
    thrown = flipped(matrix, 4000, 5)
    assert set(np.unique(thrown)) == {0.0, 1.0}
    assert thrown.mean(axis=0) == pytest.approx(np.full(21, 0.5), abs=0.04)
    assert np.abs(np.corrcoef(thrown.T) - np.eye(21)).max() < 0.08
    monkeypatch.setattr("scoring.statistics.significance.MOST_KEPT", 0)
    assert (flipped(matrix, 4000, 5) == thrown).all()
    matrix[3] = 0
    assert (flipped(matrix, 4000, 5)[:, [0, 20]] == thrown[:, [0, 20]]).all()


def test_shuffles_tell_nothing_of_another_and_sums_are_exact() -> None:
    signs = 2 * flipped(np.eye(900), 250, 5) - 1
    alike = signs @ signs.T / 900
    assert np.abs(alike - np.eye(250)).max() < 6 / 900**0.5
    matrix = np.array([[2.0**24 + 1, 1 / 3], [1.0, 0.1]])
    heads = flipped(np.eye(2), 64, 9)
    assert flipped(matrix, 64, 9) == pytest.approx(heads @ matrix, rel=1e-15)


def test_holm_is_that_of_the_textbook_and_leaves_one_alone() -> None:
    assert holm([0.01, 0.02, 0.03, 0.04, 0.05]) == pytest.approx([0.05, 0.08, 0.09, 0.09, 0.09])
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert (holm([0.031]), holm([])) == ([0.031], [])
    for wrong in (-0.1, 1.1, float("nan")):
        refuses(ValueError, "between 0 and 1", holm, [0.5, wrong])


@examples(30, 100)
@given(st.lists(st.floats(0, 1), max_size=5))
def test_it_is_the_closure_of_bonferroni(p_values: list[float]) -> None:
    """A hypothesis falls where every set of hypotheses with it falls by Bonferroni's rule."""
    places = range(len(p_values))
    families = [f for size in range(1, 6) for f in combinations(places, size)]
    for place, found in zip(places, holm(p_values), strict=True):
        closed = max(min(1.0, len(f) * min(p_values[i] for i in f)) for f in families if place in f)
        assert found == pytest.approx(closed)


def test_reproduction_holds_within_two_percent() -> None:
    for claimed, repeated, within in [
        (50.0, 51.0, True), (50.0, 49.0, True), (50.0, 51.001, False), (50.0, 48.999, False),
        (0.7, 0.714, True), (0.7, 0.686, True), (0.7, 0.7141, False), (0.0, 0.0, True), (0.0, 0.001, False),
    ]:  # fmt: skip
        found = verdict({"composite": claimed}, {"composite": repeated})
        assert found.reproduced is within
        assert found.outside == (() if within else ("composite",))
    stated = {"composite": 0.5, "chrf_plus_plus": 60.0, "bleu": 20.0}
    found = verdict(stated, {"composite": 0.505, "chrf_plus_plus": 60.0, "bleu": 25.0})
    assert found.reproduced is True
    assert (found.outside, found.deviations["bleu"].share) == (("bleu",), pytest.approx(0.25))
    assert verdict(stated, {**stated, "chrf_plus_plus": 58.0}).reproduced is False
    found = verdict(stated, {"chrf_plus_plus": 60.0, "bleu": 20.0, "composite": None})
    assert found.reproduced is False
    assert found.missing == ("composite",)
    assert verdict({"bleu": 20.0}, {"bleu": 20.0}).reproduced is None
    assert verdict({}, {}).reproduced is None
    assert verdict({"composite": 0.0}, {"composite": 0.1}).deviations["composite"].share is None


def one_table(entries: int, seed: int = 4) -> Table:
    return tables(entries, seed)[0]


def test_draws_are_sacrebleus_whatever_the_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    for id_, oracle in [("chrf_plus_plus", CHRF(word_order=2)), ("bleu", BLEU()), ("ter", TER())]:
        rows = one_table(150)
        stored = rows.columns(id_).astype(int).tolist()
        _, theirs = _bootstrap_resample(stored, oracle, 1000)
        ours = rows.values(resample(rows.matrix, 1000, 12345))[id_]
        assert ours == pytest.approx([score.score for score in theirs], abs=2e-5)
    matrix = one_table(70).matrix
    whole = resample(matrix, 101, 3)
    monkeypatch.setattr("scoring.statistics.intervals.MOST_KEPT", 0)
    monkeypatch.setattr("scoring.statistics.intervals.BLOCK", 200)
    assert (resample(matrix, 101, 3) == whole).all()


def test_sums_are_exact_where_single_precision_would_not_be() -> None:
    large = np.array([[2.0**24 + 1, 1 / 3], [1.0, 2.0]])
    drawn = np.random.default_rng(8).integers(0, 2, (50, 2))
    assert resample(large, 50, 8) == pytest.approx(large[drawn].sum(axis=1), rel=1e-15)
    assert (resample(large[:, :1], 50, 8)[:, 0] == large[drawn, 0].sum(axis=1)).all()


def test_intervals_record_how_they_were_made() -> None:
    found = bootstrap(one_table(40), draws=200, seed=7, level=0.9)
    assert set(found) == {metric.info.id for metric in SCORER.metrics} | {"composite"}
    interval = found["composite"]
    assert (interval.level, interval.draws, interval.seed) == (0.9, 200, 7)
    assert interval.method == "percentile bootstrap"
    assert bootstrap(one_table(40), draws=200, seed=7, level=0.9) == found


def test_composite_is_resampled_with_all_its_inputs() -> None:
    rows = one_table(60)
    sums = resample(rows.matrix, 300, 12345)
    arrays = rows.values(sums)
    singles = [composite({id_: float(values[draw]) for id_, values in arrays.items()}).value for draw in range(300)]
    interval = bootstrap(rows, draws=300)["composite"]
    expected = np.percentile(np.array(singles, dtype=float), [2.5, 97.5])
    assert (interval.lower, interval.upper) == pytest.approx(tuple(expected))


@examples(8, 40)
@given(st.integers(1, 40), st.integers(0, 10_000))
def test_point_estimates_lie_inside(entries: int, seed: int) -> None:
    rows = one_table(entries, seed)
    values = rows.corpus_values()
    values["composite"] = composite(values).value
    one_draw = bootstrap(rows, draws=1)  # seldom holds the point by itself
    for id_, interval in [*bootstrap(rows, draws=100).items(), *one_draw.items()]:
        value = values[id_]
        assert value is not None
        assert interval.lower <= value <= interval.upper


def test_all_right_is_degenerate_and_no_entries_have_no_interval() -> None:
    rows = SCORER.table(SCORER.statistics(translations(["a b c d"] * 20, ["a b c d"] * 20)))
    found = bootstrap(rows)
    assert (found["exact_match_rate"].lower, found["exact_match_rate"].upper) == (1.0, 1.0)
    assert wilson_intervals(rows)["exact_match_rate"].lower < 0.9
    assert (bootstrap(one_table(0)), wilson_intervals(one_table(0))) == ({}, {})
    assert LiveIntervals(SCORER.metrics).intervals() == {}
    narrow, wide = (bootstrap(one_table(640))["chrf_plus_plus"], bootstrap(one_table(40))["chrf_plus_plus"])
    ratio = (wide.upper - wide.lower) / (narrow.upper - narrow.lower)
    assert 2.5 < ratio < 6.5


def test_wilson_is_scipys() -> None:
    for right, total in [(0, 10), (3, 10), (41, 62), (500, 1000), (7, 7)]:
        interval = wilson(right, total)
        theirs = stats.binomtest(right, total).proportion_ci(method="wilson")
        assert (interval.lower, interval.upper) == pytest.approx((theirs.low, theirs.high))


class WordRate(RateMetric):
    """Five words an entry; a one in the output says that they are right."""

    info = metric_info("orthographic_accuracy")
    signature = "words:5"

    def stats(self, translation: Translation) -> Statistics:
        return (5 * translation.output.count("1"), 5)


def test_wilson_over_words_of_entries_is_too_narrow() -> None:
    """Of many corpora of 30 entries the interval over words misses the truth ten times too often."""
    count = times(80, 400)
    rng, truth, missed = random.Random(9), 0.6, {"words": 0, "entries": 0}
    scorer = Scorer([WordRate()])
    for seed in range(count):
        outputs = ["1" if rng.random() < truth else "0" for _ in range(30)]
        rows = scorer.table(scorer.statistics(translations(outputs, ["x"] * 30)))
        assert wilson_intervals(rows) == {}
        over_words = wilson(*rows.columns("orthographic_accuracy").sum(axis=0))
        over_entries = bootstrap(rows, draws=200, seed=seed)["orthographic_accuracy"]
        missed["words"] += not over_words.lower <= truth <= over_words.upper
        missed["entries"] += not over_entries.lower <= truth <= over_entries.upper
    assert missed["words"] > count * 0.2
    assert missed["entries"] < count * 0.1


def test_live_intervals_agree_with_the_exact_ones() -> None:
    statistics = SCORER.statistics(two_systems(400, 5)[0])
    live = LiveIntervals(SCORER.metrics, draws=1000)
    for start in range(0, len(statistics), 7):
        live.add(SCORER.table(statistics[start : start + 7]))
    exact = bootstrap(SCORER.table(statistics))
    for id_, interval in live.intervals().items():
        width = exact[id_].upper - exact[id_].lower
        assert interval.lower == pytest.approx(exact[id_].lower, abs=width / 4), id_
        assert interval.upper == pytest.approx(exact[id_].upper, abs=width / 4), id_
        assert interval.method == "Poisson bootstrap"


def test_weights_of_live_draws_are_poisson() -> None:
    """Against the probabilities of scipy; and whatever the block, entries are weighed apart."""
    counts = poisson_counts(np.random.default_rng(3), 200, 1000)
    seen = np.bincount(counts.ravel().astype(int), minlength=6)
    expected = stats.poisson.pmf(np.arange(6), 1) * counts.size
    grouped = [*expected[:5], counts.size - expected[:5].sum()]
    assert stats.chisquare([*seen[:5], seen[5:].sum()], grouped)[1] > 0.01
    assert abs(np.corrcoef(counts[:, :20].T) - np.eye(20)).max() < 0.3


def test_without_a_value_there_is_no_interval() -> None:
    metrics: Any = surface_metrics(tokenizer="13a", has_variants=False)
    scorer = Scorer(metrics)
    rows = scorer.table(scorer.statistics(translations(["a", "b"], ["a", "c"])))
    assert "equivalent_match_rate" not in bootstrap(rows)
    for metrics, ids in (
        ([Bleu("martian")], set()), ([EquivalentMatch(has_variants=False)], set()),
        ([Bleu()], {"bleu"}), ([], set()),
    ):  # fmt: skip
        scorer, live = Scorer(metrics), LiveIntervals(metrics)
        live.add(scorer.table([]))
        assert live.intervals() == {}
        statistics = scorer.statistics(translations(["a b c d e"] * 3, ["a b c d f"] * 3))
        live.add(scorer.table(statistics))
        assert set(bootstrap(scorer.table(statistics))) == set(live.intervals()) == ids
    values = {"exact_match_rate": np.array([1.0, np.nan]), "chrf_plus_plus": np.array([50.0, 50.0])}
    drawn = composites(values, "B", complete=True)
    assert drawn[0] == pytest.approx((0.1 + 0.125) / 0.35)
    assert np.isnan(drawn[1])


def test_running_rate_of_none_or_all_has_wilsons_interval() -> None:
    for right, ends in ((1, (0.8389, 1.0)), (0, (0.0, 0.1611))):
        live = LiveIntervals([ExactMatch()])
        live.add(matches([right] * 20)[0])
        found = live.intervals()["exact_match_rate"]
        assert found.method == "Wilson"
        assert (found.lower, found.upper) == pytest.approx(ends, abs=1e-4)
