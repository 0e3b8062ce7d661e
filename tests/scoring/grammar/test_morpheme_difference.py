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
from tests.review.thorough import examples
from tests.scoring.analysed import CREE, annotation, cree_words, needs_cree


def said(output: str, reference: str, **lexicon: Any) -> list[str]:
    return [found.words for found in morpheme_differences(annotation(output, reference, **lexicon))]


def test_esperanto() -> None:
    for output, reference, words in [
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
    ]:
        assert said(output, reference) == words


def test_counterparts_have_a_likeness() -> None:
    """A lemma binds more than letters, letters more than a class of words, and place alone does not bind."""
    for output, reference, words in [
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
    ]:  # fmt: skip
        found = morpheme_differences(annotation(output, reference))
        assert [
            "surplus" if each.category == "surplus word" and "surplus" in words else each.words
            for each in found
        ] == words


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


def test_tags_of_other_languages_are_told() -> None:
    lexicon = {"hundo": ("hundo+N+Sg",), "hundon": ("hundo+N+Sg+Acc",)}
    assert said("hundo", "hundon", lexicon=lexicon) == [
        "“hundo”: object ending (accusative) missing."
    ]
    assert said("hundon", "hundo", lexicon=lexicon) == [
        "“hundon”: object ending (accusative) where none is expected."
    ]
    assert features({"N", "A", "Sg"})["animacy"] == ("animate",)
    assert features({"A", "Sg"})["word class"] == ("adjective",)
    assert features({"Pron", "Dem", "A"})["animacy"] == ("animate",)
    assert "animacy" not in features({"Pron", "Pers", "1Sg", "Poss", "A"})
    assert features({"V", "Fut", "Def"})["tense"] == ("definite future", "future")
    (fault,) = inflection_faults({"N", "Qqq"}, {"N", "{found}"})
    assert fault.words == "tag Qqq instead of {found}"
    assert [
        (fault.category, fault.words)
        for fault in inflection_faults({"V", "Inf"}, {"V", "Prs"})
        + inflection_faults({"V", "Prs", "Ind"}, {"V", "PrfPrc"})
    ] == [
        ("tense", "infinitive instead of present"),
        ("verb form", "present and statement (indicative) instead of past participle"),
    ]
    faults = inflection_faults({"PV/ki", "V", "4Sg/PlO"}, {"V", "4SgO", "PV/e"})
    assert [fault.words for fault in faults] == ["preverb ki instead of e"]


def test_tags_of_other_languages() -> None:
    for found, expected, words in [
        ("Sg1", "Pl1", "singular instead of plural"),
        ("Nom", "Ill", "base form (nominative) instead of “into” form (illative)"),
        ("Prt", "Prs", "past instead of present"),
        ("Msc", "Fem", "masculine instead of feminine"),
        ("PxSg1", "PxSg3", "1st person possessor instead of 3rd"),
        ("Imprt", "Cond", "command (imperative) instead of conditional"),
        ("Inan", "Anim", "inanimate instead of animate"),
    ]:
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


def test_readme_values_and_tags_of_shipped_analysers_have_words() -> None:
    assert [
        (found.category, found.found, found.expected)
        for found in morpheme_differences(annotation("atimwak", "atim", CREE))
    ] == [("number", "plural", "singular")]
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


@examples(15, 100)
@given(texts, texts)
def test_annotations_compare(
    output: tuple[WordAnalysis, ...], reference: tuple[WordAnalysis, ...]
) -> None:
    for found in morpheme_differences(FstAnnotation(output, reference)):
        assert found.words.endswith(".")
        assert found.output is not None or found.reference is not None


@examples(15, 100)
@given(texts)
def test_a_text_does_not_differ_from_itself(text: tuple[WordAnalysis, ...]) -> None:
    assert morpheme_differences(FstAnnotation(text, text)) == ()
