"""Differences of words in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.languages.cards import SHIPPED
from harness.fst.layout import check_layout
from harness.fst.model import read_model
from scoring.core.translation import Acceptance, FstAnnotation, WordAnalysis
from scoring.grammar.inflection import features, inflection_faults
from scoring.grammar.morpheme_difference import MorphemeDifference, morpheme_differences, sentences
from tests.outside import FST, STRICT
from tests.scoring.analysed import CREE, annotation, cree_words, needs_cree


def said(output: str, reference: str, **lexicon: Any) -> list[str]:
    return [found.words for found in morpheme_differences(annotation(output, reference, **lexicon))]


@pytest.mark.parametrize(
    ("output", "reference", "words"),
    [
        ("mi vidas la hundon", "mi vidas la hundon", []),
        (
            "hundo",
            "hundon",
            ["“hundo”: base form (nominative) instead of object ending (accusative)."],
        ),
        ("hundojn", "hundon", ["“hundojn”: plural instead of singular."]),
        ("mi iras", "mi iris", ["“iras”: present instead of past."]),
        ("la vendejo", "la butiko", ["“vendejo” (lemma vendejo) instead of “butiko”."]),
        (
            "la hundoj",
            "la hundo",
            ["“hundoj” is no word the analyser knows; the reference has “hundo”."],
        ),
        ("mi", "mi hejmen", ["“hejmen” is missing."]),
        ("mi mi", "mi", ["“mi” has no counterpart in the reference."]),
    ],
)
def test_esperanto(output: str, reference: str, words: list[str]) -> None:
    assert said(output, reference) == words


@pytest.mark.parametrize(
    ("output", "reference", "words"),
    [
        ("katon", "mi", ["“katon” has no counterpart in the reference.", "“mi” is missing."]),
        ("iras mi", "mi vidas", ["“iras” (lemma iri) instead of “vidas”."]),
        ("la la mi iras", "iris", 3 * ["surplus"] + ["“iras”: present instead of past."]),
        ("mi vidas hundon iras", "mi iris", ["surplus", "surplus", "“iras”: present instead of past."]),
        ("butiko", "butikon", ["“butiko” instead of “butikon”."]),
        ("butikistoj", "butiko", ["“butikistoj” is no word the analyser knows; the reference has “butiko”."]),
        ("station", "mi", [
            "“station” has no counterpart in the reference, and the analyser does not know it.",
            "“mi” is missing.",
        ]),
    ],
)  # fmt: skip
def test_counterparts_have_a_likeness(output: str, reference: str, words: list[str]) -> None:
    """A lemma binds more than letters, letters more than a class of words, and place alone does not bind."""
    found = morpheme_differences(annotation(output, reference))
    assert [
        "surplus" if each.category == "surplus word" and "surplus" in words else each.words
        for each in found
    ] == words


def test_each_word_is_named_in_one_sentence() -> None:
    lexicon = {"bona": ("bona+A+Sg+Nom",), "bonajn": ("bona+A+Pl+Acc",)}
    found = morpheme_differences(annotation("bona", "bonajn la La", lexicon))
    assert sentences(found) == (
        "“bona”: singular instead of plural, base form (nominative) instead of object ending (accusative).",
        "“La” is missing.",
    )


def test_order_and_case_of_letters_are_no_difference() -> None:
    lexicon = {"La": ("la+Det",), "la": ("la+Det",), "hundo": ("hundo+N",)}
    assert said("hundo La", "la hundo", lexicon=lexicon) == []


def test_fields_for_the_screen() -> None:
    assert morpheme_differences(annotation("hundojn", "hundon")) == (
        MorphemeDifference(
            output="hundojn",
            reference="hundon",
            category="number",
            found="plural",
            expected="singular",
            words="“hundojn”: plural instead of singular.",
            fault="plural instead of singular",
        ),
    )


def test_a_missing_ending_of_a_tag_set_without_nominative() -> None:
    lexicon = {"hundo": ("hundo+N+Sg",), "hundon": ("hundo+N+Sg+Acc",)}
    assert said("hundo", "hundon", lexicon=lexicon) == [
        "“hundo”: object ending (accusative) missing."
    ]
    assert said("hundon", "hundo", lexicon=lexicon) == [
        "“hundon”: object ending (accusative) where none is expected."
    ]


def test_tags_mean_different_things_in_different_company() -> None:
    assert features({"N", "A", "Sg"})["animacy"] == ("animate",)
    assert features({"A", "Sg"})["word class"] == ("adjective",)
    assert features({"Pron", "Dem", "A"})["animacy"] == ("animate",)
    assert "animacy" not in features({"Pron", "Pers", "1Sg", "Poss", "A"})
    assert features({"V", "Fut", "Def"})["tense"] == ("definite future", "future")


def test_tags_without_words_are_said_as_they_are() -> None:
    (fault,) = inflection_faults({"N", "Qqq"}, {"N", "{found}"})
    assert fault.words == "tag Qqq instead of {found}"


def test_an_infinitive_for_a_tense_is_one_fault() -> None:
    assert [
        (fault.category, fault.words)
        for fault in inflection_faults({"V", "Inf"}, {"V", "Prs"})
        + inflection_faults({"V", "Prs", "Ind"}, {"V", "PrfPrc"})
    ] == [
        ("tense", "infinitive instead of present"),
        ("verb form", "present and statement (indicative) instead of past participle"),
    ]


def test_preverbs_and_unspecified_numbers() -> None:
    faults = inflection_faults({"PV/ki", "V", "4Sg/PlO"}, {"V", "4SgO", "PV/e"})
    assert [fault.words for fault in faults] == ["preverb ki instead of e"]


@pytest.mark.parametrize(
    ("found", "expected", "words"),
    [
        ("Sg1", "Pl1", "singular instead of plural"),
        ("Nom", "Ill", "base form (nominative) instead of “into” form (illative)"),
        ("Prt", "Prs", "past instead of present"),
        ("Msc", "Fem", "masculine instead of feminine"),
        ("PxSg1", "PxSg3", "1st person possessor instead of 3rd"),
        ("Imprt", "Cond", "command (imperative) instead of conditional"),
        ("Inan", "Anim", "inanimate instead of animate"),
    ],
)
def test_tags_of_other_languages(found: str, expected: str, words: str) -> None:
    assert [fault.words for fault in inflection_faults({found}, {expected})] == [words]


@needs_cree
@pytest.mark.parametrize(
    ("output", "reference", "words"),
    [
        ("niwâpamâw atim", "kiwâpamâw atim", ["“niwâpamâw”: 1st person instead of 2nd."]),
        (
            "niwâpamâw",
            "wâpamêw",
            [
                "“niwâpamâw”: 1st person instead of 3rd.",
                "“niwâpamâw”: 3rd person object instead of 3rd obviative.",
            ],
        ),
        ("awâsisak", "awâsis", ["“awâsisak”: plural instead of singular."]),
        ("ê-kî-nipât", "ê-nipât", ["“ê-kî-nipât”: preverb ki too many."]),
        ("maskwa nipâw", "atim nipâw", ["“maskwa” (lemma maskwa) instead of “atim”."]),
    ],
)
def test_real_cree(output: str, reference: str, words: list[str]) -> None:
    analyse = cree_words()
    found = morpheme_differences(FstAnnotation(analyse(output), analyse(reference)))
    assert [difference.words for difference in found] == words


def real_tags() -> Iterator[str]:
    for name in (STRICT.name, "crk-descriptive-analyzer.hfstol", "rus-analyser-gt-desc.hfstol.gz"):
        for symbol in check_layout(read_model(FST / name)).alphabet.symbols:
            if "+" in symbol[:1] + symbol[-1:] and len(symbol) > 1:
                yield symbol.strip("+")


@needs_cree
def test_every_tag_of_the_real_analysers_has_words() -> None:
    tags = set(real_tags())
    assert len(tags) > 350
    assert sorted(tag for tag in tags if "other" in features({tag})) == []


def test_readme_values_of_cree() -> None:
    assert [
        (found.category, found.found, found.expected)
        for found in morpheme_differences(annotation("atimwak", "atim", CREE))
    ] == [("number", "plural", "singular")]


def test_every_tag_of_the_shipped_analyser_has_words() -> None:
    symbols = check_layout(read_model(SHIPPED / "epo" / "epo.hfstol")).alphabet.symbols
    tags = {symbol.strip("+") for symbol in symbols if symbol.startswith("+") and len(symbol) > 1}
    assert len(tags) > 30
    assert sorted(tag for tag in tags if "other" in features({tag})) == []


words = st.builds(
    WordAnalysis,
    st.text(max_size=12),
    st.one_of(st.none(), st.sampled_from(Acceptance)),
    st.lists(
        st.one_of(st.text(max_size=20), st.sampled_from([*CREE["atim"], *CREE["wâpamêw"]])),
        max_size=3,
    ).map(tuple),
)
texts = st.lists(words, max_size=8).map(tuple)


@given(texts, texts)
def test_any_annotation_is_compared(
    output: tuple[WordAnalysis, ...], reference: tuple[WordAnalysis, ...]
) -> None:
    for found in morpheme_differences(FstAnnotation(output, reference)):
        assert found.words.endswith(".")
        assert found.output is not None or found.reference is not None


@given(texts)
def test_a_text_does_not_differ_from_itself(text: tuple[WordAnalysis, ...]) -> None:
    assert morpheme_differences(FstAnnotation(text, text)) == ()


def test_a_word_of_another_class_is_told_by_its_class_alone() -> None:
    faults = inflection_faults({"V", "Prt"}, {"A", "Act", "PrfPrc", "Sg", "Nom"})
    assert [fault.words for fault in faults] == ["verb instead of adjective"]
    assert len(inflection_faults({"V", "Prt", "Sg"}, {"V", "Prs", "Pl"})) == 2


def test_no_word_of_another_class_is_a_counterpart() -> None:
    lexicon = {"havas": ("havi+V+Prs",), "uzanto": ("uzi+V+Act+PrsPrc+N+Sg+Nom",)}
    assert said("havas", "uzanto", lexicon=lexicon) == [
        "“havas” has no counterpart in the reference.",
        "“uzanto” is missing.",
    ]
