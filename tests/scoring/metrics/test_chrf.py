"""chrF++ against sacreBLEU as the oracle: the integers of every entry, and the values."""

from __future__ import annotations

import random
from unicodedata import normalize

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import CHRF

from scoring.metrics.chrf import ChrfPlusPlus
from tests.scoring.metrics.oracles import sacrebleu_counts
from tests.scoring.samples import ALPHABETS, HOSTILE, corpus, sentences, translations, worse

METRIC = ChrfPlusPlus()
ORACLE = CHRF(word_order=2)


def check(outputs: list[str], references: list[str]) -> None:
    ours = METRIC.stats_many(translations(outputs, references))
    assert ours == sacrebleu_counts(ORACLE, outputs, [references])


def test_every_pair_of_hostile_texts_has_sacrebleus_integers() -> None:
    pairs = [(output, reference) for output in HOSTILE for reference in HOSTILE]
    check([output for output, _ in pairs], [reference for _, reference in pairs])


def test_single_entries_have_the_integers_of_a_batch() -> None:
    items = translations(list(HOSTILE), list(reversed(HOSTILE)))
    assert [METRIC.stats(item) for item in items] == METRIC.stats_many(items)


@pytest.mark.parametrize("alphabet", ALPHABETS.values(), ids=ALPHABETS)
@pytest.mark.parametrize("chunk", [1, 3, 30, 64, 200])
def test_chunks_of_any_size_in_any_script(alphabet: str, chunk: int) -> None:
    rng = random.Random(chunk)
    references = [entry.reference for entry in corpus(alphabet, chunk)]
    check([worse(text, rng) for text in references], references)


def test_alphabets_too_large_for_a_key_are_split_or_counted() -> None:
    rng = random.Random(7)
    many = [chr(code) for code in range(0x4E00, 0x4E00 + 5000)]
    references = ["".join(rng.choices(many, k=300)) for _ in range(20)] + ["".join(many)]
    outputs = [text[: len(text) // 2] + "。" + text[len(text) // 2 :] for text in references]
    check(outputs, references)


def test_a_very_long_text_beside_short_ones() -> None:
    rng = random.Random(3)
    long = " ".join("".join(rng.choices("abcdef", k=5)) for _ in range(6000))
    check([long, "a b", long[:20000]], [long[::-1], "a b c", long])


@settings(deadline=None, max_examples=150)
@given(st.lists(st.tuples(sentences, sentences), min_size=1, max_size=5))
def test_any_unicode(pairs: list[tuple[str, str]]) -> None:
    check([output for output, _ in pairs], [reference for _, reference in pairs])


def test_sentence_and_corpus_values_are_sacrebleus() -> None:
    rng = random.Random(5)
    references = [entry.reference for entry in corpus(ALPHABETS["syllabics"], 120)] + list(HOSTILE)
    outputs = [worse(text, rng) for text in references]
    rows = np.array(METRIC.stats_many(translations(outputs, references)), dtype=np.float64)
    composed = [[normalize("NFC", t) for t in texts] for texts in (outputs, references)]
    sentence = [ORACLE.sentence_score(o, [r]).score for o, r in zip(*composed, strict=True)]
    assert METRIC.values(rows) == pytest.approx(sentence, abs=1e-9)
    expected = ORACLE.corpus_score(composed[0], [composed[1]]).score
    assert METRIC.value(rows.sum(axis=0)) == pytest.approx(expected, abs=1e-9)


def test_value_computed_by_hand() -> None:
    # "ab" against "abc": 2/2, 1/1 of the letters and pairs kept, 2/3 and 1/2 recalled; the words differ
    items = translations(["ab"], ["abc"])
    precision, recall = (1 + 1 + 0) / 3, (2 / 3 + 1 / 2 + 0) / 3
    expected = 100 * 5 * precision * recall / (4 * precision + recall)
    assert METRIC.value(METRIC.stats(items[0])) == pytest.approx(expected)  # type: ignore[arg-type]


def test_decomposed_output_scores_as_composed() -> None:
    pair = translations(["niwa\u0302pama\u0302w"], ["niwâpamâw"])[0]
    assert METRIC.value(METRIC.stats(pair)) == pytest.approx(100.0)  # type: ignore[arg-type]


def test_empty_output_is_zero_not_null() -> None:
    assert METRIC.value(METRIC.stats(translations([""], ["tânisi"])[0])) == 0.0  # type: ignore[arg-type]


def test_signature_is_sacrebleus_with_normal_form_and_engine() -> None:
    ORACLE.corpus_score(["a"], [["a"]])
    theirs = str(ORACLE.get_signature())
    assert METRIC.signature.startswith(f"{theirs}|norm:NFC|engine:")
