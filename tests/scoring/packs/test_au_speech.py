"""WER, WDER, cpWER and the number of speakers."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from scoring.packs.au import diarization, wer
from tests.scoring.packs.au import cases, check_golden, entry_value, metric, record, resources

SPEECH = ("wer", "wder", "cpwer", "speaker_count_error")


@pytest.mark.parametrize(
    ("name", "case"), [(name, case) for name in SPEECH for case in cases(f"au.{name}")]
)
def test_values_are_those_of_the_published_systems(name: str, case: dict[str, Any]) -> None:
    check_golden(metric(name), case)


def test_cpwer_is_meetevals_on_random_talks() -> None:
    file = Path(__file__).parents[2] / "data" / "cpwer.jsonl"
    _, *talks = map(json.loads, file.read_text("utf-8").splitlines())
    made = metric("cpwer")
    found = [made.stats(record(talk["predicted"], talk["reference"])) for talk in talks]
    assert found == [(talk["errors"], talk["words"]) for talk in talks]
    assert len(talks) == 300


@pytest.mark.parametrize(
    ("language", "output", "reference", "expected"),
    [
        ("ja", "東京です", "東京都です", 1 / 5),
        ("zh-TW", "東京", "東京都", 1 / 3),
        ("th", "สวัสดี", "สวัสดี", 0.0),
        ("crk", "tânisi", "tânisi", 0.0),
        ("crk", "TÂNISI!", "tânisi", 0.0),
        ("hi", "नमस्ते दुनिया", "नमस्ते", 1.0),
        ("tli", "x̱át g̱ooch", "x̱át", 1.0),
        ("crk", "tânisi", "...", 1.0),
        ("crk", "tânisi nistês", "", 2.0),
        ("crk", "...", "", 0.0),
    ],
)
def test_words_are_those_of_the_script(
    language: str, output: str, reference: str, expected: float
) -> None:
    made = metric("wer", resources(language))
    assert entry_value(made, record(output, reference)) == pytest.approx(expected)
    assert entry_value(metric("wer"), record(output, reference, language=language)) == (
        pytest.approx(expected)
    )


def test_what_is_left_open_is_said_in_words() -> None:
    assert metric("wer").explain(record("a x c d", "a b c")) == (
        "3 words: 1 changed, 0 left out; 1 added.",
    )
    assert metric("cpwer").explain(record("X: b\nY: a c", "A: a\nB: b")) == (
        "1 error in 2 words, speaker by speaker.",
        "Speakers were taken: Y for A, X for B.",
    )
    assert metric("wder").explain(record("A: a b", "A: a\nB: b")) == (
        "1 of 2 aligned words with another speaker.",
    )
    output = "um\nS 1: b so B\nY: a c\nZ: well"
    assert metric("cpwer").compared(record(output, "Ann: a\nBen: b\nAnn: c\nEve: d")) == (
        ("Ann ← Y", "a c", "a c", True),
        ("Ben ← S 1", "b so b", "b", True),
        ("Eve ← Z", "well", "d", True),
        ("no name", "um", "", True),
    )
    (said,) = metric("speaker_count_error").explain(record("A: a\nB: b", "A: a"))
    assert said == "2 speakers; the reference has 1."


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("hello world", 2 + 2),
        ("A: hello world", 1 + 1),
        ("um\nA: hello\nB: world", 0 + 1),
        ("Speaker 1: hello\nSpeaker 2: world", 0),
        ("**A:** hello\n**B:** world", 0),
        ("A：hello\nB： world", 0),
        ("A: hel\nlo\nB: world", 2),
        ("A:hello\nB:\nworld", 0),
        ("so this is what they said: hello\nB: world", 1 + 6 + 1 - 0),
        ("A: hello\nB: world\nC: bye", 1),
        ("A:\nB:", 2),
    ],
)
def test_words_without_a_speaker_count_against_an_output(output: str, expected: int) -> None:
    found = metric("cpwer").stats(record(output, "A: hello\nB: world"))
    assert found == (expected, 2)


@pytest.mark.parametrize("name", SPEECH[1:])
@pytest.mark.parametrize("reference", ["hello world", "", "\n".join(f"S{i}: a" for i in range(40))])
def test_a_reference_without_speakers_has_no_value(name: str, reference: str) -> None:
    made = metric(name)
    assert made.stats(record("A: hello", reference)) is None
    assert made.explain(record("A: hello", reference)) == ()
    assert "who spoke" in made.why_missing


turns = st.lists(
    st.tuples(st.sampled_from("ABC"), st.lists(st.sampled_from("xyzw"), min_size=1, max_size=4)),
    min_size=1,
    max_size=5,
)


def _text(lines: list[tuple[str, list[str]]]) -> str:
    return "\n".join(f"{name}: {' '.join(words)}" for name, words in lines)


def _tried(output: list[tuple[str, list[str]]], reference: list[tuple[str, list[str]]]) -> int:
    """Try every pairing of speakers; the words of a speaker without a partner are all errors."""
    sides = []
    for lines in (output, reference):
        said: dict[str, list[str]] = {}
        for name, words in lines:
            said.setdefault(name, []).extend(words)
        sides.append([*said.values(), *[[]] * 3])
    parts, wanted = sides
    return min(
        sum(
            Levenshtein.distance(words, other)
            for words, other in zip(order, [*wanted, *[[]] * 6], strict=False)
        )
        + sum(len(other) for other in wanted[len(order) :])
        for order in permutations(parts)
    )


@settings(deadline=None, max_examples=40)
@given(turns, turns)
def test_no_other_pairing_of_speakers_has_fewer_errors(
    output: list[Any], reference: list[Any]
) -> None:
    words = sum(len(each) for _, each in reference)
    found = metric("cpwer").stats(record(_text(output), _text(reference)))
    assert found == (_tried(output, reference), words)


@settings(deadline=None, max_examples=40)
@given(turns, st.permutations("ABC"))
def test_names_only_tell_speakers_apart(lines: list[Any], names: list[str]) -> None:
    other = [(names["ABC".index(name)], words) for name, words in lines]
    for name in ("wder", "cpwer", "speaker_count_error"):
        assert entry_value(metric(name), record(_text(other), _text(lines))) == 0.0


def test_texts_that_are_too_long_to_compare_count_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wer, "MOST_CELLS", 3)
    monkeypatch.setattr(diarization, "MOST_CELLS", 3)
    assert metric("wer").stats(record("a b", "a b c")) == (3, 3)
    assert metric("cpwer").stats(record("A: a b", "A: a b")) == (4, 2)
    assert metric("wder").stats(record("A: a b", "A: a b")) == (2, 2)


def test_what_lies_behind_the_last_line_that_is_read_is_nobodys(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(diarization, "MOST_LETTERS", 5)
    assert metric("cpwer").stats(record("A: a\nB: b", "A: a")) == (2, 1)
    monkeypatch.setattr(diarization, "MOST_SPEAKERS", 1)
    assert metric("cpwer").stats(record("A: a a\nB: b", "A: a")) == (1 + 2, 1)
