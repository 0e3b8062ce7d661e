"""Floors: outputs without any translation in them must never claim more than baseline."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from corpora.model.entry import Entry
from scoring.card.claim import ClaimReason, FloorScores, attainable, best
from scoring.card.constant import best_constant
from scoring.card.floors import beginning, derangement, floors, words_at_random
from scoring.card.scorecard import RunScores, scorecard
from scoring.core.scorer import Scorer
from scoring.core.setup import AnalyserFacts
from scoring.core.specification import Tier
from scoring.core.translation import Acceptance, FstAnnotation, Translation, WordAnalysis
from scoring.metrics.chrf import ChrfPlusPlus
from scoring.metrics.inventory import make_metrics, surface_setup
from scoring.words.resources import Resources
from tests.outside import ENGLISH, published, skip_without
from tests.review.thorough import first
from tests.scoring.samples import ALPHABETS, corpus, entry, worse

TEXTS = Path(__file__).parents[3].parent / "shared" / "data" / "text"


def judged(entries: Sequence[Entry], outputs: Sequence[str]) -> RunScores:
    metrics = make_metrics(Resources(surface_setup("und", "und", entries)))
    statistics = Scorer(metrics).statistics(
        [Translation(item, text) for item, text in zip(entries, outputs, strict=True)]
    )
    return scorecard(entries, statistics, [not text for text in outputs], Scorer(metrics), outputs)


def worthless(entries: Sequence[Entry]) -> dict[str, list[str]]:
    references = [item.reference for item in entries]
    shuffled = [references[place] for place in derangement(len(entries), 99)]
    return {
        "empty": [""] * len(entries),
        "source": [item.source for item in entries],
        "best constant": [best_constant(entries, [ChrfPlusPlus()], list, 60).text] * len(entries),
        "another constant": [references[-1]] * len(entries),
        "shuffled otherwise": shuffled,
    }


@pytest.mark.parametrize("entries", first(2, [2, 20, 80]))
@pytest.mark.parametrize("alphabet", first(1, ALPHABETS.values()))
def test_worthless_outputs_claim_baseline_in_every_script(alphabet: str, entries: int) -> None:
    made = corpus(alphabet, entries)
    for kind, outputs in worthless(made).items():
        assert judged(made, outputs).claimable_tier is Tier.BASELINE, kind


@pytest.mark.parametrize("language", first(1, ["jpn", "fin", "hin", "arb", "amh", "mri"]))
def test_worthless_outputs_claim_baseline_on_published_texts(language: str) -> None:
    skip_without(ENGLISH)
    lines = [
        path.read_text(encoding="utf-8").splitlines()[:60]
        for path in (ENGLISH, published(language))
    ]
    made = [
        Entry(id=id_, source=left, reference=right)
        for id_, (left, right) in enumerate(zip(*lines, strict=True))
    ]
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
    found = floors(made, make_metrics(Resources(surface_setup("und", "ar", made))))
    assert (found["empty"].composite, found["empty"].chrf_plus_plus) == (0.0, 0.0)
    assert set(found) == {"empty", "source", "constant", "shuffled", "words", "truncated"}
    assert best(found, "composite") == max(floor.composite or 0 for floor in found.values())
    assert attainable(found) == {"chrf_plus_plus", "exact_match_rate", "equivalent_match_rate"}
    assert {floor.entries for floor in found.values()} == {20}
    assert found == floors(made, make_metrics(Resources(surface_setup("und", "ar", made))))


def annotated(translations: Sequence[Translation]) -> list[Translation]:
    """Let an analyser accept the words that have no z."""

    def looked_up(text: str) -> tuple[WordAnalysis, ...]:
        return tuple(
            WordAnalysis(word, None if "z" in word else Acceptance.AS_WRITTEN)
            for word in text.split()
        )

    return [
        replace(
            each,
            annotations={
                "fst": FstAnnotation(looked_up(each.output), looked_up(each.entry.reference))
            },
        )
        for each in translations
    ]


def test_words_at_random_are_accepted_words_of_other_references() -> None:
    texts = ["aa bb zz", "cc dz", "ee", "zz zz zz zz"]
    made = [entry(text, place) for place, text in enumerate(texts)]
    drawn = words_at_random(
        annotated([Translation(each, "") for each in made]), seed=3, accepted=True
    )
    assert [len(text.split()) for text in drawn] == [3, 2, 1, 4]
    for place, text in enumerate(drawn):
        own = set(texts[place].split())
        assert set(text.split()) <= {"aa", "bb", "cc", "ee"} - own
    assert drawn == words_at_random(
        annotated([Translation(each, "") for each in made]), seed=3, accepted=True
    )
    every = words_at_random(
        annotated([Translation(each, "") for each in made] * 30), seed=3, accepted=False
    )
    assert any("zz" in text for text in every)


def test_of_a_large_corpus_a_part_is_scored_and_said() -> None:
    made = [entry(f"a{place} b c d e", place) for place in range(1_003)]
    found = floors(made, make_metrics(Resources(surface_setup("und", "und", made))))
    assert {name: floor.entries for name, floor in found.items()} == {
        "empty": 1_003, "source": 1_003, "constant": 1_003, "shuffled": 1_003,
        "words": 1_000, "truncated": 1_000,
    }  # fmt: skip
    assert found["constant"].searched == 1_003


def test_beginnings_and_words_without_spaces() -> None:
    made = [entry(text, place) for place, text in enumerate(["日本語の文です", "中文測試"])]
    drawn = words_at_random([Translation(each, "") for each in made], seed=1, accepted=True)
    assert all(drawn)
    assert not any(" " in text for text in drawn)
    for text, kept in [
        ("a b c d e f g h i j", "a b"),
        ("a b c d", ""),
        ("日本語の文ですから長い", "日本"),
        ("", ""),
    ]:
        assert beginning(text, 0.2) == kept


def test_the_floor_of_words_at_random_stops_a_word_salad_of_accepted_words() -> None:
    """One accepted word for each sentence: acceptance alone must not carry it over the floors."""
    rng = random.Random(2)
    vocabulary = ["".join(rng.choices("aeioptkcmns", k=6)) for _ in range(400)]
    made = [
        entry(
            " ".join(
                word if rng.random() < 0.7 else word + "z" for word in rng.sample(vocabulary, 6)
            ),
            n,
        )
        for n in range(100)
    ]
    setup = surface_setup("und", "und", made).model_copy(
        update={
            "metrics": ("exact_match_rate", "chrf_plus_plus", "fst_acceptance_rate"),
            "analyser": AnalyserFacts(
                name="made",
                sha256="0",
                engine="x",
                engine_version="1",
                acceptor=True,
                reference_words=600,
                reference_accepted=420,
            ),
        }
    )
    scorer = Scorer(make_metrics(Resources(setup)))
    reached = floors(made, scorer.metrics, annotate=annotated)
    before = {name: reached[name] for name in ("empty", "source", "shuffled")}
    outputs = [rng.choice(vocabulary) for _ in made]
    taken = scorer.statistics(
        annotated([Translation(*each) for each in zip(made, outputs, strict=True)])
    )
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
        assert places == derangement(length, 12345)


def test_small_corpora() -> None:
    assert floors([], []) == {}
    assert best({}, "composite") is None
    alone = [entry("tânisi")]
    found = floors(alone, make_metrics(Resources(surface_setup("und", "crk", alone))))
    assert set(found) == {"empty", "source", "constant", "truncated"}
    assert best({"x": FloorScores(None, 3.0), "y": FloorScores(0.2, None)}, "chrf_plus_plus") == 3.0
