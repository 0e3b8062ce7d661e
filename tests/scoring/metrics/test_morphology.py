"""What analysers tell: acceptance and morphological accuracy; and exact and equivalent match and length."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpora.formats.load import load
from corpora.languages.cards import find_card
from corpora.languages.tags import SHIPPED
from corpora.model.entry import Entry
from corpora.samples import DEMO_CORPUS, DEMO_STRONG, DEMO_WEAK, sample_path
from harness.annotators.fst import FstAnnotator
from harness.fst.analyser import open_analyser
from scoring.core.setup import Acceptance, FstAnnotation, ScoringSetup, Translation, WordAnalysis
from scoring.metrics.inventory import choose_metrics, make_metrics
from scoring.metrics.match_ter import EquivalentMatch, ExactMatch, LengthRatio, equivalent_match
from scoring.metrics.morphology import MorphologicalAccuracy, why_no_morphology
from scoring.metrics.word_forms import FstAcceptance, why_no_acceptance
from scoring.words.source_words import Resources
from tests.growth import grows_less
from tests.review.thorough import examples
from tests.scoring.analysed import (
    CREE,
    ESPERANTO,
    annotation,
    cree_words,
    facts,
    needs_cree,
    resources,
    setup,
    translation,
)
from tests.scoring.cree import card
from tests.scoring.samples import entry, sentences

ACCEPTANCE = FstAcceptance(setup(facts()))
verdicts = st.lists(st.builds(WordAnalysis, st.text(), st.one_of(st.none(), st.sampled_from(Acceptance)))).map(tuple)


def test_acceptance_is_micro_and_counts_empty_outputs() -> None:
    for output, reference, stats in [
        ("mi vidas la hundon", "mi vidas la hundon", (4, 4, 1)),
        ("mi vidas la dog", "mi vidas la hundon", (3, 4, 0)), ("", "mi vidas la hundon", (0, 4, 0)),
        ("dog", "", (0, 1, 0)), ("", "", None),
    ]:  # fmt: skip
        assert ACCEPTANCE.stats(translation(output, reference)) == stats
    made = [
        translation("mi vidas", "mi vidas"), translation("", "la hundo"), translation("x", "la"),
    ]  # fmt: skip
    total = [sum(column) for column in zip(*map(ACCEPTANCE.stats, made), strict=True)]
    assert ACCEPTANCE.value(total) == pytest.approx(2 / 5)
    assert ACCEPTANCE.further(total) == {"fst_accepted": 2, "fst_accepted_entries": 1}  # type: ignore[arg-type]
    bare = Translation(entry("r"), "r")
    assert (ACCEPTANCE.stats(bare), ACCEPTANCE.explain(bare)) == (None, ())


@examples(15, 100)
@given(verdicts, verdicts)
def test_values_stay_in_their_range(output: Any, reference: Any) -> None:
    found = Translation(entry("r"), "o", {"fst": FstAnnotation(output, reference)})
    stats = ACCEPTANCE.stats(found)
    assert (stats is None) is (not output and not reference)
    if stats is not None:
        assert 0 <= ACCEPTANCE.value(stats) <= 1
        assert bool(stats[2]) == (ACCEPTANCE.value(stats) == 1)
    assert ACCEPTANCE.explain(found)


def test_explanation_names_rejected_words_and_is_cut() -> None:
    output = (
        WordAnalysis("Niwâpamâw", Acceptance.LOWER_CASED),
        WordAnalysis("atim", Acceptance.AS_WRITTEN), WordAnalysis("tānisi", Acceptance.NORMALISED),
        WordAnalysis("xyzzy", None), WordAnalysis("xyzzy", None),
    )  # fmt: skip
    reference = (WordAnalysis("atim", Acceptance.AS_WRITTEN), WordAnalysis("Neil", None))
    found = Translation(entry("r"), "o", {"fst": FstAnnotation(output, reference)})
    assert ACCEPTANCE.explain(found) == (
        "3 of 5 words are accepted by the analyser; rejected: xyzzy (2×).",
        "Accepted only when lower-cased: Niwâpamâw.",
        "Accepted only after the language card's spelling replacements: tānisi.",
        "Of the reference's own words it accepts 1 of 2.",
    )
    many = tuple(WordAnalysis(f"w{number}", None) for number in range(40))
    said = ACCEPTANCE.explain(Translation(entry("r"), "o", {"fst": FstAnnotation(many, ())}))
    assert said[0].endswith("w11 and 28 more.")

    metric = FstAcceptance(setup(facts(acceptor=True)))
    assert "kind:acceptor" in metric.signature
    assert "spell-checker" in metric.explain(translation("mi", "mi"))[0]
    assert "fst:0123456789ab|" in ACCEPTANCE.signature
    other_engine = FstAcceptance(setup(facts(engine="hfst", engine_version="3.16")))
    assert other_engine.signature == ACCEPTANCE.signature
    assert FstAcceptance(setup(facts(sha256="f" * 64))).signature != ACCEPTANCE.signature


def test_missing_or_wrong_analyser_is_a_reason() -> None:
    reason = why_no_acceptance(setup()) or ""
    assert "rosetta language check eo" in reason
    assert FstAcceptance(setup()).why_missing == reason
    wrong = Resources(setup(facts(reference_words=1204, reference_accepted=373)))
    for part in ("31 %", "1,204 words", "under 50 %", "normal form"):
        assert part in (why_no_acceptance(wrong.setup) or "")
    just = Resources(setup(facts(reference_words=10, reference_accepted=5)))
    assert why_no_acceptance(just.setup) is None
    none = Resources(setup(facts(reference_words=0, reference_accepted=0)))
    assert "no word" in (why_no_acceptance(none.setup) or "")
    found = Resources(setup(facts()))
    assert "fst_acceptance_rate" in choose_metrics(found, ["fst_acceptance_rate"])[0]
    assert "fst_acceptance_rate" in [metric.info.id for metric in make_metrics(found)]
    _, off = choose_metrics(Resources(setup()), ["fst_acceptance_rate"])
    assert "no analyser" in off["fst_acceptance_rate"]


@needs_cree
def test_acceptance_of_real_cree() -> None:
    analyse = cree_words()
    words = FstAnnotation(analyse("niwâpamâw atim xyzzy tânisi."), analyse("niwâpamâw awasisak"))
    found = Translation(entry("r"), "o", {"fst": words})
    assert ACCEPTANCE.stats(found) == (3, 4, 0)
    assert ACCEPTANCE.explain(found)[-1] == "Of the reference's own words it accepts 1 of 2."


def test_exact_match_in_comparison_form() -> None:
    for output, reference, right in [
        ("tânisi", "tânisi", 1), ("  tânisi\u00a0 kiya\n", "tânisi kiya", 1),
        ("ta\u0302nisi", "tânisi", 1), ("Tânisi", "tânisi", 0), ("tânisi.", "tânisi", 0),
        ("tanisi", "tânisi", 0), ("", "tânisi", 0), ("", "", 0), (" ", "\u3000", 0),
        ("\u00ad", "\u00ad", 0), ("tânisi\u200b", "tânisi\u200b", 1),
    ]:  # fmt: skip
        assert ExactMatch().stats(Translation(entry(reference), output)) == (right, 1)


def test_equivalent_match_takes_reference_and_variants() -> None:
    metric = EquivalentMatch(has_variants=True)
    accepting = entry("tânisi", variants=("tânsi", "tān\u0131si"))
    assert metric.stats(Translation(accepting, "tânisi")) == (1, 1)
    assert metric.stats(Translation(accepting, " tânsi ")) == (1, 1)
    assert metric.stats(Translation(accepting, "tansi")) == (0, 1)
    assert metric.stats(Translation(entry("x", variants=("", "y")), "")) == (0, 1)
    assert metric.stats(Translation(entry("êkosi"), "êkosi")) == (1, 1)
    metric = EquivalentMatch(has_variants=False)
    assert metric.stats(Translation(entry("êkosi"), "êkosi")) is None
    assert "variants" in metric.why_missing


@examples(15, 100)
@given(sentences, sentences)
@example("\u00ad", "\u00ad")
def test_exact_never_exceeds_equivalent(output: str, reference: str) -> None:
    pair = Translation(entry(reference, variants=("other",)), output)
    exact, equivalent = ExactMatch().stats(pair), EquivalentMatch(has_variants=True).stats(pair)
    assert exact[0] <= equivalent[0]


def test_length_ratio_counts_composed_characters() -> None:
    metric = LengthRatio()
    assert metric.stats(Translation(entry("â"), "a\u0302a\u0302")) == (2, 1)
    assert metric.value((30, 20)) == 1.5
    assert LengthRatio().stats(Translation(entry(""), "abc")) is None
    assert (ExactMatch().value((0, 0)), metric.value((0, 0))) == (None, None)
    assert ExactMatch().value((1, 4)) == 0.25


def test_equivalent_match_needs_variants_or_rules_and_signs_alike() -> None:
    setup = ScoringSetup(
        metrics=("equivalent_match_rate",), source_language="en", target_language="crk",
        language_card="crk", language_card_sha256="ab" * 32, variant_rules=True,
    )  # fmt: skip
    for has_variants, rules in [(True, False), (False, True), (True, True), (False, False)]:
        told = setup.model_copy(update={"has_variants": has_variants, "variant_rules": rules})
        on, off = choose_metrics(Resources(told, card=card()), {"equivalent_match_rate"})
        assert on == (("equivalent_match_rate",) if has_variants or rules else ())
    assert "lists variants, and the language has no rules" in off["equivalent_match_rate"]
    whole, bare = (equivalent_match(Resources(setup, card=each)) for each in (card(), None))
    assert whole.signature == bare.signature
    assert "rules:crk-abababababab" in whole.signature
    assert whole.why_missing == bare.why_missing
    without = equivalent_match(Resources(setup.model_copy(update={"variant_rules": False})))
    assert "rules:none" in without.signature
    assert whole.value((1, 4)) == bare.value((1, 4)) == 0.25


METRIC = MorphologicalAccuracy(resources())
DOG = "mi vid-as la hund-o-n | 1sg see-PRS the dog-NOUN-ACC"
DOG_STRINGS = "mi+Pron+Pers+1Sg+Nom vidi+V+Prs la+Det hundo+N+Sg+Acc"


def test_interlinear() -> None:
    for output, right in [
        ("mi vidas la hundon", 9), ("la hundon mi vidas", 9),
        ("mi vidas la hundo", 8),  # no accusative
        ("mi vidas la hundojn", 9),  # the interlinear line says nothing of number
        ("mi vidas la katon", 8),  # inflected rightly, another lemma
        ("mi vidas la", 6), ("xyzzy", 0), ("", 0),
    ]:  # fmt: skip
        # mi: lemma, 1Sg; vidas: lemma, V, Prs; la: lemma; hundon: lemma, N, Acc
        assert METRIC.stats(translation(output, "mi vidas la hundon", DOG)) == (right, 9, 0)


def test_analyser_strings() -> None:
    for output, right in (
        ("mi vidas la hundon", 14), ("mi vidas la hundo", 13), ("mi vidas la hundojn", 13),
        ("mi iris la hundon", 12), ("", 0),
    ):  # fmt: skip
        found = translation(output, "mi vidas la hundon", DOG_STRINGS)
        assert METRIC.stats(found) == (right, 14, 0)


def test_words_are_paired_one_to_one_by_their_best_analysis() -> None:
    gold = "wâpamêw+V+TA+Ind+1Sg+3SgO atim+N+A+Sg"
    found = translation("niwâpamâw atim", "niwâpamâw atim", gold, CREE)
    assert METRIC.stats(found) == (10, 10, 0)
    once = translation("hundon", "hundon hundon", "hundo+N+Sg+Acc hundo+N+Sg+Acc")
    assert METRIC.stats(once) == (4, 8, 0)


def test_lemma_comes_from_the_reference_or_the_root() -> None:
    gold = "ir-is | go-PST"
    # “iri” and nothing that merely begins like it: the analyser knows “iris” of the reference.
    lexicon = {**ESPERANTO, "irasol": ("irasolo+V+Prt",)}
    assert METRIC.stats(translation("iras", "iris", gold, lexicon)) == (2, 3, 0)
    assert METRIC.stats(translation("irasol", "iris", gold, lexicon)) == (2, 3, 0)
    lexicon = {"hundo": ("hundo+N",), "hundejojn": ("hundejaro+N",), "la": ("lando+N",)}
    assert METRIC.stats(translation("hundo", "", "hund-o | dog-NOUN", lexicon)) == (2, 2, 0)
    assert METRIC.stats(translation("hundejojn", "", "hund-o | dog-NOUN", lexicon)) == (1, 2, 0)
    assert METRIC.stats(translation("la", "", "la | the", lexicon)) == (0, 1, 0)


def test_unmapped_glosses_numbers_and_entries_without_gold() -> None:
    not_given = translation("hundo", "hundo", "hund-o | dog-NOUN.PST")
    assert METRIC.stats(not_given) == (2, 2, 2)
    found = translation("hundo", "hundo", "hund-eg-o | dog-AUG-NOUN")
    assert METRIC.stats(found) == (2, 2, 1)
    assert METRIC.further([2, 2, 1]) == {"unmapped_glosses": 1}  # type: ignore[arg-type]
    assert METRIC.explain(found)[-1] == "Left out, because there is no tag of the analyser: AUG."
    found = translation("mi vidas", "mi vidas", "mi+Pron+1Sg 3+Num+Arab vidi+V+Prs .+CLB")
    assert METRIC.stats(found) == (6, 6, 2)
    assert METRIC.explain(found) == ("6 of 6 expected lemmas and tags are there.", "Left out, as no words: 3, ..")
    signs = translation("mi", "mi", "3+Num .+CLB")
    assert METRIC.stats(signs) == (0, 0, 2)
    assert METRIC.value((0, 0, 2)) is None
    assert METRIC.stats(translation("mi", "mi")) is None
    assert METRIC.stats(translation("mi", "mi", "free words about it")) is None
    entry = Entry(id=1, source="s", reference="mi", morphological_analysis=DOG)
    assert METRIC.stats(Translation(entry, "mi")) is None


def test_explanations_name_lemmas_and_missing_words() -> None:
    gold = "mi vid-as la hund-o-n mi ir-is | 1sg see-PRS the dog-NOUN-ACC 1sg go-PST"
    pair = "mi vidas la hundo mi iras", "mi vidas la hundon mi iris"
    assert METRIC.explain(translation(*pair, gold)) == (
        "12 of 14 expected lemmas and tags are there.",
        "“hundo”: base form (nominative) instead of object ending (accusative).",
        "“iras”: present instead of past.",
    )
    said = METRIC.explain(translation("katon", "hundo", "hundo+N+Pl+Nom"))
    assert said[1:] == ("“katon” (lemma kato) instead of “hundo”.",)
    [refused] = METRIC.explain(translation("mi", "mi", "mi | 1sg see"))
    assert "cannot be used: it has 1 words and 2 glosses" in refused


def test_words_that_stand_for_others_are_explained() -> None:
    """Counted is what words have in common; named are the words that stand for each other."""
    pair = "katon mi mi mi iras", "iris mi mi mi hundon"
    assert METRIC.explain(translation(*pair, "iri+V+Prt hundo+N+Sg+Acc")) == (
        "5 of 7 expected lemmas and tags are there, 3 of them in words that stand for others.",
        "“iras”: present instead of past.",
        "“hundon” is missing.",
    )


def test_reasons_depend_on_the_setup_alone() -> None:
    gold = Entry(id=5, source="s", reference="r", morphological_analysis=DOG)
    bad = Entry(id=6, source="s", reference="r", morphological_analysis="1 | 2 3")
    bare = Entry(id=7, source="s", reference="r")
    assert "no analyser" in (why_no_morphology(Resources(setup(), covered=[gold])) or "")
    assert "acceptor" in (why_no_morphology(resources([gold], acceptor=True)) or "")
    assert "only 3 %" in (why_no_morphology(resources([gold], reference_accepted=3)) or "")
    assert why_no_morphology(resources([bare])) == "no entry has a morphological analysis"
    assert "entry 6: it has 1 words and 2 glosses" in (why_no_morphology(resources([bad])) or "")
    assert why_no_morphology(resources([bad, gold])) is None
    without_card = Resources(setup(facts()), covered=[gold])
    assert "glosses" in (why_no_morphology(without_card) or "")
    _, off = choose_metrics(resources([bare]), ["morphological_accuracy"])
    assert off["morphological_accuracy"] == "no entry has a morphological analysis"
    assert "no analyser" in MorphologicalAccuracy(Resources(setup())).why_missing
    assert "analysis" in MorphologicalAccuracy(Resources(setup(facts()))).why_missing


some_words = st.lists(st.sampled_from([*ESPERANTO, "xyzzy"]), max_size=8).map(" ".join)
golds = st.sampled_from([DOG, DOG_STRINGS, "hundo+N+Sg+Nom hundo+N+Pl+Acc", "ir-is | go-PST"])


@examples(15, 100)
@given(some_words, some_words, golds, st.integers(0, 7))
def test_a_dropped_word_never_raises_it(output: str, reference: str, gold: str, place: int) -> None:
    words = output.split()
    dropped = " ".join(words[:place] + words[place + 1 :])
    whole = METRIC.stats(translation(output, reference, gold))
    less = METRIC.stats(translation(dropped, reference, gold))
    assert 0 <= less[0] <= whole[0] <= whole[1] == less[1]


@examples(15, 100)
@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_no_text_raises(output: str, reference: str, gold: str) -> None:
    lexicon = {word: (f"{word}+N+Sg", word) for word in output.split()}
    found = translation(output, reference, gold, lexicon)
    stats = METRIC.stats(found)
    assert stats is None or 0 <= (METRIC.value(stats) or 0) <= 1
    METRIC.explain(found)


def test_the_time_of_a_run_on_output_grows_as_its_length_does() -> None:
    entry = Entry(id=1, source="s", reference="hundon", morphological_analysis=DOG_STRINGS)
    text = "mi vidas hundojn katon "
    long = {many: {"fst": annotation(text * many, "hundon")} for many in (400, 2_000)}
    assert METRIC.stats(Translation(entry, "o", long[400])) == (11, 14, 0)
    assert grows_less(lambda many: METRIC.stats(Translation(entry, "o", long[many])), 400, 2_000, 2.5)


@needs_cree
def test_real_cree_in_both_notations() -> None:
    analyse = cree_words()
    strings = "wâpamêw+V+TA+Ind+1Sg+3SgO atim+N+A+Sg"
    lines = "ni-wâpam-âw atim | 1sg-see.TA-3sg.DIR dog.AN"
    table = {"1sg": "1Sg", "3sg.DIR": "3SgO", "TA": "V+TA", "AN": "A"}
    cree = resources().card
    glossed = cree.model_copy(update={"glosses": table})
    metric = MorphologicalAccuracy(Resources(setup(facts()), card=glossed))
    for gold, expected in ((strings, 10), (lines, 7)):
        entry = Entry(id=1, source="s", reference="r", morphological_analysis=gold)
        reference = analyse("niwâpamâw atim")
        right = FstAnnotation(reference, reference)
        assert metric.stats(Translation(entry, "o", {"fst": right})) == (expected, expected, 0)
        you = FstAnnotation(analyse("kiwâpamâw atim"), reference)
        assert metric.stats(Translation(entry, "o", {"fst": you})) == (expected - 1, expected, 0)
        said = metric.explain(Translation(entry, "o", {"fst": you}))
        assert said[1:] == ("“kiwâpamâw”: 2nd person instead of 1st.",)

    metric = MorphologicalAccuracy(Resources(setup(facts()), card=find_card("crk").card))
    entry = Entry(id=1, source="s", reference="r", morphological_analysis=lines)
    example = Translation(entry, "o", {"fst": FstAnnotation(reference, reference)})
    assert metric.value(metric.stats(example) or ()) == 1, "the specification's own example"


def test_demo_tells_weak_strong_and_people_apart() -> None:
    found = find_card("eo")
    annotator = FstAnnotator(open_analyser(SHIPPED / "epo" / "epo.hfstol"), found.card.writing("Latn"))
    metric = MorphologicalAccuracy(Resources(setup(facts()), card=found.card))
    entries, values = load(sample_path(DEMO_CORPUS)).reveal_here()[:48], []
    for name in (DEMO_WEAK, DEMO_STRONG, None):
        lines = sample_path(name).read_text("utf-8").splitlines() if name else []
        told = {row["id"]: row["output"] for row in map(json.loads, lines)}
        pairs = [Translation(each, told.get(each.id, each.reference)) for each in entries]
        made = zip(pairs, annotator.annotate(pairs), strict=True)
        known = [replace(pair, annotations={"fst": words}) for pair, words in made]
        total = np.sum([metric.stats(each) or () for each in known], axis=0)
        values.append(metric.value(total) or 0)
    assert values[0] + 0.1 < values[1] < values[2]
    assert values[2] > 0.99
    left_out = 0
    for item in entries:  # of its own analyser's strings every reference has all
        words = annotator.analyse_words(annotator.split(item.reference))
        signs = [f"{sign}+CLB" for sign in re.findall(r"[^\w\s]", item.reference)]
        gold = " ".join([*(word.analyses[-1] for word in words), *signs, "3+Num+Arab"])
        told_so = item.model_copy(update={"morphological_analysis": gold})
        (own,) = annotator.annotate([Translation(told_so, item.reference)])
        stats = metric.stats(Translation(told_so, item.reference, {"fst": own})) or ()
        assert metric.value(stats) == 1.0, item.reference
        left_out += int(stats[2])
    assert left_out > 48  # a number each, and the punctuation
