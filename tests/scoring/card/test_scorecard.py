"""The scores block: complete, JSON-safe, honest about what is missing, and free of texts."""

from __future__ import annotations

import json
import random
from typing import Any
from unicodedata import normalize

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF, TER

from corpora.model.entry import Entry
from scoring.card.floors import FloorScores
from scoring.card.scorecard import RunScores, scorecard
from scoring.core.scorer import Scorer
from scoring.core.specification import Tier, specification
from scoring.core.table import Table
from scoring.core.translation import Translation
from scoring.metrics.inventory import make_metrics, surface_setup
from scoring.statistics.breakdown import breakdown
from scoring.words.resources import Resources
from tests.scoring.samples import ALPHABETS, corpus, worse

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


def test_a_metric_left_out_says_so_and_is_not_called_unknown() -> None:
    few = METRICS[:3]
    statistics = Scorer(few).statistics([Translation(e, e.reference) for e in ENTRIES])
    reasons = scorecard(ENTRIES, statistics, [False] * len(ENTRIES), Scorer(few)).reasons
    assert reasons["ter"] == "not among the metrics of this run"


def test_block_is_plain_json_and_comes_back(scores: RunScores) -> None:
    text = json.dumps(scores.model_dump(mode="json"), allow_nan=False)
    assert RunScores.model_validate_json(text) == scores


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
    assert scores.exact_matches == right
    assert scores.exact_match_rate == right / 90
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


def test_intervals_hold_the_values_and_wilson_stands_beside_rates(scores: RunScores) -> None:
    for id_, interval in scores.confidence_intervals.items():
        assert interval.ci_lower <= getattr(scores, id_) <= interval.ci_upper
        assert (interval.wilson_lower is not None) is id_.endswith("match_rate")


def test_breakdowns_fit_the_whole(scores: RunScores) -> None:
    assert {tag: group.n for tag, group in scores.by_difficulty.items()} == dict.fromkeys(
        "12345", 18
    )
    matches = sum((g.exact_match_rate or 0) * g.n for g in scores.by_difficulty.values())
    assert matches == pytest.approx(scores.exact_matches)
    assert scores.by_register["formal"].n == 45
    assert scores.by_provenance == {}
    assert "chrf_plus_plus" in scores.by_difficulty["1"].confidence_intervals


def test_a_group_equals_a_run_on_its_entries_alone(scores: RunScores) -> None:
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


def test_small_groups_have_no_interval() -> None:
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


def test_known_floors_are_taken_as_they_are() -> None:
    known = {"constant": FloorScores(composite=0.99, chrf_plus_plus=90.0)}
    scores = card(outputs(), known_floors=known)
    assert scores.floors == known
    assert scores.at_floor


def test_no_entries_is_unscored() -> None:
    scores = scorecard([], [], [], Scorer(METRICS))
    assert (scores.composite, scores.quality_tier, scores.claimable_tier) == (
        None, Tier.UNSCORED, Tier.UNSCORED,
    )  # fmt: skip
    assert scores.tier_in_words == "unscored"
    assert scores.mostly_identical is None


def test_sequences_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="90 entries but 1 errors"):
        scorecard(ENTRIES, [{}] * 90, [False], Scorer(METRICS))


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
