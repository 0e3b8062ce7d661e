"""Words of a text: their alignment, quotation marks around them, and those common in the source language."""

from __future__ import annotations

import gzip
import random
import subprocess
import sys
from pathlib import Path

import msgpack
import numpy as np
import pytest
from hypothesis import given

from corpora.model.entry import Segment
from scoring.words import source_words
from scoring.words.bitext import LEAST_PAIRS, MOST_PAIRS, Alignment, alignable, alignment_name, ibm1
from scoring.words.source_words import MOST, source_word_list
from scoring.words.violations import quotation_marks, quoting, turned_round
from tests.growth import grows_less
from tests.scoring.behaviour import entries
from tests.scoring.samples import sentences


def toy(
    pairs: int, seed: int = 3, words: int = 8, kinds: int = 12
) -> list[tuple[list[str], list[str]]]:
    rng = random.Random(seed)
    made = []
    for _ in range(pairs):
        source = [f"s{rng.randrange(kinds)}" for _ in range(rng.randint(1, words))]
        target = [f"t{word[1:]}" for word in source if rng.random() > 0.1] or ["t0"]
        rng.shuffle(target)
        made.append((source, target))
    return made


def test_probabilities_equal_those_of_nltk() -> None:
    translate = pytest.importorskip("nltk.translate", reason="nltk is not installed")
    # nltk divides twice where a target word stands twice in its sentence, so each stands there once
    pairs = [(source, list(dict.fromkeys(target))) for source, target in toy(60)]
    oracle = translate.IBMModel1([translate.AlignedSent(t, s) for s, t in pairs], 5)
    sources = ["", *sorted({word for source, _ in pairs for word in source})]
    targets = sorted({word for _, target in pairs for word in target})
    numbers = [[0, *map(sources.index, source)] for source, _ in pairs]
    found = ibm1(numbers, [list(map(targets.index, target)) for _, target in pairs])
    for source, target, probability in zip(*(part.tolist() for part in found), strict=True):
        wanted = oracle.translation_table[targets[target]][sources[source] or None]
        assert probability == pytest.approx(wanted, rel=1e-9)


def test_links_are_translations_and_the_same_again() -> None:
    alignment = Alignment(toy(300))
    for number in range(12):
        links = alignment.links(f"t{number}")
        assert max(links, key=links.__getitem__) == f"s{number}"
        assert links[f"s{number}"] > 0.8
    assert alignment.links("unseen") == {}
    first, second = Alignment(toy(300)), Alignment(toy(300))
    assert all(first.links(f"t{n}") == second.links(f"t{n}") for n in range(12))
    assert Alignment([]).links("a") == {}
    alignment = Alignment([([], ["b"]), (["a"], []), (["a"], ["b"])])
    assert (alignment.pairs, list(alignment.links("b"))) == (1, ["a"])
    source, _, probability = ibm1([[0, 1, 2], [0, 2], [0, 1, 1]], [[0, 1], [1, 1, 2], [0]])
    assert np.bincount(source, probability) == pytest.approx(np.ones(3))


def test_the_time_of_learning_grows_as_the_pairs_do() -> None:
    rng = random.Random(1)
    pairs = [
        tuple([str(int(rng.paretovariate(0.5)) % 9000) for _ in range(15)] for _ in range(2))
        for _ in range(2000)
    ]
    assert grows_less(lambda size: Alignment(pairs[:size]), 500, 2_000, 2.5)  # type: ignore[arg-type]


def test_secret_and_one_sided_pairs_are_never_learned_from() -> None:
    open_ = entries([("a", "b")] * LEAST_PAIRS, segment=Segment.DEVELOPMENT)
    secret = entries([("a", "b")] * LEAST_PAIRS, segment=Segment.HELD_OUT)
    assert alignment_name(open_) == "IBM model 1, 5 rounds, links from 0.01, 200 pairs"
    assert alignment_name([*open_[1:], *secret]) is None
    assert alignable([*secret, *entries([("", "b"), ("a", " ")])]) == []
    assert len(alignable(entries([("a", "b")] * (MOST_PAIRS + 1)))) == MOST_PAIRS


