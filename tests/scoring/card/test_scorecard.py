"""The scores block: complete and honest about what is missing, its costs; and floors that no worthless outputs pass."""

from __future__ import annotations

import json
import random
from collections.abc import Generator, Sequence
from dataclasses import replace
from math import inf, log2
from typing import Any, TypeVar
from unicodedata import normalize

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF, TER

from corpora.model.entry import Entry
from scoring.card import constant
from scoring.card import floors as floors_module
from scoring.card.claim import ClaimReason, FloorScores, attainable, best
from scoring.card.constant import FoundConstant, constant_chrf, search_constant, spread
from scoring.card.cost import EntryCost, Timing, cost, speed, tokens
from scoring.card.floors import FloorWork, WordDrawing, beginning, derangement
from scoring.card.scorecard import RunScores, scorecard
from scoring.core.inventory import composite, cost_adjusted
from scoring.core.metric import EntryStatistics, Metric, Table
from scoring.core.scorer import Scorer
from scoring.core.setup import Acceptance, FstAnnotation, Translation, WordAnalysis
from scoring.core.specification import Tier, specification
from scoring.metrics.chrf_bleu import ChrfPlusPlus
from scoring.metrics.inventory import make_metrics, surface_setup
from scoring.statistics.intervals import breakdowns
from scoring.words.source_words import Resources
from tests.outside import ENGLISH, published, skip_without
from tests.review.thorough import examples, first
from tests.scoring.analysed import facts
from tests.scoring.samples import ALPHABETS, HOSTILE, corpus, entry, worse

ENTRIES = corpus(ALPHABETS["roman with circumflex"], 90)


T = TypeVar("T")


