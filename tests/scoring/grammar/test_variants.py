"""The variant classes: each reaches EQUIVALENT, each has a near miss that does not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from corpora.languages.language import VariantRules
from harness.fst.analyser import open_analyser
from scoring.core.translation import Translation
from scoring.grammar.normal_form import VariantClass
from scoring.grammar.variants import Equivalence, LintVerdict
from scoring.metrics.match import EquivalentMatch
from tests.outside import STRICT, only_with
from tests.review.thorough import examples
from tests.scoring.cree import ANALYSES, annotation, card, translated
from tests.scoring.samples import entry, sentences

ORDER, SPELLING = VariantClass.WORD_ORDER, VariantClass.ORTHOGRAPHIC
PARTICLE, SYNONYM = VariantClass.OPTIONAL_PARTICLE, VariantClass.LEMMA_SYNONYM
PROGRESSIVE, WE = VariantClass.PROGRESSIVE_AMBIGUITY, VariantClass.INCLUSIVE_EXCLUSIVE

EATING = "He is eating."
WE_EAT = "We are done."


@pytest.fixture(scope="module")
def cree() -> Equivalence:
    rules = card().variants
    assert rules is not None
    return Equivalence(rules)


BY_ANY_MEANS = [
    ("nipâw atim", "atim nipâw", "", {ORDER}),
    ("minôsa wâpamêw atim", "atim wâpamêw minôsa", "", {ORDER}),
    ("niwāpamāw atim", "niwâpamâw atim", "", {SPELLING}),
    ("niwa\u0302pama\u0304w atim", "niwâpamâw atim", "", {SPELLING}),
    ("iýikohk nipâw", "iyikohk nipâw", "", {SPELLING}),
    ("e-mîcisot", "ê-mîcisot", "", {SPELLING}),
    ("ê mîcisot", "ê-mîcisot", "", {SPELLING}),
    ("ê- mîcisot", "ê-mîcisot", "", {SPELLING}),
    ("ê kî mîcisot", "ê-kî-mîcisot", "", {SPELLING}),
    ("êhati-mîcisot", "ê-ati-mîcisot", "", {SPELLING}),
    ("namôya-nipâw", "namôya nipâw", "", {SPELLING}),
    ("êkwa nipâw atim mêkwâc", "nipâw atim", "", {PARTICLE}),
    ("nipâw atim", "niya nipâw atim", "", {PARTICLE}),
    ("mistatim nipâw", "misatim nipâw", "", {SYNONYM}),
    ("môya nipâw", "namôya nipâw", "", {SYNONYM}),
    ("ê-ati-mîcisot", "ê-mîcisot", EATING, {PROGRESSIVE}),
    ("êhati-mîcisot", "ê-mîcisot", EATING, {PROGRESSIVE}),
    ("ê-ati-mîcisot minôs", "minôs ê-mîcisot", EATING, {PROGRESSIVE, ORDER}),
    ("kimîcisonaw", "nimîcisonân", WE_EAT, {WE}),
    ("nikî-nipânân", "kikî-nipânaw", WE_EAT, {WE}),
    ("ê-mîcisoyahk", "ê-mîcisoyâhk", WE_EAT, {WE}),
    ("kiyânaw kimîcisonaw", "niyanân nimîcisonân", WE_EAT, {WE}),
    ("Nipâw, atim!", "nipâw atim.", "", set()),
    ("nipâw misatim", "mēkwāc mistatim nipāw", "", {ORDER, SPELLING, PARTICLE, SYNONYM}),
    ("kimîcisonaw ê-ati-pôsiyahk", "ê-pôsiyâhk nimîcisonân", "We eat, leaving", {WE, ORDER, PROGRESSIVE}),
]  # fmt: skip


def test_equivalent_by_the_named_classes_and_near_misses(cree: Equivalence) -> None:
    for analysed in [True, False]:
        for output, reference, source, needed in BY_ANY_MEANS:
            known = annotation(output, reference) if analysed else None
            assert cree.equivalent(output, reference, source, known)
            assert set(cree.classes(output, reference, source, known) or ()) == needed
    for analysed in [True, False]:
        for output, reference, source in NEAR_MISSES:
            known = annotation(output, reference) if analysed else None
            assert not cree.equivalent(output, reference, source, known)
    assert cree.classes("nipâw. Atim", "nipâw atim", "") == ()
    assert cree.classes("êhati-mîcisot", "ê-mîcisot", EATING) == (PROGRESSIVE,)
    assert cree.classes("minôs", "atim", "") is None


NEAR_MISSES = [
    # word order: two clauses, two sentences, words whose place counts
    ("minôs nipâw êkwa atim mîcisow", "atim nipâw êkwa minôs mîcisow", ""),
    ("minôs nipâw. atim mîcisow.", "atim nipâw. minôs mîcisow.", ""),
    ("nipâw namôya atim", "namôya nipâw atim", ""),
    ("cî nipâw atim", "nipâw cî atim", ""),
    ("nipâw atim atim", "nipâw nipâw atim", ""),
    # spelling: another vowel, a hyphen that is no preverb's, a preverb without its hyphen
    ("niwapamaw", "niwâpamâw", ""),
    ("atim-mîna nipâw", "atim mîna nipâw", ""),
    ("êmîcisot", "ê-mîcisot", ""),
    # particles: one that is not optional, one for another, nothing else in the sentence
    ("kîspin atim nipâw", "atim nipâw", ""),
    ("kiya nipâw", "niya nipâw", ""),
    ("mêkwâc nipâw", "êkwa nipâw", ""),
    ("mêkwâc", "êkwa", ""),
    ("êkwa", "atim", ""),
    # synonyms: another number of the same lemma, a word of no group
    ("mistatimwak nipâw", "misatim nipâw", ""),
    ("minôs nipâw", "atim nipâw", ""),
    # progressive: the source is none, and the reference has what the output lacks
    ("ê-ati-mîcisot", "ê-mîcisot", "He eats."),
    ("ê-mîcisot", "ê-ati-mîcisot", EATING),
    ("ê-kî-mîcisot", "ê-mîcisot", EATING),
    # “we”: no first person plural, told by the source, two kinds of “we” at once, only half of it
    ("askînaw", "askînân", WE_EAT),
    ("nipinaw", "nipinân", WE_EAT),
    ("kimîcisonaw", "nimîcisonân", "You and I eat."),
    ("kimîcisonaw", "nimîcisonân", "We (excl.) eat."),
    ("niyanân kimîcisonaw", "niyanân nimîcisonân", WE_EAT),
    ("kinâpêminaw nimîcisonân", "ninâpêminân nimîcisonân", WE_EAT),
    ("kimîcisonaw ninâpêminân", "nimîcisonân kinâpêminaw", WE_EAT),
    ("kimîcisonân", "nimîcisonân", WE_EAT),
    ("", "atim", ""),
    ("\u200b", "atim", ""),
    ("...", "atim", ""),
]  # fmt: skip


def test_with_analyses_more_is_equivalent_than_by_looks(cree: Equivalence) -> None:
    """What only an analyser knows: the forms of a lemma, long forms, and which words are verbs."""
    for output, reference, needed in [
        ("misatimwak nipâwak", "mistatimwak nipâwak", {SYNONYM}),
        ("kimîcisonânaw", "nimîcisonân", {WE}),
        ("nipâwak atim mîna minôs", "atim mîna minôs nipâwak", {ORDER}),
    ]:
        assert not cree.equivalent(output, reference, WE_EAT)
        known = annotation(output, reference)
        assert cree.equivalent(output, reference, WE_EAT, known)
        assert set(cree.classes(output, reference, WE_EAT, known) or ()) == needed
    verbs = ("mîcisow nipâw", "nipâw mîcisow")
    assert cree.equivalent(*verbs, "")
    assert not cree.equivalent(*verbs, "", annotation(*verbs))
    # beginning and end of both words fit; the analyser knows them for something else
    others = {"nitânân": ("tânân+N+I+Sg",), "kitânaw": ("tânaw+N+I+Sg",)}
    assert not ANALYSES.keys() & others.keys()
    made = annotation("kitânaw", "nitânân")
    assert cree.equivalent("kitânaw", "nitânân", WE_EAT, made)
    for word in (*made.output, *made.reference):
        object.__setattr__(word, "analyses", others[word.word])
    assert not cree.equivalent("kitânaw", "nitânân", WE_EAT, made)


def test_rules_of_another_language_or_none_are_kept_to() -> None:
    bare = Equivalence(VariantRules())
    assert bare.equivalent(" atim  nipâw", "atim nipâw", "")
    for other in ("nipâw atim", "Atim nipâw", "atim nipâw.", "atim nipaw"):
        assert not bare.equivalent(other, "atim nipâw", "")
    rules = Equivalence(VariantRules(optional_particles=("nun",), synonyms=(("auto", "wagen"),)))
    assert rules.equivalent("Nun schläft Anna", "schläft Anna", "")
    assert rules.equivalent("ein Wagen", "ein Auto", "")
    assert not rules.equivalent("schläft anna", "schläft Anna", "")


def test_a_very_long_sentence_is_compared_in_bounded_time(cree: Equivalence) -> None:
    words = ["atim", "ê", "kî", "mistatim", "niya", "kimîcisonaw", "ati"] * 5_000
    assert cree.equivalent(" ".join(reversed(words[:-1])), " ".join(words), "") in {True, False}
    assert cree.classes("-" * 50_000, "ê-" * 50_000, "ing " * 50_000) is None


@examples(15, 100)
@given(sentences)
def test_every_text_says_the_same_as_itself(text: str) -> None:
    rules = card().variants
    assert rules is not None
    made = EquivalentMatch(has_variants=False, rules=rules)
    verdict = made.verdict(Translation(entry(text), text))
    assert verdict in {LintVerdict.EXACT, LintVerdict.NO_OUTPUT}


cree_words = st.sampled_from(
    [*ANALYSES, "ati", "ê", "niya", "êhati-mîcisot", "nîya.", "Atim", "askînaw"]
)
cree_sentences = st.lists(cree_words, max_size=6).map(" ".join)


@examples(15, 100)
@given(cree_sentences, cree_sentences, st.sampled_from(["", "He eats.", WE_EAT]))
def test_equivalence_goes_both_ways(one: str, other: str, source: str) -> None:
    rules = card().variants
    assert rules is not None
    cree = Equivalence(rules)
    known = annotation(one, other)
    assert cree.equivalent(one, other, source, known) == cree.equivalent(
        other, one, source, known
    ) or not (one.strip() and other.strip())
    found = cree.classes(one, other, source, known)
    if one.strip():
        assert (found is not None) == cree.equivalent(one, other, source, known)


@examples(15, 100)
@given(sentences, sentences, sentences)
def test_no_text_raises(output: str, reference: str, source: str) -> None:
    rules = card().variants
    assert rules is not None
    metric = EquivalentMatch(has_variants=True, rules=rules)
    made = Translation(
        entry(reference, variants=("x",)).model_copy(update={"source": source}), output
    )
    stats = metric.stats(made)
    assert stats[0] in {0, 1}
    assert isinstance(metric.explain(made), tuple)


def test_the_metric_gives_the_verdicts_and_says_why() -> None:
    rules = card().variants
    metric = EquivalentMatch(has_variants=False, rules=rules, card="crk-0123")
    for output, verdict in [
        ("atim nipâw", LintVerdict.EXACT),
        ("nipâw atim", LintVerdict.EQUIVALENT),
        ("minôs nipâw", LintVerdict.MISS),
        (" ", LintVerdict.NO_OUTPUT),
    ]:
        made = translated(output, "atim nipâw")
        assert metric.verdict(made) is verdict
        assert metric.stats(made) == (verdict in {LintVerdict.EXACT, LintVerdict.EQUIVALENT}, 1)
    [said] = metric.explain(translated("nipâw atim", "atim nipâw"))
    assert "another order" in said
    [said] = metric.explain(translated("Atim nipâw!", "atim nipâw"))
    assert "capitals or punctuation" in said
    [said] = metric.explain(translated("nipâw minôs", "atim nipâw", variants=("minôs nipâw",)))
    assert "a listed variant by the rules" in said
    assert metric.explain(translated("minôs", "atim")) == ()
    assert "rules:crk-0123" in metric.signature


def test_rules_that_make_no_sense_are_named() -> None:
    wrong: Any
    for wrong, said in [
        ({"synonyms": [["a", "b"], ["b", "c"]]}, "'b' stands in two groups"),
        ({"synonyms": [["a"]]}, "at least 2"),
        ({"progressive": ["ati"]}, "'ati' is not among the preverbs"),
        ({"fused": [["êhati", "ê-ati"]], "preverbs": ["ê"]}, "'êhati' is made of parts"),
        ({"optional_particles": ["two words"]}, "one word"),
        ({"preverbs": [""]}, "one word"),
        ({"clusive_affixes": [{"exclusive": ["", "nân"], "inclusive": ["ki", "naw"]}]}, "both a beginning"),
        ({"clusive_affixes": [{"exclusive": ["a", "b"], "inclusive": ["a", "b"]}]}, "the same"),
        ({"optional": ["x"]}, "Extra inputs"),
    ]:  # fmt: skip
        with pytest.raises(ValidationError, match=said):
            VariantRules.model_validate(wrong)


@only_with(STRICT)
def test_analyses_are_those_of_the_real_analyser() -> None:
    verdicts = open_analyser(STRICT).analyse(list(ANALYSES))
    assert {word: found for word, (_, found) in zip(ANALYSES, verdicts, strict=True)} == {
        word: tuple(sorted(found)) for word, found in ANALYSES.items()
    }


near = st.tuples(
    st.lists(cree_words, min_size=1, max_size=5), st.permutations(range(5)), cree_words
).map(
    lambda made: (
        " ".join([*made[0][1:], made[2]]),
        " ".join(made[0][place] for place in made[1] if place < len(made[0])),
    )
)


@examples(15, 100)
@given(st.one_of(near, st.tuples(cree_sentences, cree_sentences)), st.booleans())
def test_quick_difference_is_no_variant(pair: tuple[str, str], analysed: bool) -> None:
    rules = card().variants
    assert rules is not None
    cree = Equivalence(rules)
    known = annotation(*pair) if analysed else None
    for source in (EATING, WE_EAT):
        compared_in_full = cree.classes(*pair, source, known) is not None
        assert cree.equivalent(*pair, source, known) is (compared_in_full and bool(pair[0].strip()))
