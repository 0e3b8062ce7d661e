"""The semantic score and COMET: which form applies, what is never cut off in silence."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.scorer import Scorer
from scoring.core.setup import CometFacts, EmbeddingFacts, ScoringSetup, Translation
from scoring.core.specification import specification
from scoring.grammar.verdicts import TENTHS, SemanticVerdict
from scoring.metrics.chrf_bleu import ChrfPlusPlus
from scoring.metrics.inventory import choose_metrics, make_metrics
from scoring.metrics.semantic import Comet, EmbeddingScore, VerdictScore, semantic_score
from scoring.words.source_words import Resources
from tests.review.thorough import examples
from tests.scoring.analysed import facts
from tests.scoring.cree import GLOSSES, card, translated
from tests.scoring.samples import entry, sentences

ANALYSER = facts(name="crk.hfstol", reference_words=10, reference_accepted=9)
MODEL = EmbeddingFacts(model="bge-m3", endpoint="localhost", sha256=None)


def setup(**fields: object) -> ScoringSetup:
    base = ScoringSetup(metrics=("semantic_score",), source_language="en", target_language="crk")
    return base.model_copy(update=fields)


KNOWN = {"gloss_dictionary": len(GLOSSES), "gloss_dictionary_sha256": "cd" * 32}


def by_verdicts(**fields: object) -> EmbeddingScore | VerdictScore:
    made = setup(**{"analyser": ANALYSER, **KNOWN, **fields})
    return semantic_score(Resources(made, card=card(), gloss_dictionary=GLOSSES))


def by_cosine() -> EmbeddingScore:
    return EmbeddingScore(setup(embeddings=MODEL))


def near(cosine: object, output: str = "x") -> Translation:
    return Translation(entry("y"), output, {"embeddings": cosine})


def test_cosine_is_clipped_at_both_ends_or_no_value() -> None:
    cosine: object
    for cosine, share in ((0.25, 0.25), (1, 1.0), (-0.5, 0.0), (1.0000001, 1.0), (0.0, 0.0)):
        assert by_cosine().stats(near(cosine)) == (share, 1)
    for cosine in (None, math.nan, math.inf, "0.5"):
        assert by_cosine().stats(near(cosine)) is None


def test_an_empty_output_counts_nothing_and_stays_in_the_denominator() -> None:
    metric = by_cosine()
    assert (metric.stats(near(0.9, " \u200b")), metric.value((0.9, 2))) == ((0.0, 1), 0.45)
    assert by_verdicts().stats(translated("", "atim", "dog")) == (0, 10, 0, 1)
    assert by_verdicts().stats(Translation(entry("atim"), "")) == (0, 10, 0, 1)


def test_a_run_under_way_has_no_value_and_says_when_it_will() -> None:
    metric = by_cosine()
    assert metric.stats(Translation(entry("y"), "x")) is None
    assert metric.value((0, 0)) is None
    assert "when all outputs are in" in metric.why_missing


def test_verdicts_count_in_tenths_where_there_are_analyses() -> None:
    metric = by_verdicts()
    made = translated("kiwâpamâw atim", "niwâpamâw atim", "I see the dog.")
    assert (metric.stats(made), metric.value((7, 10, 0, 0))) == ((7, 10, 0, 0), 0.7)
    assert metric.value((7 + 10 + 0, 30, 1, 1)) == pytest.approx(17 / 30)
    said = " ".join(metric.explain(made))
    assert "WRONG_ORDER" in said
    assert "kiwâpamâw" in said
    assert metric.stats(Translation(entry("atim"), "atim")) is None
    assert metric.judgement(Translation(entry("atim"), "atim")) is None


def test_verdict_follows_from_the_statistics_of_an_entry() -> None:
    metric = by_verdicts()
    made = [  # by appendix B: EXACT_MATCH 1.0, VALID 1.0, WRONG_ORDER 0.7, WRONG and NO_OUTPUT 0
        translated(output, "niwâpamâw atim", "I see the dog.")
        for output in ("niwâpamâw atim", "atim niwâpamâw", "kiwâpamâw atim", "minôs", "")
    ]
    scorer = Scorer([metric, ChrfPlusPlus()])
    statistics = [scorer.unpack(scorer.pack(each)) for each in scorer.statistics(made)]
    found = [each.verdicts["semantic_score"] for each in scorer.entries_values(statistics)]
    assert found == [metric.judgement(each).verdict for each in made]
    assert found == ["EXACT_MATCH", "VALID", "WRONG_ORDER", "WRONG", "NO_OUTPUT"]
    codes = [(t, 10, int(v == "EXACT_MATCH"), int(v == "NO_OUTPUT")) for v, t in TENTHS.items()]
    assert [metric.verdict_of(each) for each in codes] == list(SemanticVerdict)
    assert metric.verdict_of((math.nan, 10, 0, 0)) is None
    assert scorer.entries_values([{"semantic_score": None}])[0].verdicts == {"semantic_score": None}
    assert Scorer([by_cosine()]).entries_values([{"semantic_score": (0.5, 1)}])[0].verdicts == {}


def test_the_verdict_form_comes_first_and_needs_all_its_parts() -> None:
    both = by_verdicts(embeddings=MODEL)
    made = translated("niwâpamâw atim", "niwâpamâw atim", "I see the dog.")
    found = both.judgement(made)
    assert found.verdict is SemanticVerdict.EXACT_MATCH
    assert "form:verdicts" in both.signature
    for lacking in (
        {"analyser": None}, {"analyser": facts(acceptor=True)}, {"gloss_dictionary": 0},
        {"source_language": "fr"},
    ):  # fmt: skip
        assert "form:cosine" in by_verdicts(embeddings=MODEL, **lacking).signature


def test_off_with_the_reason() -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({}, "--embeddings"),
        ({"gloss_dictionary": 5}, "no analyser"),
        ({"gloss_dictionary": 5, "analyser": facts(acceptor=True)}, "no dictionary forms"),
        ({"gloss_dictionary": 5, "analyser": ANALYSER, "source_language": "fr"}, "not English"),
    ]
    for fields, said in cases:
        on, off = choose_metrics(Resources(setup(**fields)), {"semantic_score"})
        assert on == ()
        assert said in off["semantic_score"]


def test_a_reader_without_dictionary_signs_and_values_alike() -> None:
    scorer = Scorer([by_cosine(), ChrfPlusPlus()])
    for row in scorer.statistics([near(1 / 3), near(None)]):  # a fraction, and nothing
        assert scorer.unpack(scorer.pack(row)) == row
    for stated in (setup(analyser=ANALYSER, **KNOWN), setup(embeddings=MODEL)):
        metric = semantic_score(Resources(stated, card=card(), gloss_dictionary=GLOSSES))
        text = stated.model_dump_json()  # as a card keeps it
        [again] = make_metrics(Resources(ScoringSetup.model_validate_json(text)))
        assert (again.signature, again.why_missing) == (metric.signature, metric.why_missing)
        assert again.value((7, 10, 0, 0)[: metric.width]) == 0.7


@examples(15, 100)
@given(sentences, sentences, sentences, st.one_of(st.none(), st.floats(), st.text(max_size=3)))
def test_every_text_is_in_range(output: str, reference: str, source: str, cosine: object) -> None:
    made = translated(output, reference, source)
    made = Translation(made.entry, output, {**made.annotations, "embeddings": cosine})
    for metric in (by_verdicts(), by_cosine()):
        stats = metric.stats(made)
        assert isinstance(metric.explain(made), tuple)
        if stats is not None:
            assert 0 <= (metric.value(stats) or 0) <= 1


FACTS = CometFacts(model="wmt22-comet-da", sha256="ab" * 32, imported=False)


def comet(target: str = "crk", facts: CometFacts | None = FACTS, source: str = "en") -> Comet:
    setup = ScoringSetup(metrics=("comet_score",), source_language=source, target_language=target, comet=facts)
    return Comet(Resources(setup))


def scored(score: object, output: str = "x") -> Translation:
    return Translation(entry("y"), output, {"comet": score})


def test_comet_statistics_mean_and_outside_range() -> None:
    score: object
    for score, output, stats in [
        (0.81, "x", (0.81, 1, 0)), (1.02, "x", (1.0, 1, 1)), (-0.1, "x", (0.0, 1, 1)),
        (0.4, "", (0.0, 1, 0)), (1, "x", (1.0, 1, 0)), (None, "x", None), (math.nan, "x", None),
    ]:  # fmt: skip
        assert comet().stats(scored(score, output)) == stats
    metric = comet()
    assert metric.value((1.5, 2, 1)) == 0.75
    assert metric.value((0, 0, 0)) is None
    fields = metric.further(np.array([1.5, 2, 1]))
    assert fields == {"comet_low_resource_warning": True, "comet_outside_range": 1}
    [outside, warning] = metric.explain(scored(1.02))
    assert "1.0200" in outside
    assert "not calibrated" in warning


def test_comet_warning_and_signature() -> None:
    for source, target, warned in [
        ("en", "crk", True), ("eng", "deu", False), ("EN", "uk_Cyrl", False), ("und", "de", True),
    ]:  # fmt: skip
        metric = comet(target, source=source)
        assert metric.further(np.zeros(3))["comet_low_resource_warning"] is warned
        assert f"low-resource-warning:{'yes' if warned else 'no'}" in metric.signature
        assert bool(metric.explain(scored(0.5))) is warned
    assert "model:wmt22-comet-da-abababababab|from:checkpoint" in comet().signature
    imported = CometFacts(model="a|b:c.tsv", sha256="cd" * 32, imported=True)
    assert "model:a/b=c.tsv-cdcdcdcdcdcd|from:file" in comet(facts=imported).signature


def test_off_with_the_reason_and_out_of_the_composite() -> None:
    setup = comet(facts=None)._setup  # COMET without the facts of a model
    on, off = choose_metrics(Resources(setup), {"comet_score"})
    assert on == ()
    assert "--comet" in off["comet_score"]
    assert "when all outputs are in" in comet().why_missing
    assert all("comet_score" not in weights for weights in specification().profiles.values())


@examples(15, 100)
@given(st.lists(st.floats(), max_size=8))
def test_no_score_raises_or_leaves_the_range(scores: list[float]) -> None:
    metric = comet()
    stats = [found for score in scores if (found := metric.stats(scored(score))) is not None]
    value = metric.value(np.sum(stats, axis=0)) if stats else None
    assert value is None or 0 <= value <= 1
