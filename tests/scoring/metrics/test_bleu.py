"""BLEU and its tokenizers against sacreBLEU as the oracle."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU

from scoring.metrics.bleu import Bleu
from scoring.words.tokenizers import (
    bleu_tokenizer,
    load_tokenizer,
    references_script,
    tokens_13a,
)
from tests.scoring.metrics.oracles import sacrebleu_counts
from tests.scoring.samples import ALPHABETS, HOSTILE, corpus, sentences, translations, worse

ORACLE = BLEU(effective_order=False)


@pytest.mark.parametrize("tokenizer", ["13a", "char", "zh", "intl", "none"])
def test_statistics_are_sacrebleus_for_every_tokenizer(tokenizer: str) -> None:
    outputs = [output for output in HOSTILE for _ in HOSTILE]
    references = list(HOSTILE) * len(HOSTILE)
    ours = Bleu(tokenizer).stats_many(translations(outputs, references))
    assert ours == sacrebleu_counts(BLEU(tokenize=tokenizer), outputs, [references])


@settings(deadline=None, max_examples=300)
@given(st.one_of(sentences, st.text(alphabet="ab5.,-'\"&;<>()!? \n\u0302é", max_size=20)))
def test_tokens_13a_of_any_text(text: str) -> None:
    assert tokens_13a(text) == ORACLE.tokenizer(text.rstrip()).split()


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(sentences, sentences), min_size=1, max_size=5))
def test_statistics_of_any_unicode(pairs: list[tuple[str, str]]) -> None:
    outputs, references = [o for o, _ in pairs], [r for _, r in pairs]
    ours = Bleu().stats_many(translations(outputs, references))
    assert ours == sacrebleu_counts(ORACLE, outputs, [references])


@pytest.mark.parametrize("alphabet", ALPHABETS.values(), ids=ALPHABETS)
def test_corpus_and_entry_values_are_sacrebleus(alphabet: str) -> None:
    rng = random.Random(2)
    references = [entry.reference for entry in corpus(alphabet, 150)]
    outputs = [worse(text, rng) for text in references]
    metric = Bleu()
    rows = np.array(metric.stats_many(translations(outputs, references)), dtype=np.float64)
    expected = ORACLE.corpus_score(outputs, [references]).score
    assert metric.value(rows.sum(axis=0)) == pytest.approx(expected, abs=1e-9)
    singles = [
        ORACLE.corpus_score([o], [[r]]).score for o, r in zip(outputs, references, strict=True)
    ]
    assert metric.values(rows) == pytest.approx(singles, abs=1e-9)


def test_smoothing_where_orders_have_no_match() -> None:
    expected = ORACLE.corpus_score(["a b c d e"], [["a x c y e z"]]).score
    rows = Bleu().stats(translations(["a b c d e"], ["a x c y e z"])[0])
    assert 0 < expected == pytest.approx(Bleu().value(rows))  # type: ignore[arg-type]


def test_unspaced_text_is_not_zero() -> None:
    pair = translations(["私は学生です。"], ["私は学生でした。"])[0]
    tokenizer = bleu_tokenizer("ja", references_script(["私は学生でした。"]))
    assert Bleu(tokenizer).value(Bleu(tokenizer).stats(pair)) > 40  # type: ignore[arg-type]


def test_missing_tokenizer_is_null_with_reason_never_zero() -> None:
    metric = Bleu("martian")
    assert metric.stats_many(translations(["a"], ["a"])) == [None]
    assert "martian" in metric.why_missing


def test_tokenizer_whose_library_is_missing_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "MeCab", None)
    monkeypatch.delitem(sys.modules, "sacrebleu.tokenizers.tokenizer_ja_mecab", raising=False)
    with pytest.raises(ValueError, match="'ja-mecab' cannot be used here"):
        load_tokenizer("ja-mecab")
    assert Bleu("ja-mecab").stats(translations(["a"], ["a"])[0]) is None


def test_a_model_that_would_have_to_be_downloaded_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sacrebleu.utils.SACREBLEU_DIR", str(tmp_path))
    metric = Bleu("flores200")
    assert metric.stats(translations(["a"], ["a"])[0]) is None
    assert "models" in metric.why_missing
    assert str(tmp_path) not in metric.why_missing


@pytest.mark.parametrize(
    ("tag", "script", "expected"),
    [
        ("crk", None, "13a"),
        ("crk-Cans", None, "13a"),
        ("zh", None, "zh"),
        ("zh-Hant-TW", None, "zh"),
        ("yue", "Hani", "zh"),
        ("ja", None, "char"),
        ("ja", "Jpan", "char"),
        ("ja-Latn", "Jpan", "13a"),
        ("th", "Thai", "char"),
        ("lo", None, "char"),
        ("my", None, "char"),
        ("km", None, "char"),
        ("km_KH", None, "char"),
        ("shn", "Mymr", "char"),
        ("th", "Zyyy", "13a"),
        ("", None, "13a"),
    ],
)
def test_choice_of_tokenizer(tag: str, script: str | None, expected: str) -> None:
    assert bleu_tokenizer(tag, script) == expected


@pytest.mark.parametrize(
    ("references", "expected"),
    [
        (["tânisi"], "Zyyy"),
        (["ᑖᓂᓯ"], "Zyyy"),
        (["日本語の文です"], "Jpan"),
        (["中文測試"], "Hani"),
        (["ภาษาไทย", "ok"], "Thai"),
        (["123 !"], None),
        ([], None),
    ],
)
def test_script_of_the_references(references: list[str], expected: str | None) -> None:
    assert references_script(references) == expected


def test_signature_is_sacrebleus_with_normal_form_and_engine() -> None:
    ORACLE.corpus_score(["a"], [["a"]])
    assert Bleu().signature.startswith(f"{ORACLE.get_signature()}|norm:NFC|engine:")
