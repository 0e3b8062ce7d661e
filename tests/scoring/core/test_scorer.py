"""Scoring of entries: running values, packing, entry values, ranges, and what may be imported."""

from __future__ import annotations

import random
import subprocess
import sys
from math import inf

import msgpack
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.core.metric import FloatArray, Metric, MetricInfo, Statistics
from scoring.core.scorer import RunningTotals, Scorer
from scoring.core.specification import Tier
from scoring.core.table import StatisticsError
from scoring.core.translation import Translation
from scoring.metrics.chrf import ChrfPlusPlus
from scoring.metrics.inventory import make_metrics, surface_metrics, surface_setup
from scoring.words.resources import Resources
from tests.scoring.samples import ALPHABETS, HOSTILE, corpus, entry, sentences, translations, worse

METRICS = surface_metrics(tokenizer="13a", has_variants=True)
SCORER = Scorer(METRICS)


def outputs_for(alphabet: str, entries: int) -> list[Translation]:
    rng = random.Random(9)
    return [Translation(item, worse(item.reference, rng)) for item in corpus(alphabet, entries)]


@pytest.mark.parametrize("batch", [1, 7, 64])
def test_running_values_equal_the_batch_after_every_step(batch: int) -> None:
    items = outputs_for(ALPHABETS["roman with circumflex"], 140)
    totals = RunningTotals(Scorer(METRICS))
    for start in range(0, len(items), batch):
        totals.add(SCORER.statistics(items[start : start + batch]))
        so_far = items[: start + batch]
        assert totals.values() == SCORER.table(SCORER.statistics(so_far)).corpus_values()
        assert totals.entries == len(so_far)
    assert totals.composite().value is not None


def test_nothing_scored_yet_is_null_everywhere() -> None:
    totals = RunningTotals(Scorer(METRICS))
    assert set(totals.values().values()) == {None}
    assert totals.composite().value is None


def test_packed_statistics_are_small_and_come_back_whole() -> None:
    items = outputs_for(ALPHABETS["syllabics"], 50) + translations(list(HOSTILE), list(HOSTILE))
    for statistics in SCORER.statistics(items):
        assert SCORER.unpack(SCORER.pack(statistics)) == statistics
    typical = [len(SCORER.pack(statistics)) for statistics in SCORER.statistics(items[:50])]
    assert max(typical) <= 90


class Fractions(Metric):
    """A metric with fractional statistics, as embeddings will give."""

    info = MetricInfo("fractions", "Fractions", 0.0, inf, "higher", "this test")
    width = 2

    @property
    def signature(self) -> str:
        return "none"

    def stats(self, translation: Translation) -> Statistics | None:
        return (len(translation.output) / 3, 1) if translation.output else None

    def values(self, totals: FloatArray) -> FloatArray:
        return totals[:, 0] / np.maximum(totals[:, 1], 1)


def test_fractions_and_missing_statistics_pack_exactly() -> None:
    scorer = Scorer([Fractions(), ChrfPlusPlus()])
    for statistics in scorer.statistics(translations(["abcd", ""], ["abc", "abc"])):
        assert scorer.unpack(scorer.pack(statistics)) == statistics
    totals = RunningTotals(scorer)
    totals.add(scorer.statistics(translations(["abcd", ""], ["abc", "abc"])))
    assert totals.values()["fractions"] == 4 / 3


DAMAGED = [b"", b"\xc1", *map(msgpack.packb, (5, None, [[1, 1]], [5], [{}], [["x"]], "text"))]


@pytest.mark.parametrize("data", DAMAGED)
def test_damaged_or_foreign_statistics_are_refused_in_words(data: bytes) -> None:
    with pytest.raises(StatisticsError, match="score the outputs again"):
        SCORER.unpack(data)
    with pytest.raises(StatisticsError, match="score the outputs again"):
        SCORER.unpack_table([data])
    strings = msgpack.packb([["x"] * metric.width for metric in SCORER.metrics])
    with pytest.raises(StatisticsError, match="score the outputs again"):
        SCORER.unpack_table([strings])


def test_entry_values_are_the_metrics_own() -> None:
    item = outputs_for(ALPHABETS["arabic"], 5)[3]
    statistics = SCORER.statistics([item])[0]
    shown = SCORER.entry_values(statistics)
    for metric in METRICS:
        part = statistics[metric.info.id]
        assert shown.values[metric.info.id] == (None if part is None else metric.value(part))


def test_perfect_and_failed_entries() -> None:
    perfect, failed = SCORER.entries_values(
        SCORER.statistics(translations(["tânisi kiya", ""], ["tânisi kiya"] * 2))
    )
    assert (perfect.composite, perfect.quality_tier) == (pytest.approx(1.0), Tier.FLUENT)
    assert (failed.composite, failed.quality_tier) == (0.0, Tier.BASELINE)
    assert failed.values["ter"] == 100.0


def test_default_metrics_follow_the_corpus() -> None:
    plain = make_metrics(Resources(surface_setup("und", "crk", [entry("tânisi")])))
    assert [metric.info.id for metric in plain] == [
        "exact_match_rate", "equivalent_match_rate", "chrf_plus_plus", "bleu", "ter", "length_ratio",
    ]  # fmt: skip
    assert (
        Scorer(plain)
        .entry_values(Scorer(plain).statistics(translations(["tânisi"], ["tânisi"]))[0])
        .values["equivalent_match_rate"]
        is None
    )
    thai = make_metrics(Resources(surface_setup("en", "th", [entry("ภาษาไทย", variants=("ไทย",))])))
    assert "tok:char" in next(m.signature for m in thai if m.info.id == "bleu")


def test_a_metric_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="listed twice"):
        Scorer([ChrfPlusPlus(), ChrfPlusPlus()])


@settings(deadline=None, max_examples=120)
@given(sentences, sentences, st.lists(sentences, max_size=2))
def test_no_text_raises_or_leaves_the_range(
    output: str, reference: str, variants: list[str]
) -> None:
    item = Translation(entry(reference, variants=tuple(variants)), output)
    shown = SCORER.entry_values(SCORER.statistics([item])[0])
    for metric in METRICS:
        value = shown.values[metric.info.id]
        assert value is None or metric.info.low <= value <= metric.info.high + 1e-9
    assert 0.0 <= (shown.composite or 0.0) <= 1.0 + 1e-12


FORBIDDEN = ("sacrebleu", "regex", "scipy", "httpx", "sqlite3", "keyring", "textual", "rich")


def test_import_of_the_scorer_loads_nothing_heavy() -> None:
    code = (
        "import sys, scoring.core.scorer, scoring.card.scorecard\n"
        f"print([name for name in {FORBIDDEN} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
