"""Prescribed terms: found in the source, looked for in the output, and one rendering across the entries."""

from __future__ import annotations

from typing import Any

import pytest

from corpora.model.entry import Entry
from scoring.core.translation import Acceptance, FstAnnotation, Translation, WordAnalysis
from scoring.metrics.consistency import Consistency, why_no_consistency
from scoring.metrics.terminology_adherence import TerminologyAdherence, why_no_terminology
from scoring.words.terminology import Terminology
from tests.scoring.behaviour import card, entries, outputs, resources

TERMS = {
    "train": ["trajno"],
    "train station": ["stacidomo", "fervoja stacio"],
    "Dog": ["hundo"],
    "駅": ["stacidomo"],
}


ENDINGS = ("-n", "-j", "-jn")


def adherence(terms: dict[str, list[str]] = TERMS, **fields: Any) -> TerminologyAdherence:
    return TerminologyAdherence(resources([], terms, target_card=card(affixes=ENDINGS), **fields))


def taken(
    source: str, output: str, reference: str = "", **more: object
) -> tuple[float, ...] | None:
    entry = Entry(id=1, source=source, reference=reference, **more)
    return adherence().stats(Translation(entry, output))


def sources(terms: object) -> list[str]:
    return [" ".join(term.source) for term in terms]  # type: ignore[attr-defined]


def test_terms_are_found_as_words_in_order_without_case() -> None:
    terms = Terminology((key, tuple(to)) for key, to in TERMS.items())
    assert sources(terms.occurring("DOG at the Train Station!")) == [
        "dog",
        "train",
        "train station",
    ]
    assert sources(terms.occurring("dogs trains station")) == []
    assert sources(terms.occurring("station train dog dog")) == ["train", "dog"]
    assert sources(terms.occurring("東京の駅です")) == ["駅"]
    assert sources(terms.occurring("")) == []


def test_the_longest_of_terms_inside_one_another_applies() -> None:
    terms = Terminology((key, tuple(to)) for key, to in TERMS.items())
    assert sources(terms.applying("the train station")) == ["train station"]
    assert sources(terms.applying("a train to the train station")) == ["train", "train station"]
    crossing = Terminology([("a b", ("x",)), ("b c", ("y",))])
    assert sources(crossing.applying("a b c")) == ["a b", "b c"]


def test_phrases_that_differ_in_case_are_one_term_and_empty_ones_none() -> None:
    terms = Terminology(
        [("May", ("Majo",)), ("may", ("rajti", "Majo")), ("?!", ("x",)), ("a", (" ",))]
    )
    assert len(terms) == 1
    assert terms.terms[0].renderings == ("Majo", "rajti")


@pytest.mark.parametrize(
    ("output", "wanted"),
    [
        ("la hundo en la stacidomo", (2, 2)),
        ("la HUNDOJN en la fervojan stacion", (2, 2)),
        ("la hundido en la stacio fervoja", (0, 2)),
        ("hundoj", (1, 2)),
        ("", (0, 2)),
        ("the dog at the train station", (0, 2)),
    ],
)
def test_terms_are_kept_in_any_declared_form(output: str, wanted: tuple[int, int]) -> None:
    assert taken("the dog at the train station", output) == wanted


def test_a_bare_stem_is_another_word() -> None:
    metric = TerminologyAdherence(
        resources([], {"long": ["longa"]}, target_card=card(affixes=("a", "e", "an")))
    )
    entry = Entry(id=1, source="a long letter", reference="")
    for output, kept in (("longan", 1), ("longe", 1), ("long", 0), ("longas", 0)):
        assert metric.stats(Translation(entry, output)) == (kept, 1)


def test_nothing_applies_where_the_source_has_no_term() -> None:
    assert taken("a cat", "la hundo") is None


@pytest.mark.parametrize("output", ["Hundo!", "Kolbaspano!", ""])
def test_whether_a_term_applies_depends_on_the_reference_and_its_variants_only(output: str) -> None:
    assert taken("Hot dog!", output, "Kolbaspano!") is None
    assert taken("Hot dog!", output, "Kolbaspano!", variants=("Varma kolbaso!",)) is None
    kept = int(output == "Hundo!")
    assert taken("Hot dog!", output, "Hundoj!") == (kept, 1)
    assert taken("Hot dog!", output, "Kolbaspano!", variants=("Hundon!",)) == (kept, 1)


def test_one_hit_of_two_is_a_half() -> None:
    covered = entries([("the dog", "la hundo"), ("a dog", "hundo"), ("Hot dog!", "Kolbaspano!")])
    metric = adherence()
    rows = metric.stats_many(outputs(covered, ["hundoj", "besto", "hundo"]))
    assert rows == [(1, 1), (0, 1), None]
    assert metric.value((1, 2)) == 0.5


def analysed(word: str, *analyses: str) -> WordAnalysis:
    return WordAnalysis(word, Acceptance.AS_WRITTEN if analyses else None, analyses)


def test_an_output_s_analyses_do_not_decide_what_applies() -> None:
    entry = Entry(id=1, source="the dog", reference="bestoj", variants=("hundaĉo",))
    known = (analysed("hundaĉo", "hundo+N+Sg+Nom"),)
    translation = Translation(entry, "hundaĉo", {"fst": FstAnnotation(known, ())})
    assert adherence().stats(translation) is None


