"""TER against sacreBLEU's tercom as the oracle, with pairs made to provoke shifts and the beam."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein
from sacrebleu.metrics import TER

from scoring.metrics import ter
from scoring.metrics.ter import Ter, edits
from tests.scoring.metrics.oracles import sacrebleu_counts
from tests.scoring.samples import HOSTILE, sentences, translations

METRIC = Ter()
ORACLE = TER()


def check(outputs: list[str], references: list[str]) -> None:
    ours = METRIC.stats_many(translations(outputs, references))
    assert ours == sacrebleu_counts(ORACLE, outputs, [references])


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


def test_long_unrelated_entries_are_not_left_to_the_slow_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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
def test_below_the_bound_long_unrelated_entries_are_as_sacrebleu_has_them() -> None:
    rng = random.Random(13)
    check([unrelated(rng, 90) for _ in range(3)], [unrelated(rng, 100) for _ in range(3)])


def test_without_a_beam_the_same_is_found_where_no_path_leaves_it() -> None:
    rng = random.Random(14)
    for _ in range(40):
        output, reference = (text.split() for text in shifted_pair(rng, 20))
        if output and reference:
            words, target = ter.as_characters(output, reference)
            distance = Levenshtein.distance(words, target)
            without = ter.search(words, target, distance, beam=False)
            assert without == edits(output, reference)


def test_every_pair_of_hostile_texts() -> None:
    pairs = [(output, reference) for output in HOSTILE for reference in HOSTILE]
    check([output for output, _ in pairs], [reference for _, reference in pairs])


@pytest.mark.parametrize("longest", [6, 14, 30])
def test_adversarial_shifts(longest: int) -> None:
    rng = random.Random(longest)
    pairs = [shifted_pair(rng, longest) for _ in range(120)]
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


def test_long_unrelated_texts() -> None:
    rng = random.Random(6)
    common = [f"c{place}" for place in range(8)]

    def text() -> str:
        words = [
            rng.choice(common) if rng.random() < 0.5 else f"w{rng.random()}"
            for _ in range(rng.randint(20, 80))
        ]
        return " ".join(words)

    pairs = [(text(), text()) for _ in range(10)]
    check([output for output, _ in pairs], [reference for _, reference in pairs])


@settings(deadline=None, max_examples=150)
@given(st.lists(st.tuples(sentences, sentences), min_size=1, max_size=3))
def test_any_unicode(pairs: list[tuple[str, str]]) -> None:
    check([output for output, _ in pairs], [reference for _, reference in pairs])


@settings(deadline=None, max_examples=200)
@given(st.text(alphabet="abc", max_size=26), st.text(alphabet="abc", min_size=1, max_size=26))
def test_small_vocabularies(output: str, reference: str) -> None:
    check([" ".join(output)], [" ".join(reference)])


@pytest.mark.parametrize(
    ("output", "reference", "expected"),
    [
        ("", "a b c", 3),
        ("a b", "", 2),
        ("", "", 0),
        ("a b c", "a b c", 0),
        ("b c a", "a b c", 1),  # one shift instead of two edits
        ("a x c", "a b c", 1),
        ("d e a b c", "a b c d e", 1),
    ],
)
def test_edits_counted_by_hand(output: str, reference: str, expected: int) -> None:
    assert edits(output.split(), reference.split()) == expected


def test_values_are_sacrebleus() -> None:
    rng = random.Random(11)
    pairs = [shifted_pair(rng, 20) for _ in range(60)] + [("", "a b"), ("a", "a"), ("x y", "")]
    outputs, references = [o for o, _ in pairs], [r for _, r in pairs]
    rows = np.array(METRIC.stats_many(translations(outputs, references)), dtype=np.float64)
    singles = [ORACLE.sentence_score(o, [r]).score for o, r in pairs]
    assert METRIC.values(rows) == pytest.approx(singles, abs=1e-9)
    expected = ORACLE.corpus_score(outputs, [references]).score
    assert METRIC.value(rows.sum(axis=0)) == pytest.approx(expected, abs=1e-9)


def test_signature_is_sacrebleus_with_normal_form_and_engine() -> None:
    ORACLE.corpus_score(["a"], [["a"]])
    assert METRIC.signature.startswith(f"{ORACLE.get_signature()}|norm:NFC|engine:")
