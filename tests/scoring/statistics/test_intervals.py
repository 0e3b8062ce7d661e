"""Intervals against sacreBLEU's resamples, scipy's Wilson interval, and their own properties."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import (
    _bootstrap_resample,  # estimate_ci tells its percentiles, not its draws
)
from scipy.stats import binomtest, chisquare, poisson

from corpora.model.entry import Entry
from scoring.core.composite import composite, composites
from scoring.core.metric import RateMetric, Statistics
from scoring.core.scorer import Scorer
from scoring.core.specification import metric_info
from scoring.core.table import Table
from scoring.core.translation import Translation
from scoring.metrics.bleu import Bleu
from scoring.metrics.inventory import surface_metrics
from scoring.metrics.match import EquivalentMatch, ExactMatch
from scoring.statistics.intervals import (
    LiveIntervals,
    bootstrap,
    poisson_counts,
    resample,
    wilson,
    wilson_intervals,
)
from tests.review.thorough import examples, times
from tests.scoring.samples import ALPHABETS, corpus, translations, worse

METRICS = surface_metrics(tokenizer="13a", has_variants=True)
SCORER = Scorer(METRICS)


def table(entries: int, seed: int = 4) -> Table:
    rng = random.Random(seed)
    items = [
        Translation(item, worse(item.reference, rng))
        for item in corpus(ALPHABETS["roman with circumflex"], entries, seed)
    ]
    return SCORER.table(SCORER.statistics(items))


def test_draws_are_sacrebleus_whatever_the_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    for id_, oracle in [("chrf_plus_plus", CHRF(word_order=2)), ("bleu", BLEU()), ("ter", TER())]:
        rows = table(150)
        stored = rows.columns(id_).astype(int).tolist()
        _, theirs = _bootstrap_resample(stored, oracle, 1000)
        ours = rows.values(resample(rows.matrix, 1000, 12345))[id_]
        assert ours == pytest.approx([score.score for score in theirs], abs=2e-5)
    matrix = table(70).matrix
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
    found = bootstrap(table(40), draws=200, seed=7, level=0.9)
    assert set(found) == {metric.info.id for metric in METRICS} | {"composite"}
    interval = found["composite"]
    assert (interval.level, interval.draws, interval.seed) == (0.9, 200, 7)
    assert interval.method == "percentile bootstrap"
    assert bootstrap(table(40), draws=200, seed=7, level=0.9) == found


def test_composite_is_resampled_with_all_its_inputs() -> None:
    rows = table(60)
    sums = resample(rows.matrix, 300, 12345)
    arrays = rows.values(sums)
    singles = [
        composite({id_: float(values[draw]) for id_, values in arrays.items()}).value
        for draw in range(300)
    ]
    interval = bootstrap(rows, draws=300)["composite"]
    expected = np.percentile(np.array(singles, dtype=float), [2.5, 97.5])
    assert (interval.lower, interval.upper) == pytest.approx(tuple(expected))


@examples(10, 40)
@given(st.integers(1, 40), st.integers(0, 10_000))
def test_point_estimates_lie_inside(entries: int, seed: int) -> None:
    rows = table(entries, seed)
    values = rows.corpus_values()
    values["composite"] = composite(values).value
    for id_, interval in bootstrap(rows, draws=100).items():
        value = values[id_]
        assert value is not None
        assert interval.lower <= value <= interval.upper


def test_point_estimates_lie_inside_without_widening_on_ordinary_corpora() -> None:
    rows = table(300)
    values = rows.corpus_values()
    drawn = rows.values(resample(rows.matrix, 1000, 12345))
    for id_, value in values.items():
        lower, upper = np.percentile(drawn[id_], [2.5, 97.5])
        assert value is not None
        assert lower < value < upper, id_


def test_all_right_is_degenerate_and_no_entries_have_no_interval() -> None:
    rows = SCORER.table(SCORER.statistics(translations(["a b c d"] * 20, ["a b c d"] * 20)))
    found = bootstrap(rows)
    assert (found["exact_match_rate"].lower, found["exact_match_rate"].upper) == (1.0, 1.0)
    assert wilson_intervals(rows)["exact_match_rate"].lower < 0.9
    assert (bootstrap(table(0)), wilson_intervals(table(0))) == ({}, {})
    assert LiveIntervals(METRICS).intervals() == {}
    narrow, wide = bootstrap(table(1600))["chrf_plus_plus"], bootstrap(table(100))["chrf_plus_plus"]
    ratio = (wide.upper - wide.lower) / (narrow.upper - narrow.lower)
    assert 2.5 < ratio < 6.5


@pytest.mark.parametrize(("right", "total"), [(0, 10), (3, 10), (41, 62), (500, 1000), (7, 7)])
def test_wilson_is_scipys(right: int, total: int) -> None:
    interval = wilson(right, total)
    theirs = binomtest(right, total).proportion_ci(method="wilson")
    assert (interval.lower, interval.upper) == pytest.approx((theirs.low, theirs.high))


class WordRate(RateMetric):
    """Five words an entry; a one in the output says that they are right."""

    info = metric_info("orthographic_accuracy")
    signature = "words:5"

    def stats(self, translation: Translation) -> Statistics:
        return (5 * translation.output.count("1"), 5)


def test_wilson_over_words_of_entries_is_too_narrow() -> None:
    """Of many corpora of 30 entries the interval over words misses the truth ten times too often."""
    count = times(150, 400)
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
    assert missed["words"] > count * 0.3
    assert missed["entries"] < count * 0.1


def test_live_intervals_agree_with_the_exact_ones() -> None:
    rng = random.Random(5)
    items = [
        Translation(item, worse(item.reference, rng))
        for item in corpus(ALPHABETS["syllabics"], 600, 5)
    ]
    statistics = SCORER.statistics(items)
    live = LiveIntervals(METRICS, draws=1000)
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
    expected = poisson.pmf(np.arange(6), 1) * counts.size
    assert (
        chisquare([*seen[:5], seen[5:].sum()], [*expected[:5], counts.size - expected[:5].sum()])[1]
        > 0.01
    )
    assert abs(np.corrcoef(counts[:, :20].T) - np.eye(20)).max() < 0.3


def test_without_a_value_there_is_no_interval() -> None:
    metrics: Any = surface_metrics(tokenizer="13a", has_variants=False)
    scorer = Scorer(metrics)
    rows = scorer.table(scorer.statistics(translations(["a", "b"], ["a", "c"])))
    assert "equivalent_match_rate" not in bootstrap(rows)
    for metrics, ids in (
        ([Bleu("martian")], set()),
        ([EquivalentMatch(has_variants=False)], set()),
        ([Bleu()], {"bleu"}),
        ([], set()),
    ):
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


@pytest.mark.parametrize("right", [False, True])
def test_running_rate_of_none_or_all_has_wilsons_interval(right: bool) -> None:
    live = LiveIntervals([ExactMatch()])
    scorer = Scorer([ExactMatch()])
    texts = [
        Translation(Entry(id=n, source="a", reference="b"), "b" if right else "c")
        for n in range(20)
    ]
    live.add(scorer.table(scorer.statistics(texts)))
    found = live.intervals()["exact_match_rate"]
    assert found.method == "Wilson"
    assert (found.lower, found.upper) == pytest.approx(
        (0.8389, 1.0) if right else (0.0, 0.1611), abs=1e-4
    )
