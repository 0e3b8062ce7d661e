"""TER, BLEU with its tokenizers and chrF++ against sacreBLEU as the oracle."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from unicodedata import normalize

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein
from sacrebleu.metrics import BLEU, CHRF, TER

from scoring.core.metric import Metric
from scoring.metrics import ter
from scoring.metrics.bleu import Bleu
from scoring.metrics.chrf import ChrfPlusPlus
from scoring.metrics.ter import Ter, edits
from scoring.words.tokenizers import bleu_tokenizer, load_tokenizer, references_script, tokens_13a
from tests.review.thorough import examples, times
from tests.scoring.metrics.oracles import sacrebleu_counts
from tests.scoring.samples import ALPHABETS, HOSTILE, corpus, sentences, translations, worse

METRIC = Ter()
ORACLE = TER()


def check(outputs: list[str], references: list[str], metric: Metric = METRIC) -> None:
    ours = metric.stats_many(translations(outputs, references))
    oracle = ORACLE if metric is METRIC else CHRF_ORACLE
    assert ours == sacrebleu_counts(oracle, outputs, [references])


def shifted_pair(rng: random.Random, longest: int) -> tuple[str, str]:
    """Few different words, and whole blocks moved: many shifts compete."""
    vocabulary = [chr(97 + place) for place in range(rng.randint(2, 7))]
    reference = [rng.choice(vocabulary) for _ in range(rng.randint(1, longest))]
    output = list(reference)
    for _ in range(rng.randint(0, 4)):
        start, end = sorted(rng.choices(range(len(output) + 1), k=2))
        block = output[start:end]
        del output[start:end]
        goal = rng.randint(0, len(output))
        output[goal:goal] = block
    output = [word if rng.random() < 0.9 else rng.choice(vocabulary) for word in output]
    return " ".join(output[: rng.choice((None, None, 3, 12))]), " ".join(reference)


def unrelated(rng: random.Random, words: int) -> str:
    """Draw words of a small language: most pairs share some, in another order."""
    return " ".join(f"w{int(rng.expovariate(1 / 60))}" for _ in range(words))


def test_long_unrelated_entries_take_the_fast_search(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(12)
    pair = unrelated(rng, 400).split(), unrelated(rng, 600).split()
    asked: list[int] = []
    monkeypatch.setattr(ter, "by_sacrebleu", lambda output, reference: asked.append(len(output)))
    found = edits(*pair)
    assert asked == []
    assert Levenshtein.distance(*pair) >= found > 300
    monkeypatch.setattr(ter, "MOST_CELLS", 240_000)
    edits(*pair)
    assert asked == [400], "at the bound it is left to sacreBLEU"


@pytest.mark.thorough
def test_long_unrelated_entries_are_as_sacrebleu() -> None:
    rng = random.Random(13)
    check([unrelated(rng, 90) for _ in range(3)], [unrelated(rng, 100) for _ in range(3)])


def test_without_a_beam_the_same_is_found() -> None:
    rng = random.Random(14)
    for _ in range(40):
        output, reference = (text.split() for text in shifted_pair(rng, 20))
        if output and reference:
            words, target = ter.as_characters(output, reference)
            distance = Levenshtein.distance(words, target)
            without = ter.search(words, target, distance, beam=False)
            assert without == edits(output, reference)


def test_hostile_shifted_and_unrelated_pairs_are_as_sacrebleu() -> None:
    pairs = [(output, reference) for output in HOSTILE[:: times(3, 1)] for reference in HOSTILE]
    for longest in (6, 14, 30):
        rng = random.Random(longest)
        pairs += [shifted_pair(rng, longest) for _ in range(times(25, 120))]
    common = [f"c{place}" for place in range(8)]

    def text() -> str:
        return " ".join(
            rng.choice(common) if rng.random() < 0.5 else f"w{rng.random()}"
            for _ in range(rng.randint(20, times(40, 80)))
        )

    pairs += [(text(), text()) for _ in range(times(3, 10))]
    check([output for output, _ in pairs], [reference for _, reference in pairs])


@pytest.mark.thorough
def test_long_pairs_that_reach_the_beam_and_the_limit_of_tries() -> None:
    rng = random.Random(70)
    pairs = [shifted_pair(rng, 75) for _ in range(10)]
    words = [f"w{place}" for place in range(90)]
    pairs += [
        (" ".join(words[45:] + words[:45]), " ".join(words)),
        (" ".join(reversed(words)), " ".join(words)),
        (" ".join(words[:3]), " ".join(words)),
        (" ".join(words + words), " ".join(words[40:])),
        (" ".join(words[30:60] + ["x"] * 40), " ".join(words)),
    ]
    check([output for output, _ in pairs], [reference for _, reference in pairs])


@examples(18, 150)
@given(st.lists(st.tuples(sentences, sentences), min_size=1, max_size=3))
def test_any_unicode(pairs: list[tuple[str, str]]) -> None:
    check([output for output, _ in pairs], [reference for _, reference in pairs])


@examples(24, 200)
@given(st.text(alphabet="abc", max_size=26), st.text(alphabet="abc", min_size=1, max_size=26))
def test_small_vocabularies(output: str, reference: str) -> None:
    check([" ".join(output)], [" ".join(reference)])


def test_values_and_signature_are_sacrebleus() -> None:
    rng = random.Random(11)
    pairs = [shifted_pair(rng, 20) for _ in range(60)] + [("", "a b"), ("a", "a"), ("x y", "")]
    outputs, references = [o for o, _ in pairs], [r for _, r in pairs]
    rows = np.array(METRIC.stats_many(translations(outputs, references)), dtype=np.float64)
    singles = [ORACLE.sentence_score(o, [r]).score for o, r in pairs]
    assert METRIC.values(rows) == pytest.approx(singles, abs=1e-9)
    expected = ORACLE.corpus_score(outputs, [references]).score
    assert METRIC.value(rows.sum(axis=0)) == pytest.approx(expected, abs=1e-9)
    ORACLE.corpus_score(["a"], [["a"]])
    assert METRIC.signature.startswith(f"{ORACLE.get_signature()}|norm:NFC|engine:")
    for output, reference, expected in [
        ("", "a b c", 3),
        ("a b", "", 2),
        ("", "", 0),
        ("a b c", "a b c", 0),
        ("b c a", "a b c", 1),  # one shift instead of two edits
        ("a x c", "a b c", 1),
        ("d e a b c", "a b c d e", 1),
    ]:
        assert edits(output.split(), reference.split()) == expected


BLEU_ORACLE = BLEU(effective_order=False)


def test_statistics_are_sacrebleus_for_every_tokenizer() -> None:
    for tokenizer in ["13a", "char", "zh", "intl", "none"]:
        outputs = [output for output in HOSTILE for _ in HOSTILE]
        references = list(HOSTILE) * len(HOSTILE)
        ours = Bleu(tokenizer).stats_many(translations(outputs, references))
        assert ours == sacrebleu_counts(BLEU(tokenize=tokenizer), outputs, [references])


@examples(30, 300)
@given(st.one_of(sentences, st.text(alphabet="ab5.,-'\"&;<>()!? \n\u0302é", max_size=20)))
def test_tokens_13a_of_any_text(text: str) -> None:
    assert tokens_13a(text) == BLEU_ORACLE.tokenizer(text.rstrip()).split()


@examples(20, 60)
@given(st.lists(st.tuples(sentences, sentences), min_size=1, max_size=5))
def test_statistics_of_any_unicode(pairs: list[tuple[str, str]]) -> None:
    outputs, references = [o for o, _ in pairs], [r for _, r in pairs]
    ours = Bleu().stats_many(translations(outputs, references))
    assert ours == sacrebleu_counts(BLEU_ORACLE, outputs, [references])


@pytest.mark.parametrize("alphabet", ALPHABETS.values(), ids=ALPHABETS)
def test_corpus_and_entry_values_are_sacrebleus(alphabet: str) -> None:
    rng = random.Random(2)
    references = [entry.reference for entry in corpus(alphabet, 150)]
    outputs = [worse(text, rng) for text in references]
    metric = Bleu()
    rows = np.array(metric.stats_many(translations(outputs, references)), dtype=np.float64)
    expected = BLEU_ORACLE.corpus_score(outputs, [references]).score
    assert metric.value(rows.sum(axis=0)) == pytest.approx(expected, abs=1e-9)
    singles = [
        BLEU_ORACLE.corpus_score([o], [[r]]).score for o, r in zip(outputs, references, strict=True)
    ]
    assert metric.values(rows) == pytest.approx(singles, abs=1e-9)


def test_smoothed_and_unspaced_text_is_not_zero() -> None:
    expected = BLEU_ORACLE.corpus_score(["a b c d e"], [["a x c y e z"]]).score
    rows = Bleu().stats(translations(["a b c d e"], ["a x c y e z"])[0])
    assert 0 < expected == pytest.approx(Bleu().value(rows))  # type: ignore[arg-type]
    pair = translations(["私は学生です。"], ["私は学生でした。"])[0]
    tokenizer = bleu_tokenizer("ja", references_script(["私は学生でした。"]))
    assert Bleu(tokenizer).value(Bleu(tokenizer).stats(pair)) > 40  # type: ignore[arg-type]
    metric = Bleu("martian")
    assert metric.stats_many(translations(["a"], ["a"])) == [None]
    assert "martian" in metric.why_missing


def test_tokenizer_without_library_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "MeCab", None)
    monkeypatch.delitem(sys.modules, "sacrebleu.tokenizers.tokenizer_ja_mecab", raising=False)
    with pytest.raises(ValueError, match="'ja-mecab' cannot be used here"):
        load_tokenizer("ja-mecab")
    assert Bleu("ja-mecab").stats(translations(["a"], ["a"])[0]) is None
    monkeypatch.setattr("sacrebleu.utils.SACREBLEU_DIR", str(tmp_path))
    metric = Bleu("flores200")
    assert metric.stats(translations(["a"], ["a"])[0]) is None
    assert "models" in metric.why_missing
    assert str(tmp_path) not in metric.why_missing


def test_tokenizer_follows_tag_and_script() -> None:
    for tag, script, expected in [
        ("crk", None, "13a"), ("crk-Cans", None, "13a"), ("zh", None, "zh"),
        ("zh-Hant-TW", None, "zh"), ("yue", "Hani", "zh"), ("ja", None, "char"),
        ("ja", "Jpan", "char"), ("ja-Latn", "Jpan", "13a"), ("th", "Thai", "char"),
        ("lo", None, "char"), ("my", None, "char"), ("km", None, "char"), ("km_KH", None, "char"),
        ("shn", "Mymr", "char"), ("th", "Zyyy", "13a"), ("", None, "13a"),
    ]:  # fmt: skip
        assert bleu_tokenizer(tag, script) == expected
    for references, told in [
        (["tânisi"], "Zyyy"), (["ᑖᓂᓯ"], "Zyyy"), (["日本語の文です"], "Jpan"), (["中文測試"], "Hani"),
        (["ภาษาไทย", "ok"], "Thai"), (["123 !"], None), ([], None),
    ]:  # fmt: skip
        assert references_script(references) == told
    BLEU_ORACLE.corpus_score(["a"], [["a"]])
    assert Bleu().signature.startswith(f"{BLEU_ORACLE.get_signature()}|norm:NFC|engine:")


CHRF_METRIC = ChrfPlusPlus()
CHRF_ORACLE = CHRF(word_order=2)


def test_hostile_texts_and_single_entries_have_sacrebleus_integers() -> None:
    pairs = [(output, reference) for output in HOSTILE for reference in HOSTILE]
    check([output for output, _ in pairs], [reference for _, reference in pairs], CHRF_METRIC)
    items = translations(list(HOSTILE), list(reversed(HOSTILE)))
    assert [CHRF_METRIC.stats(item) for item in items] == CHRF_METRIC.stats_many(items)
    rng = random.Random(3)
    long = " ".join("".join(rng.choices("abcdef", k=5)) for _ in range(6000))
    check([long, "a b", long[:20000]], [long[::-1], "a b c", long], CHRF_METRIC)


@pytest.mark.parametrize("chunk", [1, 3, 30, 64, 200])
def test_chunks_of_any_size_in_any_script(chunk: int) -> None:
    for alphabet in ALPHABETS.values():
        rng = random.Random(chunk)
        references = [entry.reference for entry in corpus(alphabet, chunk)]
        check([worse(text, rng) for text in references], references, CHRF_METRIC)


def test_alphabets_too_large_for_a_key_are_split_or_counted() -> None:
    rng = random.Random(7)
    many = [chr(code) for code in range(0x4E00, 0x4E00 + 5000)]
    references = ["".join(rng.choices(many, k=300)) for _ in range(20)] + ["".join(many)]
    outputs = [text[: len(text) // 2] + "。" + text[len(text) // 2 :] for text in references]
    check(outputs, references, CHRF_METRIC)


@examples(15, 150)
@given(st.lists(st.tuples(sentences, sentences), min_size=1, max_size=5))
def test_chrf_any_unicode(pairs: list[tuple[str, str]]) -> None:
    check([output for output, _ in pairs], [reference for _, reference in pairs], CHRF_METRIC)


def test_sentence_and_corpus_values_are_sacrebleus() -> None:
    rng = random.Random(5)
    references = [entry.reference for entry in corpus(ALPHABETS["syllabics"], 120)] + list(HOSTILE)
    outputs = [worse(text, rng) for text in references]
    rows = np.array(CHRF_METRIC.stats_many(translations(outputs, references)), dtype=np.float64)
    composed = [[normalize("NFC", t) for t in texts] for texts in (outputs, references)]
    sentence = [CHRF_ORACLE.sentence_score(o, [r]).score for o, r in zip(*composed, strict=True)]
    assert CHRF_METRIC.values(rows) == pytest.approx(sentence, abs=1e-9)
    expected = CHRF_ORACLE.corpus_score(composed[0], [composed[1]]).score
    assert CHRF_METRIC.value(rows.sum(axis=0)) == pytest.approx(expected, abs=1e-9)


def test_hand_computed_composed_and_empty_values() -> None:
    # "ab" against "abc": 2/2, 1/1 of the letters and pairs kept, 2/3 and 1/2 recalled; the words differ
    items = translations(["ab"], ["abc"])
    precision, recall = (1 + 1 + 0) / 3, (2 / 3 + 1 / 2 + 0) / 3
    expected = 100 * 5 * precision * recall / (4 * precision + recall)
    assert CHRF_METRIC.value(CHRF_METRIC.stats(items[0])) == pytest.approx(expected)  # type: ignore[arg-type]
    pair = translations(["niwa\u0302pama\u0302w"], ["niwâpamâw"])[0]
    assert CHRF_METRIC.value(CHRF_METRIC.stats(pair)) == pytest.approx(100.0)  # type: ignore[arg-type]
    assert CHRF_METRIC.value(CHRF_METRIC.stats(translations([""], ["tânisi"])[0])) == 0.0  # type: ignore[arg-type]
    CHRF_ORACLE.corpus_score(["a"], [["a"]])
    theirs = str(CHRF_ORACLE.get_signature())
    assert CHRF_METRIC.signature.startswith(f"{theirs}|norm:NFC|engine:")
