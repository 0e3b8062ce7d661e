"""Morphological accuracy in both notations."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib.resources import files

from hypothesis import given
from hypothesis import strategies as st

from corpora.languages.cards import SHIPPED, find_card
from corpora.model.entry import Entry
from corpora.text.words import words
from harness.annotators.fst import FstAnnotator
from harness.fst.analyser import open_analyser
from scoring.core.translation import Acceptance, FstAnnotation, Translation, WordAnalysis
from scoring.metrics.inventory import choose
from scoring.metrics.morphology import MorphologicalAccuracy, why_no_morphology
from scoring.words.resources import Resources
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

METRIC = MorphologicalAccuracy(resources())
DOG = "mi vid-as la hund-o-n | 1sg see-PRS the dog-NOUN-ACC"
DOG_STRINGS = "mi+Pron+Pers+1Sg+Nom vidi+V+Prs la+Det hundo+N+Sg+Acc"


def test_interlinear() -> None:
    for output, right in [
        ("mi vidas la hundon", 9),
        ("la hundon mi vidas", 9),
        ("mi vidas la hundo", 8),  # no accusative
        ("mi vidas la hundojn", 9),  # the interlinear line says nothing of number
        ("mi vidas la katon", 8),  # inflected rightly, another lemma
        ("mi vidas la", 6),
        ("xyzzy", 0),
        ("", 0),
    ]:
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
    found = translation("hundo", "hundo", "hund-eg-o | dog-AUG-NOUN")
    assert METRIC.stats(found) == (2, 2, 1)
    assert METRIC.further([2, 2, 1]) == {"unmapped_glosses": 1}  # type: ignore[arg-type]
    assert METRIC.explain(found)[-1] == "Left out, for want of a tag of the analyser: AUG."
    found = translation("mi vidas", "mi vidas", "mi+Pron+1Sg 3+Num+Arab vidi+V+Prs .+CLB")
    assert METRIC.stats(found) == (6, 6, 2)
    assert METRIC.explain(found) == (
        "6 of 6 expected lemmas and tags are there.",
        "Left out, as no words: 3, ..",
    )
    signs = translation("mi", "mi", "3+Num .+CLB")
    assert METRIC.stats(signs) == (0, 0, 2)
    assert METRIC.value((0, 0, 2)) is None
    assert METRIC.stats(translation("mi", "mi")) is None
    assert METRIC.stats(translation("mi", "mi", "free words about it")) is None
    entry = Entry(id=1, source="s", reference="mi", morphological_analysis=DOG)
    assert METRIC.stats(Translation(entry, "mi")) is None


def test_explanations_name_lemmas_and_missing_words() -> None:
    gold = "mi vid-as la hund-o-n mi ir-is | 1sg see-PRS the dog-NOUN-ACC 1sg go-PST"
    said = METRIC.explain(
        translation("mi vidas la hundo mi iras", "mi vidas la hundon mi iris", gold)
    )
    assert said == (
        "12 of 14 expected lemmas and tags are there.",
        "“hundo”: base form (nominative) instead of object ending (accusative).",
        "“iras”: present instead of past.",
    )
    said = METRIC.explain(translation("vendejo", "butiko hejmen", "butiko+N+Sg+Nom hejme+Adv+Acc"))
    assert said[1:] == ("“vendejo” (lemma vendejo) instead of “butiko”.", "“hejmen” is missing.")
    said = METRIC.explain(translation("katon", "hundo", "hundo+N+Pl+Nom"))
    assert said == (
        "1 of 4 expected lemmas and tags are there.",
        "“katon” (lemma kato) instead of “hundo”.",
    )
    said = METRIC.explain(translation("mi", "mi", "mi | 1sg see"))
    assert said == (
        "The entry's morphological analysis cannot be used: it has 1 words and 2 glosses.",
    )


def test_words_that_stand_for_others_are_explained() -> None:
    """Counted is what words have in common; named are the words that stand for each other."""
    said = METRIC.explain(
        translation("iris mi vidas", "mi iras", "mi+Pron+Pers+1Sg+Nom iri+V+Prs xyz+N+Acc")
    )
    assert said == (
        "7 of 11 expected lemmas and tags are there.",
        "“iris”: past instead of present.",
        "“xyz” is missing.",
    )
    said = METRIC.explain(
        translation("katon mi mi mi iras", "iris mi mi mi hundon", "iri+V+Prt hundo+N+Sg+Acc")
    )
    assert said == (
        "5 of 7 expected lemmas and tags are there, 3 of them in words that stand for others.",
        "“iras”: present instead of past.",
        "“hundon” is missing.",
    )


def test_reasons_depend_on_the_setup_alone() -> None:
    gold = Entry(id=5, source="s", reference="r", morphological_analysis=DOG)
    bad = Entry(id=6, source="s", reference="r", morphological_analysis="1 | 2 3")
    bare = Entry(id=7, source="s", reference="r")
    assert "no analyser" in (why_no_morphology(Resources(setup(), entries=[gold])) or "")
    assert "acceptor" in (why_no_morphology(resources([gold], acceptor=True)) or "")
    assert "only 3 %" in (why_no_morphology(resources([gold], reference_accepted=3)) or "")
    assert why_no_morphology(resources([bare])) == "no entry has a morphological analysis"
    assert "entry 6: it has 1 words and 2 glosses" in (why_no_morphology(resources([bad])) or "")
    assert why_no_morphology(resources([bad, gold])) is None
    without_card = Resources(setup(facts()), entries=[gold])
    assert "glosses" in (why_no_morphology(without_card) or "")
    _, off = choose(resources([bare]), ["morphological_accuracy"])
    assert off["morphological_accuracy"] == "no entry has a morphological analysis"
    assert "no analyser" in MorphologicalAccuracy(Resources(setup())).why_missing
    assert "analysis" in MorphologicalAccuracy(Resources(setup(facts()))).why_missing


sentences = st.lists(st.sampled_from([*ESPERANTO, "xyzzy"]), max_size=8).map(" ".join)
golds = st.sampled_from([DOG, DOG_STRINGS, "hundo+N+Sg+Nom hundo+N+Pl+Acc", "ir-is | go-PST"])


@examples(15, 100)
@given(sentences, sentences, golds, st.integers(0, 7))
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
    long = {
        times: annotation("mi vidas hundojn katon " * times, "hundon") for times in (600, 3_000)
    }
    assert METRIC.stats(Translation(entry, "o", {"fst": long[600]})) == (11, 14, 0)
    act = lambda times: METRIC.stats(Translation(entry, "o", {"fst": long[times]}))  # noqa: E731
    assert grows_less(act, 600, 3_000, 2.5)


@needs_cree
def test_real_cree_in_both_notations() -> None:
    analyse = cree_words()
    strings = "wâpamêw+V+TA+Ind+1Sg+3SgO atim+N+A+Sg"
    lines = "ni-wâpam-âw atim | 1sg-see.TA-3sg.DIR dog.AN"
    table = {"1sg": "1Sg", "3sg.DIR": "3SgO", "TA": "V+TA", "AN": "A"}
    cree = resources().card
    metric = MorphologicalAccuracy(
        Resources(setup(facts()), card=cree.model_copy(update={"glosses": table}))
    )
    for gold, expected in ((strings, 10), (lines, 7)):
        entry = Entry(id=1, source="s", reference="r", morphological_analysis=gold)
        reference = analyse("niwâpamâw atim")
        right = FstAnnotation(reference, reference)
        assert metric.stats(Translation(entry, "o", {"fst": right})) == (expected, expected, 0)
        you = FstAnnotation(analyse("kiwâpamâw atim"), reference)
        assert metric.stats(Translation(entry, "o", {"fst": you})) == (expected - 1, expected, 0)
        said = metric.explain(Translation(entry, "o", {"fst": you}))
        assert said[1:] == ("“kiwâpamâw”: 2nd person instead of 1st.",)


def test_tag_the_analyser_does_not_give_is_left_out() -> None:
    gold = "hund-o | dog-NOUN.PST"
    assert METRIC.stats(translation("hundo", "hundo", gold)) == (2, 2, 2)


@needs_cree
def test_the_specification_s_own_example_with_the_shipped_card() -> None:
    found = find_card("crk")
    metric = MorphologicalAccuracy(Resources(setup(facts()), card=found.card))
    reference = cree_words()("niwâpamâw atim")
    entry = Entry(
        id=1,
        source="I see a dog",
        reference="niwâpamâw atim",
        morphological_analysis="ni-wâpam-âw atim | 1sg-see.TA-3sg.DIR dog.AN",
    )
    right = Translation(entry, "o", {"fst": FstAnnotation(reference, reference)})
    assert metric.value(metric.stats(right) or (0, 0, 0)) == 1
    wrong = FstAnnotation(cree_words()("wâpamêw atim"), reference)
    said = metric.explain(Translation(entry, "o", {"fst": wrong}))
    assert said[1] == "“wâpamêw”: 3rd person instead of 1st."


DEMO = files("corpora.samples")
EPO = SHIPPED / "epo" / "epo.hfstol"


def demo_value(outputs: Mapping[int, str] | None) -> float:
    """Morphological accuracy of one demo system, or of the references, with the shipped analyser and card."""
    found = find_card("eo")
    analyser = open_analyser(EPO)

    def analyse(text: str) -> tuple[WordAnalysis, ...]:
        split = [word.text for word in words(text) if not word.number]
        verdicts = analyser.analyse([word.lower() for word in split])
        return tuple(
            WordAnalysis(word, Acceptance.LOWER_CASED if accepted else None, analyses)
            for word, (accepted, analyses) in zip(split, verdicts, strict=True)
        )

    metric = MorphologicalAccuracy(Resources(setup(facts()), card=found.card))
    rows = []
    for data in json.loads(DEMO.joinpath("eo-demo-v1.json").read_text(encoding="utf-8"))["entries"]:
        entry = Entry.model_validate(data)
        output = entry.reference if outputs is None else outputs[data["id"]]
        texts = FstAnnotation(analyse(output), analyse(entry.reference))
        rows.append(metric.stats(Translation(entry, output, {"fst": texts})))
    assert None not in rows
    value = metric.value([sum(column) for column in zip(*rows, strict=True)])
    assert value is not None
    return value


def demo_outputs(system: str) -> dict[int, str]:
    lines = (
        DEMO.joinpath(f"eo-demo-outputs-{system}.jsonl").read_text(encoding="utf-8").splitlines()
    )
    return {row["id"]: row["output"] for row in map(json.loads, lines)}


def test_demo_tells_weak_strong_and_people_apart() -> None:
    weak, strong = (demo_value(demo_outputs(system)) for system in ("weak", "strong"))
    assert weak + 0.1 < strong < demo_value(None)
    assert demo_value(None) > 0.99


def test_every_demo_reference_gets_one() -> None:
    found = find_card("eo")
    annotator = FstAnnotator(open_analyser(EPO), found.card.writing("Latn"))
    metric = MorphologicalAccuracy(Resources(setup(facts()), card=found.card))
    left_out = 0
    for data in json.loads(DEMO.joinpath("eo-demo-v1.json").read_text(encoding="utf-8"))["entries"]:
        entry = Entry.model_validate(data)
        known = annotator.analyse_words(annotator.split(entry.reference))
        signs = [f"{sign}+CLB" for sign in re.findall(r"[^\w\s]", entry.reference)]
        gold = " ".join([*(word.analyses[-1] for word in known), *signs, "3+Num+Arab"])
        entry = entry.model_copy(update={"morphological_analysis": gold})
        (made,) = annotator.annotate([Translation(entry, entry.reference)])
        stats = metric.stats(Translation(entry, entry.reference, {"fst": made}))
        assert metric.value(stats or ()) == 1.0, entry.reference
        left_out += int(stats[2])
    assert left_out > 96  # a number each, and the punctuation
