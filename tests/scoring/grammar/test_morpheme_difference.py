"""Differences of words in words; gold analyses in both notations, and analyser strings taken apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.languages.tags import SHIPPED
from harness.fst.layout import check_layout
from harness.fst.model import read_model
from scoring.core.setup import Acceptance, FstAnnotation, WordAnalysis
from scoring.grammar.gold_analysis import UnreadableAnalysisError, features, gold_words, inflection_faults, tagged_word
from scoring.grammar.morpheme_difference import morpheme_differences, sentences
from tests.harness.sealed.refusals import refuses
from tests.outside import DESCRIPTIVE, RUSSIAN, STRICT
from tests.review.thorough import examples, first
from tests.scoring.analysed import CREE, GLOSSES, annotation, cree_words, needs_cree


def said(output: str, reference: str, **lexicon: Any) -> list[str]:
    return [found.words for found in morpheme_differences(annotation(output, reference, **lexicon))]


SURPLUS = [f"“{word}” has no counterpart in the reference." for word in ("la", "la", "mi")]


def test_esperanto() -> None:
    """A lemma binds more than letters, letters more than a class of words, and place alone does not bind."""
    for output, reference, words in [
        ("mi vidas la hundon", "mi vidas la hundon", []),
        ("hundo", "hundon", ["“hundo”: base form (nominative) instead of object ending (accusative)."]),
        ("hundojn", "hundon", ["“hundojn”: plural instead of singular."]),
        ("mi iras", "mi iris", ["“iras”: present instead of past."]),
        ("la vendejo", "la butiko", ["“vendejo” (lemma vendejo) instead of “butiko”."]),
        ("la hundoj", "la hundo", ["“hundoj” is not a word the analyser knows; the reference has “hundo”."]),
        ("mi", "mi hejmen", ["“hejmen” is missing."]),
        ("mi mi", "mi", SURPLUS[2:]), ("la la mi iras", "iris", [*SURPLUS, "“iras”: present instead of past."]),
        ("katon", "mi", ["“katon” has no counterpart in the reference.", "“mi” is missing."]),
        ("iras mi", "mi vidas", ["“iras” (lemma iri) instead of “vidas”."]),
        ("butiko", "butikon", ["“butiko” instead of “butikon”."]),
        ("station", "mi", ["“station” has no counterpart in the reference, and the analyser does not know it.", "“mi” is missing."]),
    ]:  # fmt: skip
        assert said(output, reference) == words


def test_words_are_told_once_and_order_is_no_difference() -> None:
    lexicon = {"bona": ("bona+A+Sg+Nom",), "bonajn": ("bona+A+Pl+Acc",)}
    found = morpheme_differences(annotation("bona", "bonajn la La", lexicon))
    assert sentences(found) == (
        "“bona”: singular instead of plural, base form (nominative) instead of object ending (accusative).",
        "“La” is missing.",
    )
    lexicon = {"La": ("la+Det",), "la": ("la+Det",), "hundo": ("hundo+N",)}
    assert said("hundo La", "la hundo", lexicon=lexicon) == []
    faults = inflection_faults({"V", "Prt"}, {"A", "Act", "PrfPrc", "Sg", "Nom"})
    assert [fault.words for fault in faults] == ["verb instead of adjective"]
    assert len(inflection_faults({"V", "Prt", "Sg"}, {"V", "Prs", "Pl"})) == 2
    lexicon = {"havas": ("havi+V+Prs",), "uzanto": ("uzi+V+Act+PrsPrc+N+Sg+Nom",)}
    assert said("havas", "uzanto", lexicon=lexicon) == [
        "“havas” has no counterpart in the reference.",
        "“uzanto” is missing.",
    ]


def test_tags_of_other_languages_are_told() -> None:
    lexicon = {"hundo": ("hundo+N+Sg",), "hundon": ("hundo+N+Sg+Acc",)}
    [lost] = said("hundo", "hundon", lexicon=lexicon)
    [added] = said("hundon", "hundo", lexicon=lexicon)
    assert lost == "“hundo”: object ending (accusative) missing."
    assert added == "“hundon”: object ending (accusative) where none is expected."
    assert features({"N", "A", "Sg"})["animacy"] == ("animate",)
    assert features({"A", "Sg"})["word class"] == ("adjective",)
    assert features({"Pron", "Dem", "A"})["animacy"] == ("animate",)
    assert "animacy" not in features({"Pron", "Pers", "1Sg", "Poss", "A"})
    assert features({"V", "Fut", "Def"})["tense"] == ("definite future", "future")
    (fault,) = inflection_faults({"N", "Qqq"}, {"N", "{found}"})
    assert fault.words == "tag Qqq instead of {found}"
    for tags, expected, words in [
        ("V Inf", "V Prs", "infinitive instead of present"),
        ("V Prs Ind", "V PrfPrc", "present and statement (indicative) instead of past participle"),
        ("PV/ki V 4Sg/PlO", "V 4SgO PV/e", "preverb ki instead of e"),
        ("Sg1", "Pl1", "singular instead of plural"),
        ("Nom", "Ill", "base form (nominative) instead of “into” form (illative)"),
        ("Prt", "Prs", "past instead of present"),
        ("Msc", "Fem", "masculine instead of feminine"),
        ("PxSg1", "PxSg3", "1st person possessor instead of 3rd"),
        ("Imprt", "Cond", "command (imperative) instead of conditional"),
        ("Inan", "Anim", "inanimate instead of animate"),
    ]:
        found = inflection_faults(set(tags.split()), set(expected.split()))
        assert [each.words for each in found] == [words]


@needs_cree
def test_real_cree() -> None:
    analyse = cree_words()
    for output, reference, words in [
        ("niwâpamâw atim", "kiwâpamâw atim", ["“niwâpamâw”: 1st person instead of 2nd."]),
        ("niwâpamâw", "wâpamêw", ["“niwâpamâw”: 1st person instead of 3rd.",
                                  "“niwâpamâw”: 3rd person object instead of 3rd obviative."]),
        ("awâsisak", "awâsis", ["“awâsisak”: plural instead of singular."]),
        ("ê-kî-nipât", "ê-nipât", ["“ê-kî-nipât”: preverb ki too many."]),
        ("maskwa nipâw", "atim nipâw", ["“maskwa” (lemma maskwa) instead of “atim”."]),
    ]:  # fmt: skip
        found = morpheme_differences(FstAnnotation(analyse(output), analyse(reference)))
        assert [difference.words for difference in found] == words


def tags_without_words(path: Path, least: int) -> list[str]:
    symbols = check_layout(read_model(path)).alphabet.symbols
    marked = {each for each in symbols if len(each) > 1 and "+" in each[:1] + each[-1:]}
    assert len(marked) > least
    tags = {each.strip("+") for each in marked}
    return sorted(tag for tag in tags if "other" in features({tag}))


@needs_cree
@pytest.mark.parametrize("path", first(1, [STRICT, DESCRIPTIVE, RUSSIAN]))
def test_every_tag_of_the_real_analysers_has_words(path: Path) -> None:
    assert tags_without_words(path, 80) == []


def test_readme_values_and_tags_of_shipped_analysers_have_words() -> None:
    [found] = morpheme_differences(annotation("atimwak", "atim", CREE))
    assert (found.category, found.found, found.expected) == ("number", "plural", "singular")
    assert found.fault == "plural instead of singular"
    assert tags_without_words(SHIPPED / "epo" / "epo.hfstol", 30) == []


words = st.builds(
    WordAnalysis,
    st.text(max_size=12),
    st.one_of(st.none(), st.sampled_from(Acceptance)),
    st.lists(st.text() | st.sampled_from([*CREE["atim"], *CREE["wâpamêw"]]), max_size=3).map(tuple),
)
texts = st.lists(words, max_size=8).map(tuple)


@examples(15, 100)
@given(texts, texts)
def test_any_texts_compare_and_none_differs_from_itself(output: Any, reference: Any) -> None:
    for found in morpheme_differences(FstAnnotation(output, reference)):
        assert found.words.endswith(".")
        assert found.output is not None or found.reference is not None
    assert morpheme_differences(FstAnnotation(output, output)) == ()


CREE_GLOSSES = {"1sg": "1Sg", "3sg.DIR": "3SgO", "TA": "TA", "AN": "A"}


def test_analyser_strings_taken_apart() -> None:
    for analysis, lemma, tags in [
        ("wâpamêw+V+TA+Ind+1Sg+3SgO", "wâpamêw", {"V", "TA", "Ind", "1Sg", "3SgO"}),
        ("PV/e+PV/ki+nipâw+V+AI+Cnj+3Sg", "nipâw", {"PV/e", "PV/ki", "V", "AI", "Cnj", "3Sg"}),
        ("IC+nipâw+V", "nipâw", {"IC", "V"}),
        ("giella+N+Cmp/SgNom+Cmp#teknologiija+N+Sg+Nom", "giella#teknologiija", {"N", "Sg", "Nom"}),
        ("tlacatl<n><abs>", "tlacatl", {"n", "abs"}), ("+", "+", set()), ("++CLB", "+", {"CLB"}),
        ("#+CLB+Sent", "#", {"CLB", "Sent"}), ("PV/e+", "PV/e+", set()), ("", "", set()),
    ]:  # fmt: skip
        found = tagged_word(analysis)
        assert (found.lemma, set(found.tags)) == (lemma, tags)


@examples(15, 100)
@given(st.text(max_size=40))
def test_any_string_is_taken_apart(text: str) -> None:
    assert "" not in tagged_word(text).tags


def test_analyser_notation_leaves_out_numbers_and_signs() -> None:
    words = gold_words("wâpamêw+V+TA+1Sg; atim+N+A+Sg\nêkosi+Ipc  mîna", GLOSSES)
    assert [word.shown for word in words] == ["wâpamêw", "atim", "êkosi", "mîna"]
    assert [word.size for word in words] == [4, 4, 2, 1]
    text = "Mi+Pron;la+Det ;+CLB ++CLB 3+Num+Arab <+PUNCT 5<num> .+CLB"
    words = gold_words(text, GLOSSES)
    assert [word.size for word in words] == [2, 2, 0, 0, 0, 0, 0, 0]
    left_out = [word.unmapped for word in words if not word.a_word]
    assert left_out == [(piece,) for piece in text.split()[1:]]
    mi, sign, number, stop = gold_words("mi , 3 . | 1sg , three .", GLOSSES)
    assert (mi.size, sign.size, number.size, stop.size) == (2, 0, 0, 0)


def test_interlinear_notation_of_demo_and_specification() -> None:
    text = "mi vid-as la hund-o-n | 1sg see-PRS the dog-NOUN-ACC"
    mi, vidas, la, hundon = gold_words(text, GLOSSES)
    assert (mi.form, mi.tags, mi.stems) == ("mi", {"1Sg"}, ("mi",))
    assert (vidas.form, vidas.tags, vidas.stems) == ("vidas", {"V", "Prs"}, ("vid",))
    assert (la.tags, la.stems) == (frozenset(), ("la",))
    assert (hundon.tags, hundon.stems) == ({"N", "Acc"}, ("hund",))
    see, dog = gold_words("ni-wâpam-âw atim | 1sg-see.TA-3sg.DIR dog.AN", CREE_GLOSSES)
    assert (see.stems, see.tags) == (("niwâpam", "wâpam"), {"1Sg", "TA", "3SgO"})
    assert (dog.stems, dog.tags) == (("atim",), {"A"})
    text = "mal-nov-a mult-e-kost-a | OPP-new-ADJ much-LINK-cost-ADJ"
    derived, linked = gold_words(text, {"OPP": "", "ADJ": "A", "LINK": ""})
    assert set(derived.stems) == {"malnov", "nov"}
    assert set(linked.stems) == {"multekost", "multkost"}

    # glosses without a tag are left out, or meanings
    (word,) = gold_words("hund-eg-o-j | dog-AUG-NOUN-PL", GLOSSES)
    assert (word.unmapped, word.tags) == (("AUG",), {"N", "Pl"})
    (word,) = gold_words("neniu | no.one", GLOSSES)
    assert (word.unmapped, word.tags, word.size) == ((), frozenset(), 1)


def test_what_cannot_be_read_says_why_and_quotes_nothing() -> None:
    for text, why in [
        ("verb, 1st person, transitive", "neither"), ("", "neither"),
        ("mi vid-as | 1sg", "2 words and 1 glosses"),
        ("mi vid-as | 1sg see", "word 2 has 2 segments and 1 glosses"),
        ("mi | 1sg | x", "segments | glosses"), ("mi | 1sg\nvidas", "segments | glosses"),
    ]:  # fmt: skip
        refuses(UnreadableAnalysisError, why.replace("|", r"\|"), gold_words, text, GLOSSES)
    refuses(UnreadableAnalysisError, "glosses", gold_words, "mi | 1sg", {})
    caught = refuses(UnreadableAnalysisError, "", gold_words, "sekreto vid-as | SECRET hidden", GLOSSES)
    assert "sekreto" not in str(caught)
    assert "hidden" not in str(caught)


@examples(15, 100)
@given(st.text(alphabet="ab-|+ .;A1\n=~", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        words = gold_words(text, GLOSSES)
    except UnreadableAnalysisError:
        return
    assert all(word.size >= 1 or word.unmapped for word in words)
