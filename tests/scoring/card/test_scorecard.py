"""The scores block: complete and honest about what is missing; its costs; its constant floor."""

from __future__ import annotations

import json
import random
from math import inf, log2
from typing import Any
from unicodedata import normalize

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF, TER

from corpora.model.entry import Entry
from scoring.card.claim import FloorScores
from scoring.card.constant import best_constant, constant_chrf, spread
from scoring.card.cost import EntryCost, Timing, cost, speed, tokens
from scoring.card.scorecard import RunScores, scorecard
from scoring.core.composite import composite, cost_adjusted
from scoring.core.scorer import Scorer
from scoring.core.specification import Tier, specification
from scoring.core.table import Table
from scoring.core.translation import Translation
from scoring.metrics.chrf import ChrfPlusPlus
from scoring.metrics.inventory import make_metrics, surface_setup
from scoring.statistics.breakdown import breakdown
from scoring.words.resources import Resources
from tests.review.thorough import examples, first
from tests.scoring.samples import ALPHABETS, HOSTILE, corpus, worse

ENTRIES = corpus(ALPHABETS["roman with circumflex"], 90)


METRICS = make_metrics(Resources(surface_setup("und", "crk", ENTRIES)))


def outputs(seed: int = 3) -> list[str]:
    rng = random.Random(seed)
    return ["" if place % 10 == 0 else worse(e.reference, rng) for place, e in enumerate(ENTRIES)]


def card(texts: list[str], entries: list[Entry] = ENTRIES, **options: Any) -> RunScores:
    statistics = Scorer(METRICS).statistics(
        [Translation(entry, text) for entry, text in zip(entries, texts, strict=True)]
    )
    return scorecard(
        entries, statistics, [not text for text in texts], Scorer(METRICS), texts, **options
    )


@pytest.fixture(scope="module")
def scores() -> RunScores:
    return card(outputs(), cost_per_entry_usd=0.007)


def test_every_metric_has_a_value_or_a_reason(scores: RunScores) -> None:
    block = scores.model_dump(mode="json")
    for id_ in specification().metrics:
        assert (block[id_] is None) is (id_ in block["reasons"]), id_
    assert block["reasons"]["fst_acceptance_rate"] == "not among the metrics of this run"
    few = METRICS[:3]
    statistics = Scorer(few).statistics([Translation(e, e.reference) for e in ENTRIES])
    reasons = scorecard(ENTRIES, statistics, [False] * len(ENTRIES), Scorer(few)).reasons
    assert reasons["ter"] == "not among the metrics of this run"
    text = json.dumps(scores.model_dump(mode="json"), allow_nan=False)
    assert RunScores.model_validate_json(text) == scores
    for id_, interval in scores.confidence_intervals.items():
        assert interval.ci_lower <= getattr(scores, id_) <= interval.ci_upper
        assert (interval.wilson_lower is not None) is id_.endswith("match_rate")


def test_corpus_values_are_sacrebleus_on_all_entries(scores: RunScores) -> None:
    texts = [normalize("NFC", text) for text in outputs()]
    references = [normalize("NFC", entry.reference) for entry in ENTRIES]
    for oracle, value in (
        (CHRF(word_order=2), scores.chrf_plus_plus),
        (BLEU(), scores.bleu),
        (TER(), scores.ter),
    ):
        assert value == pytest.approx(oracle.corpus_score(texts, [references]).score, abs=1e-9)


def test_failed_entries_stay_in_every_denominator(scores: RunScores) -> None:
    right = sum(text == entry.reference for text, entry in zip(outputs(), ENTRIES, strict=True))
    failed = outputs().count("")
    assert failed >= 9
    assert (scores.total, scores.evaluated, scores.errors) == (90, 90 - failed, failed)
    assert (scores.exact_matches, scores.exact_match_rate) == (right, right / 90)
    filled = [text or "êkosi" for text in outputs()]
    assert (card(filled).composite or 0) >= (scores.composite or 0)


def test_composite_can_be_recomputed_from_what_the_card_says(scores: RunScores) -> None:
    again = sum(i.effective_weight * i.normalised for i in scores.composite_inputs)
    assert scores.composite == pytest.approx(again)
    assert scores.composite_coverage == pytest.approx(0.5)
    assert scores.cost_adjusted == pytest.approx((scores.composite or 0) / 3)
    assert {i.metric for i in scores.composite_inputs} | set(scores.composite_missing) == set(
        specification().profiles["B"]
    )


