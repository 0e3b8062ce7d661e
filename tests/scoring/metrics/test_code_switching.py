"""Words of the source language in the output."""

from __future__ import annotations

import pytest

from corpora.model.entry import Entry
from scoring.core.translation import Acceptance, FstAnnotation, Translation, WordAnalysis
from scoring.metrics.code_switching import CodeSwitching, why_no_code_switching
from tests.scoring.behaviour import card, entries, resources

pytest.importorskip("wordfreq", reason="the package wordfreq is not installed")

CORPUS = entries(
    [
        ("Where is the train station?", "Kie estas la stacidomo?"),
        ("My name is Peter and I live in London.", "Mi nomiĝas Petro kaj loĝas en Londono."),
        ("I see the dog.", "Mi vidas la hundon."),
        ("The cat drinks 3 cups of milk.", "La kato trinkas 3 tasojn da lakto."),
    ]
)
METRIC = CodeSwitching(
    resources(CORPUS, {"computer": ["komputer"]}, source_card=card("en", name="English"))
)


def taken(output: str, place: int = 0, metric: CodeSwitching = METRIC) -> tuple[float, ...] | None:
    return metric.stats(Translation(CORPUS[place], output))


def test_words_are_counted_by_their_language() -> None:
    for output, wanted in [
        ("Kie estas la train station?", (2, 5)),
        ("Kie estas la stacidomo?", (0, 4)),
        ("KIE ESTAS LA TRAIN?", (1, 4)),
        ("Where is the train station?", (5, 5)),
        ("kie xyzzy", (0, 2)),
        ("kie {train} <b>%(station)s https://train.example/station", (0, 1)),
        ("about", (1, 1)),
        ("komputer", (0, 1)),
        ("kie 42 7th", (0, 1)),
        ("станция estas", (0, 2)),
    ]:
        assert taken(output) == wanted


def test_output_without_a_word_earns_nothing() -> None:
    assert {taken(text) for text in ("", " ", "42", "!?", "{name}", "\ud800")} == {None}
    assert METRIC.value((2, 5)) == 0.4
    assert METRIC.value((0, 0)) is None


def test_names_are_left_out_and_titles_have_none() -> None:
    assert taken("Mi nomiĝas Peter kaj loĝas en London.", 1) == (0, 5)
    assert taken("peter", 1) == (1, 1)
    covered = [*CORPUS, Entry(id=9, source="The Long Road To London", reference="La longa vojo")]
    metric = CodeSwitching(resources(covered))
    assert metric.stats(Translation(covered[-1], "La Long Road")) == (2, 3)
    pairs = [(f"the dog sees the thing {n}", "hundo vidas") for n in range(10)]
    covered = entries([*pairs, ("He saw a film.", "Li vidis la filmon The Road.")])
    metric = CodeSwitching(resources(covered))
    assert metric.stats(Translation(covered[0], "the hundo")) == (1, 2)
    assert metric.stats(Translation(covered[-1], covered[-1].reference))[0] == 0


def test_accepted_words_and_loan_words_are_the_target_s() -> None:
    analysed = (WordAnalysis("train", Acceptance.AS_WRITTEN), WordAnalysis("station", None))
    translation = Translation(CORPUS[0], "train station", {"fst": FstAnnotation(analysed, ())})
    assert METRIC.stats(translation) == (1, 2)
    metric = CodeSwitching(resources(CORPUS, target_card=card(loan_words=("Station",))))
    assert taken("train station", metric=metric) == (1, 2)


def test_another_script_or_the_source_tells_without_a_list() -> None:
    covered = entries(
        [("Where is the station?", "駅はどこですか。"), ("I see a dog.", "犬が見えます。")]
    )
    metric = CodeSwitching(resources(covered, listed=False))
    assert metric.stats(Translation(covered[0], "whatever")) == (1, 1)
    assert metric.stats(Translation(covered[0], "駅stationはどこ")) == (1, 5)
    metric = CodeSwitching(resources(CORPUS, listed=False))
    assert taken("kie train about", metric=metric) == (1, 3)
    assert "list:none" in metric.signature
    assert "list:wordfreq" in METRIC.signature


def test_single_letter_of_the_source_tells_no_language() -> None:
    corpus = entries([("Plan b or bb", "Plano du"), ("Where is it?", "Kie estas?")])
    metric = CodeSwitching(resources(corpus))
    assert metric.stats(Translation(corpus[0], "b")) == (0, 1)
    assert metric.stats(Translation(corpus[0], "bb")) == (1, 1)


def test_what_is_found_is_listed_in_words() -> None:
    assert METRIC.explain(Translation(CORPUS[0], "Kie estas la train station?")) == (
        "2 of 5 words are English: train, station.",
    )
    assert METRIC.explain(Translation(CORPUS[0], "Train")) == ("1 of 1 word is English: Train.",)
    assert METRIC.explain(Translation(CORPUS[0], "Kie estas la stacidomo?")) == ()
    assert METRIC.explain(Translation(CORPUS[0], "")) == ()
    strange = "would about people because after which think before through should could never again"
    (said,) = METRIC.explain(Translation(CORPUS[0], f"the train the station {strange}"))
    head, listed = said.split(": ")
    assert head == "17 of 17 words are English"
    assert listed.startswith("the (2×), train, station, would, about, ")
    assert listed.endswith(", through and 4 more.")


def test_two_varieties_of_one_language_turn_it_off() -> None:
    alike = entries(
        [("The colour of the lorry", "The color of the truck"), ("I see it", "I see it")]
    )
    assert "share most of their words" in (why_no_code_switching(resources(alike)) or "")
    assert why_no_code_switching(resources(CORPUS)) is None
    assert why_no_code_switching(resources([])) is None
