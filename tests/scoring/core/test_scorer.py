"""The scorer and the composite: running values, ranges, weights, and how tiers and numbers are worded."""

from __future__ import annotations

import random
import subprocess
import sys
from math import inf, nan

import msgpack
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.composite import composite, composites
from scoring.core.metric import FloatArray, Metric, Statistics
from scoring.core.scorer import RunningTotals, Scorer
from scoring.core.specification import MetricInfo, Tier, quality_tier, specification
from scoring.core.table import StatisticsError
from scoring.core.translation import Translation
from scoring.core.wording import minus, percent
from scoring.metrics.chrf import ChrfPlusPlus
from scoring.metrics.inventory import make_metrics, surface_metrics, surface_setup
from scoring.words.resources import Resources
from tests.review.thorough import examples, first, times
from tests.scoring.samples import ALPHABETS, HOSTILE, corpus, entry, sentences, translations, worse

METRICS = surface_metrics(tokenizer="13a", has_variants=True)


SCORER = Scorer(METRICS)


def outputs_for(alphabet: str, entries: int) -> list[Translation]:
    rng = random.Random(9)
    return [Translation(item, worse(item.reference, rng)) for item in corpus(alphabet, entries)]


@pytest.mark.parametrize("batch", first(1, [7, 1, 64]))
def test_running_values_equal_the_batch_after_every_step(batch: int) -> None:
    items = outputs_for(ALPHABETS["roman with circumflex"], times(70, 140))
    totals = RunningTotals(Scorer(METRICS))
    for start in range(0, len(items), batch):
        totals.add(SCORER.statistics(items[start : start + batch]))
        so_far = items[: start + batch]
        assert totals.values() == SCORER.table(SCORER.statistics(so_far)).corpus_values()
        assert totals.entries == len(so_far)
    assert totals.composite().value is not None


def test_packed_statistics_come_back_whole_with_nothing_scored() -> None:
    totals = RunningTotals(Scorer(METRICS))
    assert set(totals.values().values()) == {None}
    assert totals.composite().value is None
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


def test_entry_values_of_perfect_and_failed_entries() -> None:
    item = outputs_for(ALPHABETS["arabic"], 5)[3]
    statistics = SCORER.statistics([item])[0]
    shown = SCORER.entry_values(statistics)
    for metric in METRICS:
        part = statistics[metric.info.id]
        assert shown.values[metric.info.id] == (None if part is None else metric.value(part))
    perfect, failed = SCORER.entries_values(
        SCORER.statistics(translations(["tânisi kiya", ""], ["tânisi kiya"] * 2))
    )
    assert (perfect.composite, perfect.quality_tier) == (pytest.approx(1.0), Tier.FLUENT)
    assert (failed.composite, failed.quality_tier) == (0.0, Tier.BASELINE)
    assert failed.values["ter"] == 100.0


def test_default_metrics_follow_the_corpus_and_none_is_twice() -> None:
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
    with pytest.raises(ValueError, match="listed twice"):
        Scorer([ChrfPlusPlus(), ChrfPlusPlus()])


@examples(20, 120)
@given(sentences, sentences, st.lists(sentences, max_size=2))
def test_every_text_is_in_range(output: str, reference: str, variants: list[str]) -> None:
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


EXAMPLE = {
    "exact_match_rate": 0.6613, "equivalent_match_rate": 0.7258, "chrf_plus_plus": 80.65,
    "bleu": 54.78, "fst_acceptance_rate": 1.0, "semantic_score": 0.6842,
}  # fmt: skip


def test_composite_of_the_example_and_of_profile_b() -> None:
    mixed = composite({"fst_acceptance_rate": 1.0, "chrf_plus_plus": 50.0, "exact_match_rate": 0.0})
    weights = {i.metric: round(i.effective_weight, 3) for i in mixed.inputs}
    assert weights == {
        "fst_acceptance_rate": 0.556, "chrf_plus_plus": 0.333, "exact_match_rate": 0.111,
    }  # fmt: skip
    assert mixed.value == pytest.approx((0.25 + 0.15 * 0.5) / 0.45)
    assert mixed.coverage == pytest.approx(0.45)
    mixed = composite(EXAMPLE)
    assert (mixed.profile, mixed.value) == ("A", pytest.approx(0.8275, abs=5e-5))
    mixed = composite({"chrf_plus_plus": 40.0}, {"fst_acceptance_rate": "no FST installed for crk"})
    assert (mixed.profile, mixed.value) == ("B", pytest.approx(0.4))
    assert "no FST installed for crk" in mixed.profile_reason
    assert mixed.missing["semantic_score"] == "no value"
    assert composite({"code_switching_rate": 0.25}).value == pytest.approx(0.75)
    assert composite({"hallucination_rate": 1.0}).value == 0.0