def test_breakdowns_fit_the_whole_and_equal_runs_of_a_group(scores: RunScores) -> None:
    assert {tag: group.n for tag, group in scores.by_difficulty.items()} == dict.fromkeys(
        "12345", 18
    )
    matches = sum((g.exact_match_rate or 0) * g.n for g in scores.by_difficulty.values())
    assert matches == pytest.approx(scores.exact_matches)
    assert (scores.by_register["formal"].n, scores.by_provenance) == (45, {})
    assert "chrf_plus_plus" in scores.by_difficulty["1"].confidence_intervals
    texts = outputs()
    places = [place for place, entry in enumerate(ENTRIES) if entry.difficulty == 2]
    alone = card([texts[place] for place in places], [ENTRIES[place] for place in places])
    group = scores.by_difficulty["2"]
    assert (group.chrf_plus_plus, group.bleu, group.ter) == (
        alone.chrf_plus_plus,
        alone.bleu,
        alone.ter,
    )
    assert group.composite == alone.composite
    assert (
        group.confidence_intervals["bleu"].ci_lower == alone.confidence_intervals["bleu"].ci_lower
    )
    rows = Table.of(METRICS, Scorer(METRICS).statistics([Translation(e, "x") for e in ENTRIES[:9]]))
    groups = breakdown(ENTRIES[:9], rows, "difficulty")
    assert all(group.intervals == {} for group in groups.values())


def test_tier_needs_review_above_functional() -> None:
    perfect = [entry.reference for entry in ENTRIES]
    pending = card(perfect)
    assert (pending.quality_tier, pending.claimable_tier) == (Tier.FLUENT, Tier.FUNCTIONAL)
    assert pending.tier_in_words == "functional (automatic 1.00; review pending)"
    assert pending.claim.tier(review_passed=True) is Tier.FLUENT
    assert pending.claim.words(review_passed=True) == "fluent (automatic 1.00; reviewed)"


def test_mostly_identical_outputs_claim_baseline_even_above_the_floors() -> None:
    texts = [e.reference if place % 3 == 0 else "êkosi" for place, e in enumerate(ENTRIES)]
    scores = card(texts)
    assert scores.mostly_identical
    assert (scores.at_floor, scores.claimable_tier) == (True, Tier.BASELINE)
    assert "one and the same output" in scores.tier_in_words


def test_no_entries_are_unscored_and_lengths_must_fit() -> None:
    scores = scorecard([], [], [], Scorer(METRICS))
    assert (scores.composite, scores.quality_tier, scores.claimable_tier) == (
        None, Tier.UNSCORED, Tier.UNSCORED,
    )  # fmt: skip
    assert scores.tier_in_words == "unscored"
    assert scores.mostly_identical is None
    with pytest.raises(ValueError, match="90 entries but 1 errors"):
        scorecard(ENTRIES, [{}] * 90, [False], Scorer(METRICS))
    known = {"constant": FloorScores(composite=0.99, chrf_plus_plus=90.0)}
    scores = card(outputs(), known_floors=known)
    assert scores.floors == known
    assert scores.at_floor


def test_no_text_of_an_entry_reaches_the_block() -> None:
    marked = [
        Entry(id=place, source=f"SECRETSOURCE{place}", reference=f"SECRETREFERENCE{place} âê",
              variants=(f"SECRETVARIANT{place}",), segment="gold_standard")
        for place in range(12)
    ]  # fmt: skip
    block = card([f"SECRETOUTPUT{place}" for place in range(12)], marked).model_dump_json()
    assert "SECRET" not in block
    assert "gold_standard" in block


def test_scores_do_not_depend_on_the_order_of_entries_but_for_the_draws() -> None:
    order = np.random.default_rng(1).permutation(len(ENTRIES))
    texts = outputs()
    moved = card([texts[place] for place in order], [ENTRIES[place] for place in order])
    here = card(texts)
    for id_ in specification().metrics:
        assert getattr(moved, id_) == getattr(here, id_)
    drawn = {"shuffled", "words"}
    assert {tag: floor for tag, floor in moved.floors.items() if tag not in drawn} == {
        tag: floor for tag, floor in here.floors.items() if tag not in drawn
    }


EXAMPLE = [
    EntryCost(cost_usd=0.5, source_characters=40, prompt_tokens=100, completion_tokens=20,
              reasoning_tokens=15, cached_tokens=60),
    EntryCost(cost_usd=0.25, source_characters=10, prompt_tokens=70, completion_tokens=10),
]  # fmt: skip


def test_tokens_and_costs_are_known_or_unknown() -> None:
    block = tokens(EXAMPLE)
    assert (block.prompt_tokens, block.completion_tokens, block.total_tokens) == (170, 30, 200)
    assert (block.reasoning_tokens, block.cached_tokens) == (15, 60)
    assert (block.tokens_per_entry, block.uncounted_entries) == (100.0, 0)
    costs = cost(EXAMPLE)
    assert (costs.total_cost_usd, costs.cost_per_entry_usd) == (0.75, 0.375)
    assert costs.cost_per_1k_tokens == pytest.approx(3.75)
    assert costs.cost_per_source_char == pytest.approx(0.015)
    row = EntryCost(1.7114, 1, prompt_tokens=13985, completion_tokens=187822)
    assert cost([row]).cost_per_1k_tokens == pytest.approx(0.00848, abs=5e-6)
    costs = cost([*EXAMPLE, EntryCost(cost_usd=None, source_characters=5)])
    assert costs.total_cost_usd is None
    assert costs.cost_per_entry_usd is None
    assert costs.cost_per_1k_tokens is None
    assert (costs.known_cost_usd, costs.unpriced_entries) == (0.75, 1)
    block = tokens([*EXAMPLE, EntryCost(0.0, 5, prompt_tokens=None, completion_tokens=None)])
    assert (block.total_tokens, block.tokens_per_entry) == (None, None)
    assert (block.known_total_tokens, block.uncounted_entries) == (200, 1)
    costs = cost([EntryCost(0.0, 0, 0, 0)])
    assert costs.total_cost_usd == 0.0
    assert costs.cost_per_1k_tokens is None
    assert costs.cost_per_source_char is None
    assert cost([]).cost_per_entry_usd is None
    assert tokens([]).tokens_per_entry is None


