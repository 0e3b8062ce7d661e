"""BLEU, METEOR, BERTScore and COMET of the pack ``au``."""

from __future__ import annotations

from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer
from nltk.translate.meteor_score import single_meteor_score

from scoring.core.setup import CometFacts
from scoring.packs.au import meteor, translation
from tests.scoring.packs.au import cases, check_golden, entry_value, metric, record, resources


def test_bleu_is_that_of_the_published_system() -> None:
    for case in cases("au.bleu"):
        check_golden(metric("bleu"), case)


class _Nothing:
    def synsets(self, _: str) -> list[Any]:
        return []


words = st.lists(
    st.sampled_from(["cat", "cats", "running", "run", "the", "sky", "skies"]), max_size=8
)


@settings(deadline=None, max_examples=40)
@given(words, words.filter(bool))
def test_meteor_in_english_is_nltks_without_synonyms(
    output: list[str], reference: list[str]
) -> None:
    made = metric("meteor", resources("en"))
    expected = single_meteor_score(
        reference, output, stemmer=PorterStemmer(), wordnet=cast("Any", _Nothing())
    )
    assert entry_value(made, record(" ".join(output), " ".join(reference))) == expected


def test_meteor_says_which_words_match() -> None:
    pair = record("the cats sat on a mat", "the cat sat on the mat")
    english, cree = metric("meteor", resources("en-CA")), metric("meteor")
    assert entry_value(english, pair) == pytest.approx(0.743333333)
    assert entry_value(cree, pair) < 0.7
    assert "match:exact+stem|" in english.signature
    assert "match:exact|" in cree.signature
    assert entry_value(cree, record("", "atim")) == 0
    assert cree.stats(record("atim", "...")) is None


def test_synonyms_count_where_wordnet_is_here(monkeypatch: pytest.MonkeyPatch) -> None:
    class Lemma:
        def name(self) -> str:
            return "hound"

    class Synset:
        def lemmas(self) -> list[Lemma]:
            return [Lemma()]

    class WordNet:
        def synsets(self, word: str) -> list[Synset]:
            return [Synset()] if word == "dog" else []

    pair = record("my dog", "my hound")
    before = entry_value(metric("meteor", resources("en")), pair)
    monkeypatch.setattr(meteor, "wordnet", WordNet)
    english = metric("meteor", resources("en"))
    assert "match:exact+stem+wordnet|" in english.signature
    assert entry_value(english, pair) > before
    assert "match:exact|" in metric("meteor").signature


def test_meteor_leaves_out_what_would_take_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translation, "MOST_WORDS", 3)
    made = metric("meteor")
    assert made.stats(record("x", "a b c d")) is None
    assert entry_value(made, record("a b c d e", "a b c")) == entry_value(
        made, record("a b c", "a b c")
    )
    monkeypatch.setattr(translation, "MOST_CELLS", 6)
    assert entry_value(made, record("a b c", "a b c")) == entry_value(made, record("a b", "a b c"))


def test_bleu_looks_at_the_beginning_of_an_output_without_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made, cut = metric("bleu"), record("the cat sat on a", "the cat sat on the mat")
    before = made.stats(cut)
    monkeypatch.setattr(translation, "MOST_LETTERS", len(cut.output))
    assert made.stats(record(cut.output + " mat and more", cut.entry.reference)) == before


def test_scores_of_models_are_only_read() -> None:
    for name in ("bertscore", "comet"):
        made = metric(name)
        assert made.stats(record("a", "a")) is None
        assert entry_value(made, record("a", "a", annotations={name: 0.75})) == 0.75
        assert entry_value(made, record("a", "a", annotations={name: 1.2})) == 1
        assert entry_value(made, record(" ", "a", annotations={name: 0.75})) == 0
        assert made.stats(record("a", "a", annotations={name: float("nan")})) is None


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    makers = translation.METRICS
    assert "gigabytes" in makers["au.bertscore"].why_off(resources())
    assert makers["au.bertscore"].why_off(resources(annotators={"bertscore": {}})) is None
    assert "--comet" in makers["au.comet"].why_off(resources())
    facts = CometFacts(model="m", sha256=None, imported=True)
    assert makers["au.comet"].why_off(resources(comet=facts)) is None
    assert makers["au.meteor"].why_off(resources()) is None
    monkeypatch.setattr(translation, "nltk_version", lambda: "none")
    assert "rosetta doctor" in makers["au.meteor"].why_off(resources())
