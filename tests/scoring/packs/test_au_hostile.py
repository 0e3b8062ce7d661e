"""Whatever comes as an output or a record: every metric of the pack has a defined value, and soon."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scoring.packs.au import entry_value, metric, record

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
REFERENCE = {
    "wder": "A: one\nB: two",
    "cpwer": "A: one\nB: two",
    "speaker_count_error": "A: one\nB: two",
    "multiple_choice_accuracy": "A",
    "gsm8k_exact_match": "#### 1",
}
NAMES = (
    "wer",
    "wder",
    "cpwer",
    "speaker_count_error",
    "multiple_choice_accuracy",
    "gsm8k_exact_match",
    "joint_goal_accuracy",
    "slot_accuracy",
    "slot_f1",
    "bfcl_match_score",
    "instruction_following",
    "text2sql_score",
    "sql_set_match",
    "bleu",
    "meteor",
)


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
@settings(deadline=None, max_examples=25)
@given(output=hostile)
def test_any_text_has_a_value_in_range(name: str, output: str) -> None:
    _value(name, output)


BOMBS = {
    "empty": "",
    "marks": "a" + "\u0301" * 20_000,
    "nested list": "[" * 10_000 + "]" * 10_000,
    "nested object": '{"a":' * 10_000 + "1" + "}" * 10_000,
    "nested call": '[{"a": {"x": ' + "[" * 800 + "]" * 800 + "}}]",
    "long number": "\\boxed{" + "9" * 100_000 + "}",
    "boxes": "\\boxed{" * 20_000,
    "brackets": "[" * 100_000,
    "angles": "<<" * 50_000,
    "stars": "*" * 99_999,
    "blank lines": "\n" * 99_999,
    "speakers": "\n".join(f"S{place}: a" for place in range(20_000)),
    "answers": "Answer: " * 12_000,
    "spaces": "Answer:" + " " * 99_999,
}


@pytest.mark.parametrize("name", NAMES)
def test_texts_made_to_take_long_have_a_value(name: str) -> None:
    for output in BOMBS.values():
        _value(name, output)


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("piece", ["a b ", "[[", "A: b\n", "é "])
def test_ten_megabytes_have_a_value(name: str, piece: str) -> None:
    _value(name, piece * (10_000_000 // len(piece)))


OTHER_SCRIPTS = (
    ("ᓂᐚᐸᒫᐤ", "ᐊᑎᒼ"),
    ("नमस्ते", "धन्यवाद"),
    ("ភ្នំពេញ", "បាត់ដំបង"),
    ("καλημέρα", "ευχαριστώ"),
)


@pytest.mark.parametrize("pair", [order for pair in OTHER_SCRIPTS for order in permutations(pair)])
def test_two_different_answers_never_match(pair: tuple[str, str]) -> None:
    one, other = pair
    assert entry_value(metric("wer"), record(one, other)) == 1
    assert entry_value(metric("wer"), record(one, one)) == 0
    state = {"a": {"b": other}}
    assert (
        entry_value(
            metric("joint_goal_accuracy"),
            record(f'{{"a": {{"b": "{one}"}}}}', reference_state=state),
        )
        == 0
    )
    calls = [{"a": {"b": [other]}}]
    assert (
        entry_value(
            metric("bfcl_match_score"),
            record(f'[{{"a": {{"b": "{one}"}}}}]', reference_calls=calls),
        )
        == 0
    )
    assert entry_value(metric("meteor"), record(one, other)) == 0
    assert entry_value(metric("bleu"), record(one, other)) == 0
    labelled = record(f"{one}: {one}\n{other}: {other}", f"{other}: {other}")
    assert metric("cpwer").stats(labelled) == (1, 1)