def test_cost_adjusted_is_the_formula_or_null() -> None:
    for value, per_entry in [(0.8, 0.0), (0.8, None), (None, 0.01)]:
        assert cost_adjusted(value, per_entry) is None
    assert cost_adjusted(0.8, 0.007) == pytest.approx(0.8 / 3)
    assert cost_adjusted(0.5, 0.027603) == pytest.approx(0.5 / log2(28.603))


@examples(15, 100)
@given(st.floats(0, 1), st.floats(5e-324, 1e6))
def test_cost_adjusted_never_raises(composite: float, per_entry: float) -> None:
    value = cost_adjusted(composite, per_entry)
    assert value is None or 0 <= value < inf


def test_speed_has_percentiles_of_measured_calls_alone() -> None:
    timings = [Timing(float(second)) for second in (1, 2, 3, 4)]
    block = speed(timings, elapsed_seconds=8.0, total_tokens=400)
    assert (block.avg_latency_seconds, block.median_latency_seconds) == (2.5, 2.5)
    assert block.p95_latency_seconds == pytest.approx(3.85)
    assert (block.tokens_per_second, block.entries_per_minute) == (50.0, 30.0)
    timings = [Timing(1.0), Timing(0.0001, cached=True), Timing(None), Timing(3.0)]
    block = speed(timings, elapsed_seconds=4.0, total_tokens=None)
    assert (block.avg_latency_seconds, block.latency_entries, block.cached_entries) == (2.0, 2, 1)
    assert block.tokens_per_second is None
    assert block.entries_per_minute == 60.0
    assert (
        speed([Timing(5.0, batch_size=25)], elapsed_seconds=5, total_tokens=0).latency_of
        == "batch call"
    )
    assert speed([Timing(5.0)], elapsed_seconds=5, total_tokens=0).latency_of == "entry"
    block = speed([Timing(0.1, cached=True)], elapsed_seconds=None, total_tokens=10)
    assert block.median_latency_seconds is None
    assert block.entries_per_minute is None


TEXTS = st.lists(
    st.one_of(st.sampled_from(HOSTILE), st.text("ab .,ê1", max_size=12)),
    min_size=1, max_size=6, unique=True,
)  # fmt: skip


def as_constant(text: str, references: list[str]) -> float:
    """Score one text for every reference, one by one."""
    metric = ChrfPlusPlus()
    rows = metric.stats_many(
        [Translation(Entry(id=0, source="-", reference=each), text) for each in references]
    )
    return metric.value(np.array(rows, dtype=np.float64).sum(axis=0)) or 0.0


@examples(15, 150)
@given(TEXTS, st.data())
def test_chrf_of_all_constants_is_that_of_each(texts: list[str], data: st.DataObject) -> None:
    times = data.draw(st.lists(st.integers(1, 3), min_size=len(texts), max_size=len(texts)))
    references = [text for text, number in zip(texts, times, strict=True) for _ in range(number)]
    found = constant_chrf(texts, np.array(times))
    expected = [as_constant(text, references) for text in texts]
    assert found.tolist() == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("alphabet", first(2, ALPHABETS.values()))
def test_no_reference_is_a_better_constant(alphabet: str) -> None:
    made = corpus(alphabet, 40)
    metrics = make_metrics(Resources(surface_setup("und", "und", made)))
    scorer = Scorer(metrics)

    def reaches(text: str) -> float:
        taken = scorer.statistics([Translation(each, text) for each in made])
        return composite(scorer.table(taken).corpus_values()).value or 0.0

    chosen = best_constant(made, metrics, list, judges=100)
    assert reaches(chosen.text) == max(reaches(each.reference) for each in made)
    assert chosen.searched == len({each.reference for each in made})


def test_constant_is_found_in_part_of_a_large_corpus() -> None:
    made = [
        Entry(id=place, source="-", reference=text)
        for place, text in enumerate(["yes", "no", "yes ", "yes", "maybe", "perhaps"])
    ]
    metrics = make_metrics(Resources(surface_setup("und", "und", made)))
    assert best_constant(made, metrics, list, judges=100).text == "yes"
    rng = random.Random(1)
    made = [
        Entry(id=place, source="-", reference="".join(rng.choices("abcdef", k=500)))
        for place in range(600)
    ]
    metrics = make_metrics(Resources(surface_setup("und", "und", made)))
    assert best_constant(made, metrics, list, judges=3).searched == 400


@examples(15, 100)
@given(st.integers(1, 50), st.integers(1, 60))
def test_spread_takes_different_things_in_their_order(number: int, most: int) -> None:
    taken = spread(range(number), most)
    assert len(taken) == min(number, most)
    assert taken == sorted(set(taken))
