"""Variant classes, each with a near miss; the verdicts on meaning; and the page docs/plains-cree.md."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from corpora.languages.cards import VariantRules
from harness.fst.analyser import open_analyser
from scoring.core.setup import Translation
from scoring.grammar.variants import Equivalence, LintVerdict, VariantClass
from scoring.grammar.verdicts import TENTHS, GrammarJudgement, Judge, SemanticVerdict, content_words, stem
from scoring.metrics.match_ter import EquivalentMatch
from scoring.metrics.semantic import LEAST, MOST
from tests.outside import STRICT, only_with
from tests.review.thorough import examples
from tests.scoring.cree import ANALYSES, GLOSSES, annotation, card, translated
from tests.scoring.samples import entry, sentences

ORDER, SPELLING = VariantClass.WORD_ORDER, VariantClass.ORTHOGRAPHIC
PARTICLE, SYNONYM = VariantClass.OPTIONAL_PARTICLE, VariantClass.LEMMA_SYNONYM
PROGRESSIVE, WE = VariantClass.PROGRESSIVE_AMBIGUITY, VariantClass.INCLUSIVE_EXCLUSIVE

EATING = "He is eating."
WE_EAT = "We are done."


RULES = card().variants


@pytest.fixture(scope="module")
def cree() -> Equivalence:
    assert RULES is not None
    return Equivalence(RULES)


BY_ANY_MEANS = [
    ("nipâw atim", "atim nipâw", "", {ORDER}),
    ("minôsa wâpamêw atim", "atim wâpamêw minôsa", "", {ORDER}),
    ("niwāpamāw atim", "niwâpamâw atim", "", {SPELLING}),
    ("niwa\u0302pama\u0304w atim", "niwâpamâw atim", "", {SPELLING}),
    ("iýikohk nipâw", "iyikohk nipâw", "", {SPELLING}), ("e-mîcisot", "ê-mîcisot", "", {SPELLING}),
    ("ê mîcisot", "ê-mîcisot", "", {SPELLING}), ("ê- mîcisot", "ê-mîcisot", "", {SPELLING}),
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
    ("kimîcisonaw", "nimîcisonân", WE_EAT, {WE}), ("nikî-nipânân", "kikî-nipânaw", WE_EAT, {WE}),
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
    ("nipâw namôya atim", "namôya nipâw atim", ""), ("cî nipâw atim", "nipâw cî atim", ""),
    ("nipâw atim atim", "nipâw nipâw atim", ""),
    # spelling: another vowel, a hyphen that is no preverb's, a preverb without its hyphen
    ("niwapamaw", "niwâpamâw", ""), ("atim-mîna nipâw", "atim mîna nipâw", ""),
    ("êmîcisot", "ê-mîcisot", ""),
    # particles: one that is not optional, one for another, nothing else in the sentence
    ("kîspin atim nipâw", "atim nipâw", ""), ("kiya nipâw", "niya nipâw", ""),
    ("mêkwâc nipâw", "êkwa nipâw", ""), ("mêkwâc", "êkwa", ""), ("êkwa", "atim", ""),
    # synonyms: another number of the same lemma, a word of no group
    ("mistatimwak nipâw", "misatim nipâw", ""), ("minôs nipâw", "atim nipâw", ""),
    # progressive: the source is none, and the reference has what the output lacks
    ("ê-ati-mîcisot", "ê-mîcisot", "He eats."), ("ê-mîcisot", "ê-ati-mîcisot", EATING),
    ("ê-kî-mîcisot", "ê-mîcisot", EATING),
    # “we”: no first person plural, told by the source, two kinds of “we” at once, only half of it
    ("askînaw", "askînân", WE_EAT), ("nipinaw", "nipinân", WE_EAT),
    ("kimîcisonaw", "nimîcisonân", "You and I eat."),
    ("kimîcisonaw", "nimîcisonân", "We (excl.) eat."),
    ("niyanân kimîcisonaw", "niyanân nimîcisonân", WE_EAT),
    ("kinâpêminaw nimîcisonân", "ninâpêminân nimîcisonân", WE_EAT),
    ("kimîcisonaw ninâpêminân", "nimîcisonân kinâpêminaw", WE_EAT),
    ("kimîcisonân", "nimîcisonân", WE_EAT), ("", "atim", ""), ("\u200b", "atim", ""),
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
    words = ["atim", "ê", "kî", "mistatim", "niya", "kimîcisonaw", "ati"] * 2_000
    assert cree.equivalent(" ".join(reversed(words[:-1])), " ".join(words), "") in {True, False}
    assert cree.classes("-" * 20_000, "ê-" * 20_000, "ing " * 20_000) is None


cree_words = st.sampled_from([*ANALYSES, "ati", "ê", "niya", "êhati-mîcisot", "nîya.", "Atim", "askînaw"])
cree_sentences = st.lists(cree_words, max_size=6).map(" ".join)


@examples(15, 100)
@given(cree_sentences, cree_sentences, st.sampled_from(["", "He eats.", WE_EAT]))
def test_equivalence_goes_both_ways(one: str, other: str, source: str) -> None:
    cree = Equivalence(RULES or VariantRules())
    known = annotation(one, other)
    there = cree.equivalent(one, other, source, known)
    if one.strip():
        assert (cree.classes(one, other, source, known) is not None) == there
        assert there == cree.equivalent(other, one, source, known) or not other.strip()


@examples(15, 100)
@given(sentences, sentences, sentences)
def test_no_text_raises(output: str, reference: str, source: str) -> None:
    metric = EquivalentMatch(has_variants=True, rules=RULES)
    item = entry(reference, variants=("x",)).model_copy(update={"source": source})
    assert metric.stats(Translation(item, output))[0] in {0, 1}
    assert isinstance(metric.explain(Translation(item, output)), tuple)
    same = metric.verdict(Translation(item, reference))
    assert same in {LintVerdict.EXACT, LintVerdict.NO_OUTPUT}


def test_the_metric_gives_the_verdicts_and_says_why() -> None:
    metric = EquivalentMatch(has_variants=False, rules=RULES, card="crk-0123")
    for output, verdict in [
        ("atim nipâw", LintVerdict.EXACT), ("nipâw atim", LintVerdict.EQUIVALENT),
        ("minôs nipâw", LintVerdict.MISS), (" ", LintVerdict.NO_OUTPUT),
    ]:  # fmt: skip
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
        ({"synonyms": [["a", "b"], ["b", "c"]]}, "'b' is in two groups"),
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


near = st.lists(cree_words, min_size=1, max_size=5).flatmap(
    lambda words: st.tuples(cree_words.map(lambda other: " ".join([*words[1:], other])),
                            st.permutations(words).map(" ".join))
)  # fmt: skip


@examples(15, 100)
@given(st.one_of(near, st.tuples(cree_sentences, cree_sentences)), st.booleans())
def test_quick_difference_is_no_variant(pair: tuple[str, str], analysed: bool) -> None:
    cree = Equivalence(RULES or VariantRules())
    known = annotation(*pair) if analysed else None
    for source in (EATING, WE_EAT):
        compared_in_full = cree.classes(*pair, source, known) is not None
        assert cree.equivalent(*pair, source, known) is (compared_in_full and bool(pair[0].strip()))


V = SemanticVerdict


def judge(output: str, reference: str, source: str) -> GrammarJudgement:
    writing = card().writing("Latn")
    judge = Judge(GLOSSES, card().variants, writing.normalisation)
    made = translated(output, reference, source)
    return judge.judge(made, annotation(output, reference))


def test_verdicts() -> None:
    for output, reference, source, verdict in [
        ("niwâpamâw atim", "niwâpamâw atim", "I see the dog.", V.EXACT_MATCH),
        ("Niwâpamâw atim!", "niwâpamâw atim", "I see the dog.", V.EXACT_MATCH),
        # equivalent by the rules of the language
        ("atim niwâpamâw", "niwâpamâw atim", "I see the dog.", V.VALID),
        ("êkwa niwâpamâw atim", "niwâpamâw atim", "I see the dog.", V.VALID),
        ("kimîcisonaw", "nimîcisonân", "We are eating.", V.VALID),
        # another word of the same meaning
        ("nipâw mistatim", "nipâw misatim", "The horse sleeps.", V.VALID),
        # explained by the source, where the reference says it with words that no one knows
        ("niwâpamâw atim", "xyzzy frobnitz", "I see the dog.", V.VALID),
        ("nipâw minôs", "blah minôs", "The cat is sleeping.", V.VALID),
        # all is there, put together differently
        ("kiwâpamâw atim", "niwâpamâw atim", "I see the dog.", V.WRONG_ORDER),
        ("minôs wâpamêw atimwa", "atim wâpamêw minôsa", "The dog sees the cat.", V.WRONG_ORDER),
        ("minôs nipâw êkwa atim mîcisow", "atim nipâw êkwa minôs mîcisow", "The dog sleeps and the cat eats.", V.WRONG_ORDER),
        # something is missing, or something is there that nobody asked for
        ("niwâpamâw", "niwâpamâw atim", "I see the dog.", V.PARTIAL),
        ("niwâpamâw atim", "namôya niwâpamâw atim", "I do not see the dog.", V.PARTIAL),
        ("namôya niwâpamâw atim", "niwâpamâw atim", "I see the dog.", V.PARTIAL),
        ("niwâpamâw atim minôs", "niwâpamâw atim", "I see the dog.", V.PARTIAL),
        ("niwâpamâw atim xyzzy", "niwâpamâw atim", "I see the dog.", V.PARTIAL),
        ("niwâpamâw atim 6", "niwâpamâw atim 5", "I see dog 5.", V.PARTIAL),
        ("nipâw", "atim nipâw minôs nâpêw", "dog cat man sleep", V.INCOMPLETE),
        ("minôs nipâw", "niwâpamâw atim", "I see the dog.", V.WRONG),
        ("xyzzy plugh", "niwâpamâw atim", "I see the dog.", V.WRONG),
        ("mîna", "niwâpamâw atim", "I see the dog.", V.WRONG),
        ("!!!", "niwâpamâw atim", "I see the dog.", V.WRONG),
        ("", "niwâpamâw atim", "I see the dog.", V.NO_OUTPUT), (" \u200b", "", "", V.NO_OUTPUT),
        ("5", "5", "5", V.EXACT_MATCH), ("…", "…", "…", V.EXACT_MATCH),
    ]:  # fmt: skip
        assert judge(output, reference, source).verdict is verdict


def test_the_seed_s_weights() -> None:
    assert {verdict.value: tenths / 10 for verdict, tenths in TENTHS.items()} == {
        "EXACT_MATCH": 1.0, "VALID": 1.0, "WRONG_ORDER": 0.7, "PARTIAL": 0.4, "INCOMPLETE": 0.3,
        "WRONG": 0.0, "NO_OUTPUT": 0.0,
    }  # fmt: skip


def test_reasons_name_the_words_as_they_were_written() -> None:
    found = judge("kiwâpamâw xyzzy minôs", "niwâpamâw atim", "I see the dog.")
    assert (found.missing, found.unknown) == (("atim",), ("xyzzy",))
    assert (found.unexplained, found.other_grammar) == (("minôs",), ("kiwâpamâw",))
    made = translated("See the minōs", "Niwâpamāw atim", "x")
    found = Judge(GLOSSES, None, (("e", "ê"), ("ā", "â"))).judge(made, made.annotations["fst"])
    assert (found.missing, found.unknown) == (("Niwâpamāw", "atim"), ("See", "the", "minōs"))


def test_a_dictionary_in_another_orthography_is_understood() -> None:
    writing = card().writing("Latn")
    made = translated("nipâw minôs", "frobnitz", "The cat sleeps.")
    for lemma in ("nipāw", "nipa\u0302w", "NIPÂW"):
        judge = Judge({lemma: ("s/he sleeps",), "minōs": ("cat",)}, None, writing.normalisation)
        assert judge.judge(made, made.annotations["fst"]).verdict is V.VALID


cree_texts = st.lists(st.sampled_from([*ANALYSES, "xyzzy", "wiyâs"]), max_size=6)
english = st.lists(st.sampled_from(["dog", "cat", "sees", "sleeps", "eats", "not", "man", "horse"]))


@examples(15, 100)
@given(cree_texts, st.data(), english)
def test_dropping_words_helps_nothing(reference: list[str], data: Any, source: list[str]) -> None:
    kept = data.draw(st.lists(st.booleans(), min_size=len(reference), max_size=len(reference)))
    once = [word for word, keep in zip(reference, kept, strict=True) if keep]
    cut = data.draw(st.integers(0, len(once)))
    twice = once[:cut] + once[cut + 1 :]
    texts = " ".join(reference), " ".join(source)
    more, less = (TENTHS[judge(" ".join(each), *texts).verdict] for each in (once, twice))
    assert less <= more


@examples(15, 150)
@given(sentences, sentences, sentences)
def test_reference_is_exact_and_no_text_raises(output: str, reference: str, source: str) -> None:
    assert TENTHS[judge(output, reference, source).verdict] in {0, 3, 4, 7, 10}
    assert judge(reference, reference, source).verdict in {V.EXACT_MATCH, V.NO_OUTPUT}


def test_stems_join_the_forms_of_a_word_and_no_others() -> None:
    for forms in [
        "sleep sleeps sleeping slept", "stop stops stopped stopping", "dance dances danced dancing",
        "cry cries cried crying", "see sees saw seen seeing", "call calls called calling",
        "pass passes passed passing", "go goes went gone going", "child children child's",
        "berry berries", "house houses", "no not never don't can't",
    ]:  # fmt: skip
        assert len({stem(form) for form in forms.split()}) == 1
    words = "sleep see sea bed bee red read king sing run rain dog glass gloss bus".split()  # noqa: SIM905
    assert len({stem(word) for word in words}) == len(words)
    assert content_words("s/he sees s.o., s/he has s.t. (e.g. a dog)") == {"see", "dog"}
    assert content_words("I don’t see it.") == {"no", "see"}
    assert content_words("She was the one") == frozenset()


PAGE = Path(__file__).parents[3].joinpath("docs", "plains-cree.md").read_text("utf-8")


def test_the_page_has_every_class_and_the_weights_of_the_code() -> None:
    rows = [line.split("|")[1].strip() for line in PAGE.splitlines() if line.count("|") == 4]
    assert {each.value for each in VariantClass} <= set(rows)
    found = re.findall(r"^\| ([A-Z_]+) \| ([\d.]+) \|", PAGE, re.MULTILINE)
    weights = {name: round(10 * float(weight)) for name, weight in found}
    assert weights == {verdict.value: tenths for verdict, tenths in TENTHS.items()}
    [section] = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert VariantRules.model_validate(tomllib.loads(section)["variants"]).free_word_order
    assert {"niya", "kiya", "wiya", "kîstanaw", "nîstanân"} <= set(RULES.optional_particles)
    assert {"wî", "ta"} <= set(RULES.preverbs)
    assert "kîspin" not in RULES.optional_particles
    assert f"{LEAST:g}–0".replace("-", "−") in PAGE
    assert f"1–{MOST:g}" in PAGE