NEPAT = analysed("nêpât", "IC+nipâw+V+AI+Cnj+3Sg")


MECISOT = analysed("mêcisot", "IC+mîcisow+V+AI+Cnj+3Sg")


@pytest.mark.parametrize(
    ("prescribed", "reference", "output", "kept"),
    [
        ("nêpât", NEPAT, MECISOT, 0),
        ("nêpât", NEPAT, NEPAT, 1),
        ("nipâw", NEPAT, analysed("ninipân", "nipâw+V+AI+Ind+1Sg"), 1),
        ("nâ-nipâw", analysed("nâ-nipâw", "RdplS+nipâw+V+AI+Ind+3Sg"),
         analysed("nâ-mîcisow", "RdplS+mîcisow+V+AI+Ind+3Sg"), 0),
        ("tlacatl", analysed("tlacatl", "tlacatl<n><abs>"), analysed("tlacah", "tlacatl<n><pl>"), 1),
        ("domhundo", analysed("domhundo", "domo#hundo+N+Sg"), analysed("domo", "domo+N+Sg"), 0),
    ],
)  # fmt: skip
def test_lemmas_are_read_as_the_analyser_writes_them(
    prescribed: str, reference: WordAnalysis, output: WordAnalysis, kept: int
) -> None:
    entry = Entry(id=1, source="he sleeps", reference=reference.word)
    annotated = Translation(entry, output.word, {"fst": FstAnnotation((output,), (reference,))})
    assert adherence({"sleeps": [prescribed]}).stats(annotated) == (kept, 1)


def test_lemmas_decide_where_the_analyser_gives_them() -> None:
    metric = adherence({"see": ["wâpamêw"], "tree": ["puu"]})
    entry = Entry(id=1, source="they see the tree", reference="")
    annotation = FstAnnotation(
        (
            analysed("ê-wâpamât", "PV/e+wâpamêw+V+TA+Cnj+3Sg+4Sg/PlO"),
            analysed("puut", "puut+N+Sg"),
        ),
        (),
    )
    assert metric.stats(Translation(entry, "ê-wâpamât puut", {"fst": annotation})) == (1, 2)
    assert metric.stats(Translation(entry, "ê-wâpamât puut")) == (0, 2)


def test_what_is_missing_is_named() -> None:
    entry = Entry(id=1, source="the dog at the train station", reference="")
    assert adherence().explain(Translation(entry, "la hundo")) == (
        "“train station” should be stacidomo or fervoja stacio.",
    )
    assert adherence().explain(Translation(entry, "")) == (
        "“dog” should be hundo; “train station” should be stacidomo or fervoja stacio.",
    )
    assert adherence().explain(Translation(entry, "hundo, stacidomo")) == ()


def test_without_terms_it_is_off() -> None:
    assert why_no_terminology(resources([])) == "no terms are prescribed: give a dictionary"
    assert why_no_terminology(resources([], TERMS)) is None


MARKED = {"dog": ["hundo", "hundulo"], "cat": ["kato"]}


CORPUS = entries([("the dog", ""), ("a dog", ""), ("dog, dog", ""), ("a cat", "")])


@pytest.mark.parametrize(
    ("made", "wanted"),
    [
        (["hundo", "hundo", "hundo", "kato"], 1.0),
        (["hundo", "hundulo", "hundo", ""], 2 / 3),
        (["hundulo", "hundulo", "", "kato"], 2 / 3),
        (["besto", "besto", "besto", "kato"], 0.0),
        (["", "", "", ""], 0.0),
    ],
)
def test_occurrences_with_the_most_frequent_rendering(made: list[str], wanted: float) -> None:
    metric = Consistency(resources(CORPUS, MARKED))
    assert metric.corpus_value(outputs(CORPUS, made)) == pytest.approx(wanted)


def test_null_where_no_term_stands_in_two_entries() -> None:
    metric = Consistency(resources(CORPUS, {"cat": ["kato"]}))
    assert metric.corpus_value(outputs(CORPUS, ["kato"] * 4)) is None
    assert metric.corpus_value([]) is None


def test_without_a_dictionary_the_learned_links_tell() -> None:
    names = [
        "ba", "be", "bi", "bo", "bu", "da", "de", "di", "do", "du", "fa", "fe", "fi", "fo", "fu",
    ]  # fmt: skip
    covered = entries(
        [(f"see {a}{b} {b}{a}", f"vidi {b}{a}m {a}{b}m") for a in names for b in names]
    )
    metric = Consistency(resources(covered))
    references = [entry.reference for entry in covered]
    assert metric.corpus_value(outputs(covered, references)) == 1.0
    worse = [text if n % 3 else "" for n, text in enumerate(references)]
    assert 0.5 < (metric.corpus_value(outputs(covered, worse)) or 0) < 0.75
    assert metric.corpus_value(outputs(covered, [""] * len(covered))) == 0.0


def test_without_dictionary_and_alignment_it_is_off() -> None:
    assert "neither" in (why_no_consistency(resources(CORPUS)) or "")
    assert why_no_consistency(resources(CORPUS, MARKED)) is None