def test_composite_without_weights_or_values_is_none() -> None:
    values = {"chrf_plus_plus": np.array([nan, 50.0]), "exact_match_rate": np.array([nan, nan])}
    found = composites(values, "B")
    assert np.isnan(found[0])
    assert found[1] == pytest.approx(0.5)
    assert np.isnan(composites({"bleu": np.array([7.0])}, "B")).all()
    assert composite({"fst_acceptance_rate": True, "chrf_plus_plus": 1.0}).profile == "B"
    mixed = composite({"bleu": 50.0, "ter": 10.0})
    assert (mixed.value, mixed.inputs, mixed.coverage) == (None, (), 0.0)
    values = {"chrf_plus_plus": np.array([50.0, 50.0]), "exact_match_rate": np.array([1.0, nan])}
    assert composites(values, "B").tolist() == pytest.approx([(0.125 + 0.1) / 0.35, 0.5])


@pytest.mark.parametrize("nothing", [None, True, False, nan, inf, "0.5"])
def test_what_is_no_number_is_missing(nothing: object) -> None:
    mixed = composite({"exact_match_rate": nothing, "chrf_plus_plus": 30.0})
    assert mixed.value == pytest.approx(0.3)
    assert "exact_match_rate" in mixed.missing


inside = st.sampled_from(sorted(set().union(*specification().profiles.values())))


def scaled(id_: str, share: float) -> float:
    return share * specification().metrics[id_].info.high


@examples(15, 100)
@given(st.dictionaries(inside, st.floats(0, 1), min_size=1))
def test_composite_stays_between_its_inputs(shares: dict[str, float]) -> None:
    mixed = composite({id_: scaled(id_, share) for id_, share in shares.items()})
    if mixed.value is None:
        assert not mixed.inputs
        return
    normalised = [i.normalised for i in mixed.inputs]
    assert min(normalised) - 1e-12 <= mixed.value <= max(normalised) + 1e-12
    assert sum(i.effective_weight for i in mixed.inputs) == pytest.approx(1.0)
    assert set(mixed.missing) | {i.metric for i in mixed.inputs} == set(
        specification().profiles[mixed.profile]
    )


@examples(15, 100)
@given(st.dictionaries(inside, st.lists(st.floats(0, 1), min_size=4, max_size=4), min_size=1))
def test_arrays_give_the_single_composites(shares: dict[str, list[float]]) -> None:
    values = {id_: np.array([scaled(id_, s) for s in row]) for id_, row in shares.items()}
    profile = "A" if "fst_acceptance_rate" in values else "B"
    for place, value in enumerate(composites(values, profile)):
        single = composite({id_: float(row[place]) for id_, row in values.items()}).value
        assert (single is None and np.isnan(value)) or value == pytest.approx(single)


def test_thresholds() -> None:
    for value, tier in [
        (1.0, "fluent"), (0.85, "fluent"), (0.8499999, "deployable"), (0.70, "deployable"),
        (0.6999999, "functional"), (0.5, "functional"), (0.4999999, "emerging"), (0.3, "emerging"),
        (0.2999999, "baseline"), (0.0, "baseline"), (None, "unscored"), (float("nan"), "unscored"),
    ]:  # fmt: skip
        assert quality_tier(value) == tier


def test_every_page_writes_a_share_in_one_way() -> None:
    for share, places, written in (
        (0.75, 0, "75 %"),
        (1.0, 0, "100 %"),
        (0.697, 1, "69.7 %"),
        (-0.05, 1, "−5.0 %"),
    ):
        assert percent(share, places) == written
    assert minus(f"{-0.03:.2f}") == "−0.03"
