"""The pack au on hostile texts, and its metrics of speech."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from scoring.packs.au import speech
from tests.review.thorough import examples, times
from tests.scoring.packs.au import cases, check_golden, entry_value, metric, record, resources
from tests.scoring.packs.pack_cases import corpus_value

FIELDS: dict[str, Any] = {
    "instructions": [
        {"id": "keywords:existence", "kwargs": {"keywords": ["(a+)+$"]}},
        {"id": "detectable_format:title", "kwargs": {}},
        {"id": "detectable_format:number_bullet_lists", "kwargs": {"num_bullets": 1}},
        {"id": "length_constraints:number_sentences", "kwargs": {"num_sentences": 1, "relation": "at least"}},
    ],
    "reference_calls": [{"a": {"x": [1]}}],
    "reference_state": {"a": {"b": "c"}},
}  # fmt: skip
SQL = {"sql": {"exec": 0, "why": "no", "tables": {}}}
TALK = "A: one\nB: two"
REFERENCE = {
    "wder": TALK, "cpwer": TALK, "speaker_count_error": TALK, "multiple_choice_accuracy": "A",
    "gsm8k_exact_match": "#### 1",
}  # fmt: skip
NAMES = (
    "wer", "wder", "cpwer", "speaker_count_error", "multiple_choice_accuracy", "gsm8k_exact_match",
    "joint_goal_accuracy", "slot_accuracy", "slot_f1", "bfcl_match_score", "instruction_following",
    "text2sql_score", "sql_set_match", "bleu", "meteor",
)  # fmt: skip


def _value(name: str, output: str) -> float | None:
    made = metric(name)
    given = record(output, REFERENCE.get(name, "one two"), annotations=SQL, **FIELDS)
    value = entry_value(made, given)
    assert all(isinstance(said, str) for said in made.explain(given))
    assert all(isinstance(text, str) for row in made.compared(given) for text in row[:3])
    assert value is not None
    assert made.info.low <= value <= made.info.high
    return value


hostile = st.one_of(
    st.text(st.characters(), max_size=40),
    st.text(st.characters(categories=["Cs", "Cc", "Mn"]), max_size=40),
    st.text(st.sampled_from("{}[]\"':,\\`*<>()#\nA1a -"), max_size=40),
)


@pytest.mark.parametrize("name", NAMES)
@examples(6, 25)
@given(output=hostile)
def test_any_text_has_a_value_in_range(name: str, output: str) -> None:
    _value(name, output)


MANY = times(2_000, 100_000)
BOMBS = (
    "", "a" + "\u0301" * (MANY // 5), "[" * MANY + "]" * MANY, '{"a":' * MANY + "1" + "}" * MANY,
    '[{"a": {"x": ' + "[" * 800 + "]" * 800 + "}}]",
    "\\boxed{" + "9" * MANY + "}", "\\boxed{" * (MANY // 5), "[" * MANY, "<<" * (MANY // 2),
    "*" * (MANY - 1), "\n" * (MANY - 1), "\n".join(f"S{place}: a" for place in range(MANY // 5)),
    "Answer: " * (MANY // 8), "Answer:" + " " * (MANY - 1),
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_texts_made_to_take_long_have_a_value(name: str) -> None:
    for output in BOMBS:
        _value(name, output)


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("piece", ["a b ", "[[", "A: b\n", "é "])
def test_ten_megabytes_have_a_value(name: str, piece: str) -> None:
    _value(name, piece * (10_000_000 // len(piece)))


def test_two_different_answers_never_match() -> None:
    pairs = (("ᓂᐚᐸᒫᐤ", "ᐊᑎᒼ"), ("नमस्ते", "धन्यवाद"), ("ភ្នំពេញ", "បាត់ដំបង"), ("καλημέρα", "ευχαριστώ"))
    for one, other in (order for pair in pairs for order in permutations(pair)):
        state = record(f'{{"a": {{"b": "{one}"}}}}', reference_state={"a": {"b": other}})
        calls = record(f'[{{"a": {{"b": "{one}"}}}}]', reference_calls=[{"a": {"b": [other]}}])
        for name, given_, value in (
            ("wer", record(one, other), 1), ("wer", record(one, one), 0),
            ("joint_goal_accuracy", state, 0), ("bfcl_match_score", calls, 0),
            ("meteor", record(one, other), 0), ("bleu", record(one, other), 0),
        ):  # fmt: skip
            assert entry_value(metric(name), given_) == value
        labelled = record(f"{one}: {one}\n{other}: {other}", f"{other}: {other}")
        assert metric("cpwer").stats(labelled) == (1, 1, 0)


SPEECH = ("wer", "wder", "cpwer", "speaker_count_error")


def test_values_are_those_published_and_those_of_meeteval() -> None:
    for name in SPEECH:
        for case in cases(f"au.{name}"):
            check_golden(metric(name), case)
    file = Path(__file__).parents[2] / "data" / "cpwer.jsonl"
    _, *talks = map(json.loads, file.read_text("utf-8").splitlines())
    made = metric("cpwer")
    found = [made.stats(record(talk["predicted"], talk["reference"])) for talk in talks]
    assert (found, len(talks)) == ([(talk["errors"], talk["words"], 0) for talk in talks], 300)


def test_words_are_those_of_the_script() -> None:
    for language, output, reference, expected in [
        ("ja", "東京です", "東京都です", 1 / 5), ("zh-TW", "東京", "東京都", 1 / 3),
        ("th", "สวัสดี", "สวัสดี", 0.0), ("crk", "tânisi", "tânisi", 0.0),
        ("crk", "TÂNISI!", "tânisi", 0.0), ("hi", "नमस्ते दुनिया", "नमस्ते", 1.0),
        ("tli", "x̱át g̱ooch", "x̱át", 1.0), ("crk", "tânisi", "...", 1.0),
        ("crk", "tânisi nistês", "", 2.0), ("crk", "...", "", 0.0),
    ]:  # fmt: skip
        made = metric("wer", resources(language))
        assert entry_value(made, record(output, reference)) == pytest.approx(expected)
        tagged = record(output, reference, language=language)
        assert entry_value(metric("wer"), tagged) == pytest.approx(expected)


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


def test_words_without_a_name_are_one_speaker_as_in_meeteval() -> None:
    for output, expected in [
        ("hello world", 1 + 1), ("A: hello world", 1 + 1), ("um\nA: hello\nB: world", 0 + 1),
        ("Speaker 1: hello\nSpeaker 2: world", 0), ("**A:** hello\n**B:** world", 0),
        ("A：hello\nB： world", 0), ("A: hel\nlo\nB: world", 2), ("A:hello\nB:\nworld", 0),
        ("so this is what they said: hello\nB: world", 6),
        ("A: hello\nB: world\nC: bye", 1), ("A:\nB:", 2),
    ]:  # fmt: skip
        found = metric("cpwer").stats(record(output, "A: hello\nB: world"))
        assert found == (expected, 2, 0)

    for made in map(metric, SPEECH[1:]):  # a reference without speakers has no value
        for reference in ("hello world", "\n".join(f"S{i}: a" for i in range(40))):
            assert made.stats(record("A: hello", reference)) is None
            assert made.explain(record("A: hello", reference)) == ()
            assert "who spoke" in made.why_missing


def test_empty_references_count_and_are_counted() -> None:
    spoken, silent = record("a b x", "a b"), [record("a b", ""), record("", "...")]
    made = metric(
        "wer"
    )  # 1 of 2, 2 of 1, 0 of 1 (AU-Harness: a reference without a word counts as one word)
    assert corpus_value(made, [spoken, *silent]) == pytest.approx(3 / 4)
    assert [made.stats(each) for each in silent] == [(2, 1, 1), (0, 1, 1)]
    sums = np.array([4.0, 9.0, 2.0])
    assert made.further(sums) == {"au.wer_empty_references": 2}
    assert metric("cpwer").further(sums) == {"au.cpwer_empty_references": 2}
    talk = record("A: a\nB: b c", "")
    found = [metric(name).stats(talk) for name in SPEECH[1:]]
    assert found == [None, (3, 1, 1), (2, 1)]
    assert metric("cpwer").explain(talk) == ("3 errors in 0 words, speaker by speaker.",)


said = st.lists(st.sampled_from("xyzw"), min_size=1, max_size=4)
turns = st.lists(st.tuples(st.sampled_from("ABC"), said), min_size=1, max_size=5)


def _text(lines: list[tuple[str, list[str]]]) -> str:
    return "\n".join(f"{name}: {' '.join(words)}" for name, words in lines)


def _tried(output: list[tuple[str, list[str]]], reference: list[tuple[str, list[str]]]) -> int:
    """Try every pairing of speakers; the words of a speaker without a partner are all errors."""
    sides = []
    for lines in (output, reference):
        said: dict[str, list[str]] = {}
        for name, words in lines:
            said.setdefault(name, []).extend(words)
        sides.append(list(said.values()))
    most = max(map(len, sides))
    parts, wanted = ([*side, *[[]] * (most - len(side))] for side in sides)
    return min(sum(map(Levenshtein.distance, order, wanted)) for order in permutations(parts))


@examples(15, 40)
@given(turns, turns)
def test_no_other_pairing_has_fewer_errors(output: list[Any], reference: list[Any]) -> None:
    words = sum(len(each) for _, each in reference)
    found = metric("cpwer").stats(record(_text(output), _text(reference)))
    assert found == (_tried(output, reference), words, 0)


@examples(15, 40)
@given(turns, st.permutations("ABC"))
def test_names_only_tell_speakers_apart(lines: list[Any], names: list[str]) -> None:
    other = [(names["ABC".index(name)], words) for name, words in lines]
    for name in ("wder", "cpwer", "speaker_count_error"):
        assert entry_value(metric(name), record(_text(other), _text(lines))) == 0.0


def test_texts_too_long_to_compare_count_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speech, "MOST_CELLS", 3)
    monkeypatch.setattr(speech, "MOST_CELLS", 3)
    assert metric("wer").stats(record("a b", "a b c")) == (3, 3, 0)
    assert metric("cpwer").stats(record("A: a b", "A: a b")) == (4, 2, 0)
    assert metric("wder").stats(record("A: a b", "A: a b")) == (2, 2)
    monkeypatch.setattr(speech, "MOST_CELLS", 10**6)
    monkeypatch.setattr(speech, "MOST_LETTERS", 5)
    assert metric("cpwer").stats(record("A: a\nB: b", "A: a")) == (2, 1, 0)
    monkeypatch.setattr(speech, "MOST_SPEAKERS", 1)
    assert metric("cpwer").stats(record("A: a a\nB: b", "A: a")) == (1 + 2, 1, 0)
