"""BLEU, METEOR, BERTScore and COMET of the pack ``au``."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import nltk.corpus
import nltk.data
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.corpus.reader.wordnet import WordNetCorpusReader
from nltk.corpus.util import LazyCorpusLoader
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


def wordnet_folder(folder: Path, *synsets: tuple[str, ...]) -> None:
    """Write nouns with their synonyms in the files of WordNet 3.0."""
    place = folder / "corpora" / "wordnet"
    place.mkdir(parents=True)
    data, index = "", dict[str, list[str]]()
    for words in synsets:
        offset = f"{len(data):08d}"
        named = " ".join(f"{word} 0" for word in words)
        data += f"{offset} 00 n {len(words):02x} {named} 000 | meant\n"
        for word in words:
            index.setdefault(word, []).append(offset)
    lines = {
        word: f"{word} n {len(places)} 0 {len(places)} 0 {' '.join(places)}  \n"
        for word, places in sorted(index.items())
    }
    kinds = ("noun", "verb", "adj", "adv")
    files = dict.fromkeys([f"{name}.{kind}" for kind in kinds for name in ("index", "data")], "")
    files |= dict.fromkeys([*(f"{kind}.exc" for kind in kinds), "cntlist.rev", "index.sense"], "")
    files |= {"data.noun": data, "index.noun": "".join(lines.values()), "lexnames": "00\tnoun\t1\n"}
    for name, content in files.items():
        (place / name).write_text(content, "utf-8")


@pytest.fixture
def no_wordnet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A folder in which alone nltk looks for its data, and a WordNet that nobody opened yet.

    nltk's reader leaves its files open until it is collected, which is done here.
    """
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    unopened = LazyCorpusLoader("wordnet", WordNetCorpusReader, object())
    monkeypatch.setattr(nltk.corpus, "wordnet", unopened)
    del unopened
    meteor.wordnet.cache_clear()
    yield tmp_path
    meteor.wordnet.cache_clear()
    monkeypatch.undo()
    gc.collect()


unclosed = pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")


@unclosed
def test_synonyms_count_where_wordnet_is_here(no_wordnet: Path) -> None:
    pair = record("my hound", "my dog")
    assert "match:exact+stem|" in metric("meteor", resources("en")).signature
    before = entry_value(metric("meteor", resources("en")), pair)
    wordnet_folder(no_wordnet, ("dog", "hound"), ("cat",))
    meteor.wordnet.cache_clear()
    english = metric("meteor", resources("en"))
    assert "match:exact+stem+wordnet|" in english.signature
    assert entry_value(english, pair) == entry_value(english, record("my dog", "my dog")) > before
    assert entry_value(english, record("my cat", "my dog")) == before
    assert "match:exact|" in metric("meteor").signature
    assert entry_value(metric("meteor"), pair) == before


@unclosed
@pytest.mark.parametrize("damage", ["lexnames", "index.noun"])
def test_a_damaged_wordnet_is_as_none(no_wordnet: Path, damage: str) -> None:
    wordnet_folder(no_wordnet, ("dog", "hound"))
    (no_wordnet / "corpora" / "wordnet" / damage).write_text("nonsense of no form\n", "utf-8")
    made = metric("meteor", resources("en"))
    assert "match:exact+stem|" in made.signature
    assert 0 < entry_value(made, record("my dog", "my dog")) <= 1


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
    assert "--bertscore" in makers["au.bertscore"].why_off(resources())
    facts = {"model": "a|b:c", "sha256": "ab" * 32, "imported": False, "layer": 9}
    found = resources(annotators={"bertscore": facts})
    assert makers["au.bertscore"].why_off(found) is None
    signed = metric("bertscore", found).signature
    assert signed.startswith("model:a/b=c-abababababab|from:model|layer:9|idf:no|rescaled:no|")
    assert "--comet" in makers["au.comet"].why_off(resources())
    comet = CometFacts(model="m", sha256=None, imported=True)
    assert makers["au.comet"].why_off(resources(comet=comet)) is None
    assert makers["au.meteor"].why_off(resources()) is None
    monkeypatch.setattr(translation, "nltk_version", lambda: "none")
    assert "rosetta doctor" in makers["au.meteor"].why_off(resources())