def test_quotations_are_told_from_apostrophes_and_letters() -> None:
    for text, marks in [
        ('He said "go".', '"'), ("“Go,” she said", "“”"), ("„Geh“, sagte er", "„“"),
        ("« Va », dit-elle", "«»"), ("「行け」と『本』", "「」『』"), ("“He said ‘no’ twice”", "“”‘’"),
        ("worried about 'looking like muppets'", "'"), ('"They shouted: \'I got bit!\'"', "\"'"),
        ("said: 'The investigation of O'Hagan goes on'", "'"), ('مثل "007"و"مهمة"', '"'),
        ("これは\"テスト\"です", '"'), ("‚so‘", "‚‘"), ("‹so›", "‹›"),
    ]:  # fmt: skip
        assert quotation_marks(text) == frozenset(marks)
    for text in [
        "don't", "l’homme", "it's the dogs' home", "the dogs' and cats' homes", "rock 'n roll", "kâ-wî'c", "qaʼaq",
        "a 24\" screen", "5'10\" tall", "5′ 10″", "צה\"ל", "", "'", "‘", "в’їзд", "o‘zbek tili", "Toyota's Aurisን",
    ]:  # fmt: skip
        assert quotation_marks(text) == frozenset()
    assert quotation_marks("‘o ka ‘ōlelo’ ", "‘’") == frozenset()
    assert quotation_marks("“‘ōlelo”", "‘") == frozenset("“”")
    assert quotation_marks('he wrote "in 1974" twice') == frozenset('"')


@given(sentences)
def test_only_characters_of_the_text_are_named(text: str) -> None:
    assert quotation_marks(text) <= frozenset(text)


def test_marks_that_are_turned_round() -> None:
    for text, pair, turned in [
        ("»Va« , dit-elle", "«»", True), ("«Va», dit-elle", "«»", False),
        ("»Va« et »viens«", "«»", True), ("»Va« et «viens»", "«»", False),
        ("»Va ‘là’«", "«»", True), ("Va»", "«»", False), ('"Va"', '""', False),
        ("„Geh“", "“”", False), ("", "«»", False),
    ]:  # fmt: skip
        assert turned_round(quoting(text), pair) is turned


wordfreq = pytest.importorskip("wordfreq", reason="the package wordfreq is not installed")


def test_words_are_those_of_the_package() -> None:
    for tag, code in [("en", "en"), ("eng", "en"), ("spa-Latn", "es"), ("fin", "fi")]:
        words, name = source_word_list(tag)
        top = wordfreq.top_n_list(code, MOST, wordlist="small")
        wanted = {word.casefold().replace("’", "'").replace("ʼ", "'") for word in top}
        assert words == {word for word in wanted if len(word) > 1}
        assert name.endswith(f"small_{code}, 5,000 words")


def test_languages_without_a_list_or_package_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for tag in ("crk", "iu-Cans", "qqq", "../../x", "", "zh", "ja"):
        assert source_word_list(tag) == (frozenset(), None)
    monkeypatch.setattr(source_words, "find_spec", lambda _: None)
    assert source_word_list.__wrapped__("en") == (frozenset(), None)


def test_damaged_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "small_en.msgpack.gz"
    monkeypatch.setattr(source_words, "list_file", lambda _: file)
    packed = (b"", b"\xc1", msgpack.packb([{}, []]), msgpack.packb(7))
    for content in (b"", b"no gzip", *(gzip.compress(each, mtime=0) for each in packed)):
        file.write_bytes(content)
        with pytest.raises(ValueError, match=r"small_en\.msgpack\.gz .* install the package anew"):
            source_word_list.__wrapped__("en")


def test_the_package_is_never_imported() -> None:
    code = (
        "import sys; from scoring.words.source_words import source_word_list as l;"
        "assert len(l('en')[0]) > 4000; print('wordfreq' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
