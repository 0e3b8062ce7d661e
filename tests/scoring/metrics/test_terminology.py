"""Prescribed terms and one rendering of them; content of the output that nothing accounts for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from corpora.model.entry import Entry
from scoring.core.metric import Statistics
from scoring.core.setup import Acceptance, FstAnnotation, Translation, WordAnalysis
from scoring.metrics.behavioral import (
    Consistency,
    Hallucination,
    TerminologyAdherence,
    why_no_consistency,
    why_no_hallucination,
    why_no_terminology,
)
from scoring.words.bitext import DictionaryTerm, Terminology
from scoring.words.source_words import Resources
from tests.scoring.behaviour import card, entries, outputs, resources

TERMS = {
    "train": ["trajno"], "train station": ["stacidomo", "fervoja stacio"], "Dog": ["hundo"],
    "駅": ["stacidomo"],
}  # fmt: skip


ENDINGS = ("-n", "-j", "-jn")


def adherence(terms: dict[str, list[str]] = TERMS, **fields: Any) -> TerminologyAdherence:
    return TerminologyAdherence(resources([], terms, target_card=card(affixes=ENDINGS), **fields))


def taken(source: str, output: str, reference: str = "", **more: object) -> Statistics | None:
    entry = Entry(id=1, source=source, reference=reference, **more)
    return adherence().stats(Translation(entry, output))


def test_terms_are_found_in_order_and_the_longest_applies() -> None:
    def sources(terms: Iterable[DictionaryTerm]) -> list[str]:
        return [" ".join(term.source) for term in terms]

    terms = Terminology((key, tuple(to)) for key, to in TERMS.items())
    found = sources(terms.occurring("DOG at the Train Station!"))
    assert found == ["dog", "train", "train station"]
    assert sources(terms.occurring("dogs trains station")) == []
    assert sources(terms.occurring("station train dog dog")) == ["train", "dog"]
    assert (sources(terms.occurring("東京の駅です")), sources(terms.occurring(""))) == (["駅"], [])
    assert sources(terms.applying("the train station")) == ["train station"]
    assert sources(terms.applying("a train to the train station")) == ["train", "train station"]
    crossing = Terminology([("a b", ("x",)), ("b c", ("y",))])
    assert sources(crossing.applying("a b c")) == ["a b", "b c"]
    listed = [("May", ("Majo",)), ("may", ("rajti", "Majo")), ("?!", ("x",)), ("a", (" ",))]
    terms = Terminology(listed)
    assert len(terms) == 1
    assert terms.terms[0].renderings == ("Majo", "rajti")


def test_terms_are_kept_in_declared_forms_and_no_bare_stem() -> None:
    for output, wanted in [
        ("la hundo en la stacidomo", (2, 2)), ("la HUNDOJN en la fervojan stacion", (2, 2)),
        ("la hundido en la stacio fervoja", (0, 2)), ("hundoj", (1, 2)), ("", (0, 2)),
        ("the dog at the train station", (0, 2)),
    ]:  # fmt: skip
        assert taken("the dog at the train station", output) == wanted
    inflecting = card(affixes=("a", "e", "an"))
    metric = TerminologyAdherence(resources([], {"long": ["longa"]}, target_card=inflecting))
    entry = Entry(id=1, source="a long letter", reference="")
    for output, kept in (("longan", 1), ("longe", 1), ("long", 0), ("longas", 0)):
        assert metric.stats(Translation(entry, output)) == (kept, 1)
    assert taken("a cat", "la hundo") is None


def test_term_applies_by_reference_and_variants_only() -> None:
    for output in ("Hundo!", "Kolbaspano!", ""):
        assert taken("Hot dog!", output, "Kolbaspano!") is None
        assert taken("Hot dog!", output, "Kolbaspano!", variants=("Varma kolbaso!",)) is None
        kept = int(output == "Hundo!")
        assert taken("Hot dog!", output, "Hundoj!") == (kept, 1)
        assert taken("Hot dog!", output, "Kolbaspano!", variants=("Hundon!",)) == (kept, 1)

    # one hit of two is a half
    covered = entries([("the dog", "la hundo"), ("a dog", "hundo"), ("Hot dog!", "Kolbaspano!")])
    metric = adherence()
    rows = metric.stats_many(outputs(covered, ["hundoj", "besto", "hundo"]))
    assert (rows, metric.value((1, 2))) == ([(1, 1), (0, 1), None], 0.5)


def analysed(word: str, *analyses: str) -> WordAnalysis:
    return WordAnalysis(word, Acceptance.AS_WRITTEN if analyses else None, analyses)


def test_an_output_s_analyses_do_not_decide_what_applies() -> None:
    entry = Entry(id=1, source="the dog", reference="bestoj", variants=("hundaĉo",))
    known = (analysed("hundaĉo", "hundo+N+Sg+Nom"),)
    translation = Translation(entry, "hundaĉo", {"fst": FstAnnotation(known, ())})
    assert adherence().stats(translation) is None


NEPAT = analysed("nêpât", "IC+nipâw+V+AI+Cnj+3Sg")


MECISOT = analysed("mêcisot", "IC+mîcisow+V+AI+Cnj+3Sg")


def test_lemmas_are_read_as_the_analyser_writes_them() -> None:
    for prescribed, reference, output, kept in [
        ("nêpât", NEPAT, MECISOT, 0),
        ("nêpât", NEPAT, NEPAT, 1),
        ("nipâw", NEPAT, analysed("ninipân", "nipâw+V+AI+Ind+1Sg"), 1),
        ("nâ-nipâw", analysed("nâ-nipâw", "RdplS+nipâw+V+AI+Ind+3Sg"),
         analysed("nâ-mîcisow", "RdplS+mîcisow+V+AI+Ind+3Sg"), 0),
        ("tlacatl", analysed("tlacatl", "tlacatl<n><abs>"), analysed("tlacah", "tlacatl<n><pl>"), 1),
        ("domhundo", analysed("domhundo", "domo#hundo+N+Sg"), analysed("domo", "domo+N+Sg"), 0),
    ]:  # fmt: skip
        entry = Entry(id=1, source="he sleeps", reference=reference.word)
        annotated = Translation(entry, output.word, {"fst": FstAnnotation((output,), (reference,))})
        assert adherence({"sleeps": [prescribed]}).stats(annotated) == (kept, 1)


def test_lemmas_decide_where_the_analyser_gives_them() -> None:
    metric = adherence({"see": ["wâpamêw"], "tree": ["puu"]})
    entry = Entry(id=1, source="they see the tree", reference="")
    seen = analysed("ê-wâpamât", "PV/e+wâpamêw+V+TA+Cnj+3Sg+4Sg/PlO")
    known = {"fst": FstAnnotation((seen, analysed("puut", "puut+N+Sg")), ())}
    assert metric.stats(Translation(entry, "ê-wâpamât puut", known)) == (1, 2)
    assert metric.stats(Translation(entry, "ê-wâpamât puut")) == (0, 2)


def test_what_is_missing_is_named() -> None:
    entry = Entry(id=1, source="the dog at the train station", reference="")
    assert adherence().explain(Translation(entry, "")) == (
        "“dog” should be hundo; “train station” should be stacidomo or fervoja stacio.",
    )
    assert adherence().explain(Translation(entry, "hundo, stacidomo")) == ()


def test_without_terms_dictionary_or_alignment_it_is_off() -> None:
    assert why_no_terminology(resources([])) == "no terms are prescribed: give a dictionary"
    assert why_no_terminology(resources([], TERMS)) is None
    assert "neither" in (why_no_consistency(resources(CORPUS)) or "")
    assert why_no_consistency(resources(CORPUS, MARKED)) is None


MARKED = {"dog": ["hundo", "hundulo"], "cat": ["kato"]}


CORPUS = entries([("the dog", ""), ("a dog", ""), ("dog, dog", ""), ("a cat", "")])


def test_consistency_counts_the_most_frequent_rendering() -> None:
    for made, wanted in [
        (["hundo", "hundo", "hundo", "kato"], 1.0), (["hundo", "hundulo", "hundo", ""], 2 / 3),
        (["hundulo", "hundulo", "", "kato"], 2 / 3), (["besto", "besto", "besto", "kato"], 0.0),
        (["", "", "", ""], 0.0),
    ]:  # fmt: skip
        metric = Consistency(resources(CORPUS, MARKED))
        assert metric.corpus_value(outputs(CORPUS, made)) == pytest.approx(wanted)
    metric = Consistency(resources(CORPUS, {"cat": ["kato"]}))
    assert metric.corpus_value(outputs(CORPUS, ["kato"] * 4)) is None
    assert metric.corpus_value([]) is None


def test_without_a_dictionary_the_learned_links_tell() -> None:
    names = [consonant + vowel for consonant in "bdf" for vowel in "aeiou"]
    pairs = [(f"see {a}{b} {b}{a}", f"vidi {b}{a}m {a}{b}m") for a in names for b in names]
    covered = entries(pairs)
    metric = Consistency(resources(covered))
    references = [entry.reference for entry in covered]
    assert metric.corpus_value(outputs(covered, references)) == 1.0
    worse = [text if n % 3 else "" for n, text in enumerate(references)]
    assert 0.5 < (metric.corpus_value(outputs(covered, worse)) or 0) < 0.75
    assert metric.corpus_value(outputs(covered, [""] * len(covered))) == 0.0


ENTRY = Entry(
    id=0, source="Peter saw the dog of Mary Smith in 1,999 houses on 12.5.2018.",
    reference="Petro vidis la hundon.", variants=("La hundon ekvidis Petro.",),
)  # fmt: skip
HALLUCINATION_TERMS = {
    "dog": ["hundo", "besto"], "train station": ["stacidomo"], "houses": ["domoj"],
}  # fmt: skip
METRIC = Hallucination(resources([ENTRY], HALLUCINATION_TERMS))


def hallucinated(output: str, entry: Entry = ENTRY, metric: Hallucination = METRIC) -> Statistics | None:
    return metric.stats(Translation(entry, output))


def test_support() -> None:
    for output, wanted in [
        ("Petro vidis la hundon", (0, 4)), ("Petro ekvidis la hundon", (0, 4)),
        ("Petro vidisto", (0, 2)), ("Petro vidas", (1, 2)), ("Petro vidis la beston", (0, 4)),
        ("Petro vidis la domojn", (0, 4)), ("Petro vidis stacidomo", (1, 3)),
        ("Petro vidis Mary Smithon", (0, 4)), ("Petro vidis mary", (1, 3)),
        ("Petro vidis house", (1, 3)), ("karakoko", (1, 1)), ("Petro 1999 1 999 1.999", (0, 4)),
        ("Petro ١٩٩٩", (0, 2)), ("Petro 12 5 2018", (0, 4)), ("Petro 2,019", (1, 2)),
        ("Petro 2018a", (0, 2)), ("Petro 2020a", (1, 2)),
        ("Petro {2020} https://x.example/7", (0, 1)),
    ]:  # fmt: skip
        assert hallucinated(output) == wanted


def test_output_without_content_earns_nothing() -> None:
    assert {hallucinated(output) for output in ("", " ", "…", "{name}", "\udfff")} == {None}


def test_repetition_without_support_is_counted() -> None:
    again = "vidis Petro hundon "
    found = [hallucinated(again * times) for times in (1, 2, 10)]
    assert found == [(0, 3), (1, 6), (25, 30)]
    entry = Entry(id=1, source="no no no no", reference="ne")
    assert hallucinated("ne ne ne ne", entry) == (0, 4)
    assert hallucinated("ne ne ne ne ne", entry) == (1, 5)
    entry = Entry(id=2, source="no", reference="ne ne ne ne")
    assert hallucinated("ne ne ne ne", entry) == (0, 4)
    asked, text = "Where is the station in Tokyo?", "東京の駅はどこにありますか"
    entry = Entry(id=3, source=asked, reference=text)
    assert hallucinated(entry.reference, entry) == (0, 13)
    assert hallucinated(entry.reference * 2, entry) == (6, 26)


def test_words_of_many_references_are_no_content() -> None:
    covered = entries([(f"the dog {n}", "la hundo") for n in range(3)] + [("a cat", "kato")] * 10)
    for known, counted in ((covered, (1, 1)), (covered[2:], (1, 2))):
        metric = Hallucination(resources(known, HALLUCINATION_TERMS))
        assert hallucinated("la mondo", covered[0], metric) == counted


@pytest.fixture(scope="module")
def learned() -> Resources:
    names = [consonant + vowel for consonant in "bdf" for vowel in "aeiou"]
    both = [(a + b, b + a) for a in names for b in names]
    pairs = [(f"I see {one} and {two}", f"mi vidas {two}um kaj {one}um") for one, two in both]
    return resources(entries(pairs), target_card=card())


def test_learned_links_support_in_any_entry(learned: Resources) -> None:
    entry = Entry(id="new", source="bade", reference="x")
    metric = Hallucination(learned)
    assert hallucinated("badeum", entry, metric) == (0, 1)
    assert hallucinated("fufaum", entry, metric) == (1, 1)
    assert "IBM model 1" in metric.signature


def test_without_dictionary_that_knows_enough_or_pairs_it_is_off(learned: Resources) -> None:
    assert "neither a coaching dictionary nor" in (why_no_hallucination(resources([ENTRY])) or "")
    assert why_no_hallucination(learned) is None
    # the sources have eight content words: all but “the”
    for terms, reason in [
        ({"dog": ["hundo"]}, None),
        ({"big dog": ["hundego"]}, None),
        ({"cat": ["kato"]}, "knows 12 % of the content words of the sources; 25 % are needed"),
        ({"house": ["domo"], "the": ["la"]}, "knows 0 % of"),
    ]:
        texts = ("the big dog", "the big dog", "the cat", "the red owl ran")
        found = why_no_hallucination(resources(entries([(text, "x") for text in texts]), terms))
        assert found is None if reason is None else reason in (found or "")


def test_what_is_found_is_said_in_words() -> None:
    assert METRIC.explain(Translation(ENTRY, "Petro vidis 7 uloj the")) == (
        "1 of 5 content words is neither in the reference nor linked by a known word pair to the source: uloj.",
        "1 of 5 content words is in neither source nor reference: 7.",
        "1 of 5 content words is left over from the source: the.",
    )
    assert METRIC.explain(Translation(ENTRY, ENTRY.reference)) == ()
    assert METRIC.explain(Translation(ENTRY, "La hundo: la hundo, la hundo")) == (
        "2 of 6 content words are said again: la, hundo.",
    )