def finished(steps: Generator[None, None, T]) -> T:
    """Return the result of some work after all of its steps."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: T = end.value
            return result


def best_constant(entries: Sequence[Entry], metrics: Sequence[Metric], judges: int) -> FoundConstant:
    return finished(search_constant(entries, metrics, list, judges))


def words_at_random(translations: Sequence[Translation], seed: int, *, accepted: bool) -> list[str]:
    drawing = WordDrawing(len(translations), seed, accepted=accepted)
    drawing.read(range(len(translations)), translations)
    return list(finished(drawing.draw(range(len(translations)), (), list)).values())


def default_metrics(entries: Sequence[Entry]) -> list[Metric]:
    return list(make_metrics(Resources(surface_setup("und", "crk", entries))))


METRICS = default_metrics(ENTRIES)


def outputs(seed: int = 3) -> list[str]:
    rng = random.Random(seed)
    return ["" if place % 10 == 0 else worse(e.reference, rng) for place, e in enumerate(ENTRIES)]


def card(
    texts: Sequence[str], entries: Sequence[Entry] = ENTRIES, metrics: list[Metric] = METRICS, **options: Any
) -> RunScores:
    pairs = [Translation(entry, text) for entry, text in zip(entries, texts, strict=True)]
    scorer, failed = Scorer(metrics), [not text for text in texts]
    return scorecard(entries, scorer.statistics(pairs), failed, scorer, texts, **options)


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
    values = (scores.chrf_plus_plus, scores.bleu, scores.ter)
    for oracle, value in zip((CHRF(word_order=2), BLEU(), TER()), values, strict=True):
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
    named = {i.metric for i in scores.composite_inputs} | set(scores.composite_missing)
    assert named == set(specification().profiles["B"])


def test_breakdowns_fit_the_whole_and_equal_runs_of_a_group(scores: RunScores) -> None:
    sizes = {tag: group.n for tag, group in scores.by_difficulty.items()}
    assert sizes == dict.fromkeys("12345", 18)
    matches = sum((g.exact_match_rate or 0) * g.n for g in scores.by_difficulty.values())
    assert matches == pytest.approx(scores.exact_matches)
    assert (scores.by_register["formal"].n, scores.by_provenance) == (45, {})
    assert "chrf_plus_plus" in scores.by_difficulty["1"].confidence_intervals
    texts = outputs()
    places = [place for place, entry in enumerate(ENTRIES) if entry.difficulty == 2]
    alone = card([texts[place] for place in places], [ENTRIES[place] for place in places])
    group = scores.by_difficulty["2"]
    for name in ("chrf_plus_plus", "bleu", "ter", "composite"):
        assert getattr(group, name) == getattr(alone, name)
    ends = [each.confidence_intervals["bleu"].ci_lower for each in (group, alone)]
    assert ends[0] == ends[1]
    rows = Table.of(METRICS, Scorer(METRICS).statistics([Translation(e, "x") for e in ENTRIES[:9]]))
    groups = breakdowns(ENTRIES[:9], rows)["difficulty"]
    assert all(group.intervals == {} for group in groups.values())


@examples(4, 10)
@given(st.permutations(range(25)))
def test_scores_do_not_depend_on_the_order_of_entries(order: list[int]) -> None:
    """But for the floors and ends of intervals that are drawn by place."""
    texts = outputs()
    moved = card([texts[place] for place in order], [ENTRIES[place] for place in order])
    here = card(texts[:25], ENTRIES[:25])
    for id_ in specification().metrics:
        assert getattr(moved, id_) == getattr(here, id_)
    for name in here.floors.keys() - {"shuffled", "words"}:
        assert moved.floors[name] == here.floors[name]


def test_mostly_identical_outputs_claim_baseline_even_above_the_floors() -> None:
    texts = [e.reference if place % 3 == 0 else "êkosi" for place, e in enumerate(ENTRIES)]
    scores = card(texts)
    assert scores.mostly_identical
    assert (scores.at_floor, scores.claimable_tier) == (True, Tier.BASELINE)
    assert "one and the same output" in scores.tier_in_words


def test_no_entries_are_unscored_and_lengths_must_fit() -> None:
    scores = scorecard([], [], [], Scorer(METRICS))
    assert (scores.composite, scores.mostly_identical) == (None, None)
    assert (scores.quality_tier, scores.claimable_tier) == (Tier.UNSCORED, Tier.UNSCORED)
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
    costs = cost(EXAMPLE, 200)
    assert (costs.total_cost_usd, costs.cost_per_entry_usd) == (0.75, 0.375)
    assert costs.cost_per_1k_tokens == pytest.approx(3.75)
    assert costs.cost_per_source_char == pytest.approx(0.015)
    row = EntryCost(1.7114, 1, prompt_tokens=13985, completion_tokens=187822)
    assert cost([row], 13985 + 187822).cost_per_1k_tokens == pytest.approx(0.00848, abs=5e-6)
    costs = cost([*EXAMPLE, EntryCost(cost_usd=None, source_characters=5)], 200)
    assert costs.total_cost_usd is None
    assert costs.cost_per_entry_usd is None
    assert costs.cost_per_1k_tokens is None
    assert (costs.known_cost_usd, costs.unpriced_entries) == (0.75, 1)
    block = tokens([*EXAMPLE, EntryCost(0.0, 5, prompt_tokens=None, completion_tokens=None)])
    assert (block.total_tokens, block.tokens_per_entry) == (None, None)
    assert (block.known_total_tokens, block.uncounted_entries) == (200, 1)
    costs = cost([EntryCost(0.0, 0)], 0)
    assert costs.total_cost_usd == 0.0
    assert costs.cost_per_1k_tokens is None
    assert costs.cost_per_source_char is None
    assert cost([], 0).cost_per_entry_usd is None
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
    for size, of in ((25, "batch call"), (1, "entry")):
        block = speed([Timing(5.0, batch_size=size)], elapsed_seconds=5, total_tokens=0)
        assert block.latency_of == of
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
    rows = metric.stats_many([Translation(Entry(id=0, source="-", reference=each), text) for each in references])
    return metric.value(np.array(rows, dtype=np.float64).sum(axis=0)) or 0.0


@examples(15, 150)
@given(TEXTS, st.data())
def test_chrf_of_all_constants_is_that_of_each(texts: list[str], data: st.DataObject) -> None:
    times = data.draw(st.lists(st.integers(1, 3), min_size=len(texts), max_size=len(texts)))
    references = [text for text, number in zip(texts, times, strict=True) for _ in range(number)]
    found = constant_chrf(texts, np.array(times))
    expected = [as_constant(text, references) for text in texts]
    assert found.tolist() == pytest.approx(expected, abs=1e-9)


def test_no_reference_is_a_better_constant() -> None:
    made = corpus(ALPHABETS["syllabics"], 30)
    metrics = default_metrics(made)
    scorer = Scorer(metrics)

    def reaches(text: str) -> float:
        taken = scorer.statistics([Translation(each, text) for each in made])
        return composite(scorer.table(taken).corpus_values()).value or 0.0

    chosen = best_constant(made, metrics, 100)
    assert reaches(chosen.text) == max(reaches(each.reference) for each in made)
    assert chosen.searched == len({each.reference for each in made})


@pytest.mark.parametrize("lengths", [(210_000,), (210_000, 230_000), (500_000, 1, 1)])
def test_constant_is_found_among_long_references(lengths: Sequence[int]) -> None:
    made = [entry("ab " * (length // 3) + str(place), place) for place, length in enumerate(lengths)]
    metrics = [each for each in default_metrics(made) if each.info.id == "exact_match_rate"]
    assert best_constant(made, metrics, 1).searched == 1


def test_constant_is_found_in_part_of_a_large_corpus() -> None:
    texts = ["yes", "no", "yes ", "yes", "maybe", "perhaps"]
    made = [entry(text, place) for place, text in enumerate(texts)]
    assert best_constant(made, default_metrics(made), 100).text == "yes"
    rng = random.Random(1)
    made = [entry("".join(rng.choices("abcdef", k=500)), place) for place in range(600)]
    assert best_constant(made, default_metrics(made), 3).searched == 400


@examples(15, 100)
@given(st.integers(1, 50), st.integers(1, 60))
def test_spread_takes_different_things_in_their_order(number: int, most: int) -> None:
    taken = spread(range(number), most)
    assert len(taken) == min(number, most)
    assert taken == sorted(set(taken))


def judged(entries: Sequence[Entry], outputs: Sequence[str]) -> RunScores:
    return card(outputs, entries, default_metrics(entries))


def worthless(entries: Sequence[Entry]) -> dict[str, list[str]]:
    references = [item.reference for item in entries]
    shuffled = [references[place] for place in derangement(len(entries), 99)]
    return {
        "empty": [""] * len(entries),
        "source": [item.source for item in entries],
        "best constant": [best_constant(entries, [ChrfPlusPlus()], 60).text] * len(entries),
        "another constant": [references[-1]] * len(entries),
        "shuffled otherwise": shuffled,
    }


@pytest.mark.parametrize("entries", first(1, [20, 2, 80]))
@pytest.mark.parametrize("alphabet", first(1, ALPHABETS.values()))
def test_worthless_outputs_claim_baseline_in_every_script(alphabet: str, entries: int) -> None:
    made = corpus(alphabet, entries)
    for kind, outputs in worthless(made).items():
        assert judged(made, outputs).claimable_tier is Tier.BASELINE, kind


@pytest.mark.parametrize("language", first(1, ["hin", "jpn", "arb"]))
def test_worthless_outputs_claim_baseline_on_published_texts(language: str) -> None:
    skip_without(ENGLISH)
    lines = [path.read_text("utf-8").splitlines()[:40] for path in (ENGLISH, published(language))]
    pairs = enumerate(zip(*lines, strict=True))
    made = [Entry(id=id_, source=left, reference=right) for id_, (left, right) in pairs]
    for kind, outputs in worthless(made).items():
        assert judged(made, outputs).claimable_tier is Tier.BASELINE, kind


def test_real_translation_clears_the_floors_and_empty_reaches_none() -> None:
    rng = random.Random(1)
    made = corpus(ALPHABETS["syllabics"], 80)
    scores = judged(made, [worse(item.reference, rng) for item in made])
    assert not scores.at_floor
    assert scores.composite is not None
    assert scores.composite > max(floor.composite or 0 for floor in scores.floors.values())
    made = corpus(ALPHABETS["arabic"], 20)
    found = FloorWork(made, default_metrics(made)).finish()
    assert (found["empty"].composite, found["empty"].chrf_plus_plus) == (0.0, 0.0)
    assert set(found) == {"empty", "source", "constant", "shuffled", "words", "truncated"}
    assert best(found, "composite") == max(floor.composite or 0 for floor in found.values())
    assert attainable(found) == {"chrf_plus_plus", "exact_match_rate", "equivalent_match_rate"}
    assert {floor.entries for floor in found.values()} == {20}
    assert found == FloorWork(made, default_metrics(made)).finish()


def test_floors_in_steps_are_those_of_all_outputs_together(monkeypatch: pytest.MonkeyPatch) -> None:
    made = corpus(ALPHABETS["syllabics"], 90)
    metrics = default_metrics(made)
    references = [item.reference for item in made]
    salad = words_at_random([Translation(each, "") for each in made], 12345, accepted=False)
    plain = {
        "empty": [""] * 90,
        "source": [item.source for item in made],
        "constant": [best_constant(made, metrics, 100).text] * 90,
        "shuffled": [references[place] for place in derangement(90, 12345)],
        "words": salad,
        "truncated": [beginning(text, 0.2) for text in references],
    }
    wanted = {kind: card(texts, made, metrics, known_floors={}).chrf_plus_plus for kind, texts in plain.items()}
    monkeypatch.setattr(floors_module, "MOST_KEPT", 10)  # words are read again where they are drawn
    work = FloorWork(made, metrics, step=7)
    samples = []
    while work.step():
        samples.append({name: floor.entries for name, floor in work.scores().items()})
    assert {name: floor.chrf_plus_plus for name, floor in work.scores().items()} == wanted
    assert [*work.scores()] == [*plain]
    assert {"empty": 7, "source": 7, "constant": 7, "shuffled": 7} in samples


def test_floor_work_scores_copied_sources_once() -> None:
    made = corpus(ALPHABETS["syllabics"], 90)
    metrics = default_metrics(made)
    scorer, wanted = Scorer(metrics), FloorWork(made, metrics).finish()
    copies = [Translation(item, item.source) for item in made]
    perfect = scorer.statistics([Translation(item, item.reference) for item in made])

    def taken_as(copied: Sequence[Translation], statistics: Sequence[EntryStatistics], later: int = 0) -> FloorWork:
        work = FloorWork(made, metrics, step=7)
        while not work.complete:
            if later == 0 or work.done == later:
                work.take(range(90), zip(copied, statistics, strict=True))
            work.step()
        return work

    for later in (0, 14):  # once all, once those that the work has not passed
        found = taken_as(copies, scorer.statistics(copies), later).scores()
        assert (found, [*found]) == (wanted, [*wanted])
    assert taken_as(copies, perfect).scores()["source"].chrf_plus_plus == 100  # not scored again
    others = [Translation(item, item.source + "x") for item in made]
    for refused in (others, [replace(copied, raw=copied.output) for copied in copies], copies[::-1]):
        assert taken_as(refused, perfect).scores() == wanted


def annotated(translations: Sequence[Translation]) -> list[Translation]:
    """Let an analyser accept the words that have no z."""

    def looked_up(text: str) -> tuple[WordAnalysis, ...]:
        return tuple(WordAnalysis(word, None if "z" in word else Acceptance.AS_WRITTEN) for word in text.split())

    made = []
    for each in translations:
        known = FstAnnotation(looked_up(each.output), looked_up(each.entry.reference))
        made.append(replace(each, annotations={"fst": known}))
    return made


def test_words_at_random_are_accepted_words_of_other_references() -> None:
    texts = ["aa bb zz", "cc dz", "ee", "zz zz zz zz"]
    made = [entry(text, place) for place, text in enumerate(texts)]
    known = annotated([Translation(each, "") for each in made])
    drawn = words_at_random(known, seed=3, accepted=True)
    assert [len(text.split()) for text in drawn] == [3, 2, 1, 4]
    for place, text in enumerate(drawn):
        own = set(texts[place].split())
        assert set(text.split()) <= {"aa", "bb", "cc", "ee"} - own
    assert drawn == words_at_random(known, seed=3, accepted=True)
    assert any("zz" in text for text in words_at_random(known * 30, seed=3, accepted=False))


def test_of_a_large_corpus_a_part_is_scored_and_said() -> None:
    made = [entry(f"a{place} b c d e", place) for place in range(1_003)]
    found = FloorWork(made, default_metrics(made)).finish()
    assert {name: floor.entries for name, floor in found.items()} == {
        "empty": 1_003, "source": 1_003, "constant": 1_003, "shuffled": 1_003,
        "words": 1_000, "truncated": 1_000,
    }  # fmt: skip
    assert found["constant"].searched == 1_003


def test_constant_searched_in_merged_lists_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    made = [entry(f"{'yes' * (place % 7)} a{place // 2 % 90}", place) for place in range(400)]
    metrics = default_metrics(made)
    for most in (constant.MOST_LETTERS, 300):
        monkeypatch.setattr(constant, "MOST_LETTERS", most)
        monkeypatch.setattr(constant, "SORTED", 400)
        whole = best_constant(made, metrics, 5)
        monkeypatch.setattr(constant, "SORTED", 30)
        assert best_constant(made, metrics, 5) == whole


def test_beginnings_and_words_without_spaces() -> None:
    made = [entry(text, place) for place, text in enumerate(["日本語の文です", "中文測試"])]
    drawn = words_at_random([Translation(each, "") for each in made], seed=1, accepted=True)
    assert all(drawn)
    assert not any(" " in text for text in drawn)
    for text, kept in [("a b c d e f g h i j", "a b"), ("a b c d", ""), ("日本語の文ですから長い", "日本")]:
        assert beginning(text, 0.2) == kept


def test_the_floor_of_words_at_random_stops_a_word_salad_of_accepted_words() -> None:
    """One accepted word for each sentence: acceptance alone must not carry it over the floors."""
    rng = random.Random(2)
    vocabulary = ["".join(rng.choices("aeioptkcmns", k=6)) for _ in range(400)]
    made = []
    for n in range(100):
        drawn = rng.sample(vocabulary, 6)
        text = " ".join(word if rng.random() < 0.7 else word + "z" for word in drawn)
        made.append(entry(text, n))
    known = facts(acceptor=True, reference_words=600, reference_accepted=420)
    three = ("exact_match_rate", "chrf_plus_plus", "fst_acceptance_rate")
    setup = surface_setup("und", "und", made).model_copy(update={"metrics": three, "analyser": known})
    scorer = Scorer(make_metrics(Resources(setup)))
    reached = FloorWork(made, scorer.metrics, annotate=annotated).finish()
    before = {name: reached[name] for name in ("empty", "source", "shuffled")}
    outputs = [rng.choice(vocabulary) for _ in made]
    pairs = [Translation(*each) for each in zip(made, outputs, strict=True)]
    taken = scorer.statistics(annotated(pairs))
    salad = scorecard(made, taken, [False] * 100, scorer, outputs, known_floors=reached)
    assert salad.composite is not None
    assert salad.confidence_intervals["composite"].ci_lower > (best(before, "composite") or 1)
    assert salad.claimable_tier is Tier.BASELINE
    assert ClaimReason.CHRF_FLOOR in {limit.reason for limit in salad.claim.limits}


def test_derangement_moves_every_entry() -> None:
    for length in (2, 3, 10, 501):
        places = derangement(length, 12345)
        assert sorted(places) == list(range(length))
        assert all(place != here for here, place in enumerate(places))
        assert places.tolist() == derangement(length, 12345).tolist()


def test_small_corpora() -> None:
    assert FloorWork([], []).finish() == {}
    assert best({}, "composite") is None
    alone = [entry("tânisi")]
    found = FloorWork(alone, default_metrics(alone)).finish()
    assert set(found) == {"empty", "source", "constant", "truncated"}
    assert best({"x": FloorScores(None, 3.0), "y": FloorScores(0.2, None)}, "chrf_plus_plus") == 3.0
