"""The pack au: letters, numbers, states, calls and instructions that an answer gives; hostile texts, and speech."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from corpora.model.task_records import CHECKABLE
from corpora.text.comparison import FORM
from scoring.packs.au import instructions as answer_language
from scoring.packs.au import speech
from scoring.packs.au.answers import chosen_letter, final_number
from scoring.packs.au.instructions import CHECKS
from scoring.packs.au.structured import unfenced
from tests.review.thorough import examples, times
from tests.scoring.packs.au import cases, check_golden, entry_value, metric, record, resources
from tests.scoring.packs.pack_cases import corpus_value

PLAIN = (
    "multiple_choice_accuracy", "gsm8k_exact_match", "joint_goal_accuracy", "slot_accuracy",
    "slot_f1", "bfcl_match_score",
)  # fmt: skip


def test_values_are_those_of_the_published_systems() -> None:
    for name in PLAIN:
        for case in cases(f"au.{name}"):
            check_golden(metric(name), case)


def test_letter_is_read_and_never_guessed() -> None:
    for answer, letter in [
        ("I think it is hard", None), ("A good question", None), ("Answer: Kelvin", None),
        ("Answer: A good question", None), ("Answer: A or B", None), ("Answer: A/B", None),
        ("The answer is a matter of taste", None),
        ("**Answer:** (C)", "C"), ("Answer: **J**.", "J"), ("The answer is b.", "B"),
        ("Option D is correct.", "D"), ("so \\boxed{\\text{E}}", "E"), ("(F)", "F"),
        ("A) one\nAnswer: B", "B"), ("Réponse :\nG.", "G"), ("Answer: Bé", None),
        ("Answer: I", "I"),
    ]:  # fmt: skip
        assert chosen_letter(answer) == letter
    assert metric("multiple_choice_accuracy").stats(record("A", "the first")) is None
    assert entry_value(metric("multiple_choice_accuracy"), record("Answer: A", "(a).")) == 1
    assert metric("gsm8k_exact_match").stats(record("\\boxed{1}", "one")) is None


def test_a_number_is_read_by_its_value() -> None:
    for answer, value in [
        ("\\boxed{1,234.50}", 1234.5), ("\\boxed{\\$18}", 18), ("\\boxed{−3}", -3),
        ("\\boxed{-\\dfrac{3}{4}}", -0.75), ("\\boxed{3/4}", 0.75), ("\\boxed{४२}", 42),
        ("\\boxed{.5}", 0.5), ("\\boxed{{7}} and so on", 7), ("7.", 7), ("1,000,000", 1_000_000),
        ("about 7", None), ("\\boxed{}", None), ("\\boxed{1/0}", None),
        ("\\boxed{\\frac{1}{0}}", None), ("\\boxed{" + "1" * 61 + "}", None),
        ("\\boxed{" + "x" * 1000 + "5}", None), ("\\boxed{5", 5),
    ]:  # fmt: skip
        assert final_number(answer) == value


@examples(20, 60)
@given(st.integers(-(10**12), 10**12), st.integers(0, 4))
def test_equal_numbers_match_however_they_are_written(number: int, zeros: int) -> None:
    written = f"{number:,}" + ("." + "0" * zeros if zeros else "")
    made = metric("gsm8k_exact_match")
    assert entry_value(made, record(f"so \\boxed{{{written}}}", f"#### {number}")) == 1
    assert entry_value(made, record(f"\\boxed{{{number + 1}}}", f"#### {number}")) == 0


STATE = {"hotel": {"area": "north", "stars": "4"}}


def test_slots_are_compared_one_by_one() -> None:
    for answer, joint, accuracy, f1 in [
        ("```json\n" + json.dumps(STATE) + "\n```", 1, 1, 1),
        ('{"hotel": {"area": "North", "stars": 4, "name": null, "type": ""}}', 1, 1, 1),
        ('{"hotel": {"area": "north", "stars": "4", "name": "x"}}', 0, 1, 4 / 5),
        ('{"hotel": {"area": "north"}}', 0, 1 / 2, 2 / 3), ('{"area": "north"}', 0, 0, 0),
        ("no", 0, 0, 0), ('{"hotel": {"Area": "north", "stars": "4"}}', 0, 1 / 2, 1 / 2),
    ]:  # fmt: skip
        given = record(answer, reference_state=STATE)
        assert entry_value(metric("joint_goal_accuracy"), given) == joint
        assert entry_value(metric("slot_accuracy"), given) == pytest.approx(accuracy)
        assert entry_value(metric("slot_f1"), given) == pytest.approx(f1)


@pytest.mark.parametrize("written", [str, lambda text: unicodedata.normalize("NFD", text.replace("o", "o\u200b"))])
def test_an_answer_that_copies_the_record_is_right_whatever_its_characters(written: Callable[[str], str]) -> None:
    place = "Queen’s\u2011Pâ café"
    state, calls = {"hotel": {"name": place}}, [{"find": {"place": place}}]
    asked = [
        {"id": "keywords:existence", "kwargs": {"keywords": [place]}},
        {"id": "startend:end_checker", "kwargs": {"end_phrase": place}},
    ]
    copied: list[tuple[str, str, dict[str, Any]]] = [
        ("joint_goal_accuracy", json.dumps(state, ensure_ascii=False), {"reference_state": state}),
        ("slot_f1", json.dumps(state, ensure_ascii=False), {"reference_state": state}),
        (
            "bfcl_match_score",
            json.dumps(calls, ensure_ascii=False),
            {"reference_calls": [{"find": {"place": [place]}}]},
        ),
        ("instruction_following", f"It is {place}", {"instructions": asked}),
    ]
    for name, output, fields in copied:
        read = record(written(output), **fields).alike("en", "fr", FORM)
        assert entry_value(metric(name), read) == 1, name


def test_states_add_up_and_wrong_slots_are_named() -> None:
    one = record(json.dumps(STATE), reference_state=STATE)
    none = record("{}", reference_state={})
    broken = record("{", reference_state={})
    assert corpus_value(metric("slot_accuracy"), [one, none]) == 1
    assert corpus_value(metric("slot_accuracy"), [one, broken]) == pytest.approx(2 / 3)
    assert corpus_value(metric("slot_f1"), [one, broken]) == pytest.approx(4 / 5)
    assert corpus_value(metric("slot_f1"), [none, broken]) == 0
    wrong = record('{"hotel": {"stars": "5", "name": "x"}}', reference_state=STATE)
    assert metric("slot_f1").explain(wrong) == (
        "Slots missing: hotel area.",
        "Slots not asked for: hotel name.",
        "Slots with another value: hotel stars.",
    )


def test_what_is_compared_is_laid_side_by_side() -> None:
    for name, answered, rows in [
        ("joint_goal_accuracy", record('{"hotel": {"Stars": 5, "area": "North", "name": ""}}', reference_state=STATE),
         [("hotel area", "North", "North"), ("hotel stars", "", "4"), ("hotel Stars", "5", "")]),
        ("slot_f1", record("no", reference_state=STATE),
         [("hotel area", "", "north"), ("hotel stars", "", "4")]),
        ("multiple_choice_accuracy", record("Answer: b", "C"), [("option", "B", "C")]),
        ("multiple_choice_accuracy", record("A", "none"), []),
        ("gsm8k_exact_match", record(r"\boxed{6.50}", "#### 13/2"), [("number", "13/2", "13/2")]),
        ("gsm8k_exact_match", record("seven", "7"), [("number", "", "7")]),
    ]:  # fmt: skip
        assert [row[:3] for row in metric(name).compared(answered)] == rows


def test_the_parameters_of_the_nearest_call_stand_beside_those_wanted() -> None:
    wanted = [
        {"alarm": {"hour": [6], "minute": [0, ""], "day": ["Monday", "monday"]}},
        {"geo.find": {"place": ["Rome"]}},
        {"stop": {}},
    ]
    calls = [
        {"geo_find": {"place": "rome", "far": 1}},
        {"alarm": {"hour": 7, "minute": 5, "day": "Sunday"}},
        {"alarm": {"hour": "6", "day": "Monday"}},
    ]
    given = record(json.dumps(calls), tools=[TOOL], reference_calls=wanted)
    assert [row[:3] for row in metric("bfcl_match_score").compared(given)] == [
        ("alarm hour", '"6"', "6"),
        ("alarm day", '"Monday"', '"Monday"'),
        ("geo.find place", '"rome"', '"rome"'),
        ("geo.find far", "1", ""),
        ("stop", "", "{}"),
        ("one too many", '{"alarm": {"day": "Sunday", "hour": 7, "minute": 5}}', ""),
    ]
    assert metric("bfcl_match_score").explain(given) == (
        "alarm: the value of hour is not allowed.",
        "geo.find: far is not expected.",
        "stop is not called.",
    )
    talk = record("I would call it", tools=[TOOL], reference_calls=wanted)
    assert metric("bfcl_match_score").compared(talk) == ()


def test_state_may_be_the_reference() -> None:
    for name in ("joint_goal_accuracy", "slot_accuracy", "slot_f1"):
        assert entry_value(metric(name), record(json.dumps(STATE), json.dumps(STATE))) == 1
        for reference in ("north", '{"area": "north"}', "[]"):
            assert metric(name).stats(record(json.dumps(STATE), reference)) is None
        assert metric(name).explain(record("{}", "north")) == ()


def test_only_a_fence_around_the_whole_answer_is_taken_off() -> None:
    for answer, inside in [
        ("```json\n[1]\n```", "[1]"), ("```JSON [1]```", "[1]"), ("```\n[1]\n```\n", "[1]"),
        ("```sql\nSELECT 1;\n```", "SELECT 1;"), ("```SELECT 1```", "SELECT 1"),
        ("```python3 \n1```", "1"), ("``` ```", ""), ("```", "```"),
        ("so ```json\n1\n```", "so ```json\n1\n```"),
    ]:  # fmt: skip
        assert unfenced(answer) == inside


PROPERTIES = {
    "place": {"type": "string"}, "far": {"type": "number"}, "open": {"type": "boolean"},
    "near": {"type": "array", "items": {"type": "dict"}},
}  # fmt: skip
PARAMETERS = {"type": "object", "properties": PROPERTIES, "required": ["place"]}
TOOL = {"name": "geo.find", "parameters": PARAMETERS}


def test_calls_are_checked_by_name_type_and_value() -> None:
    call: Any
    for call, fault in [
        ({"geo_find": {"place": "new-york", "far": 3}}, None),
        ({"geo.find": {"place": "New York", "far": 3.0, "open": True}}, None),
        ({"geo.find": {"place": "New York", "far": 3.0, "open": 1}}, "value of open"),
        ({"geo.find": {"far": 3}}, "place is missing"),
        ({"geo.find": {"place": "New York"}}, "far is missing"),
        ({"geo.find": {"place": "New York", "far": 3, "speed": 1}}, "speed is not expected"),
        ({"geo.find": {"place": "New York", "far": "3"}}, "value of far"),
        ({"geo.find": {"place": "New York", "far": 3, "near": [{"a": "X"}]}}, None),
        ({"geo.find": {"place": "New York", "far": 3, "near": [{"a": "y"}]}}, "value of near"),
        ({"geo.find": {"place": "New York", "far": 3, "near": []}}, "value of near"),
        ({"geo.find": [1]}, "without parameters"), ({"find": {"place": "New York"}}, "not called"),
        ("geo.find", "not called"), ({"geo.find": {}, "geo_find": {}}, "not called"),
    ]:  # fmt: skip
        allowed = {
            "place": ["New York", "NYC"], "far": [3], "near": [[{"a": ["x"]}], ""],
            "open": [True, ""],
        }  # fmt: skip
        given = record(json.dumps([call]), reference_calls=[{"geo.find": allowed}], tools=[TOOL])
        made = metric("bfcl_match_score")
        assert made.stats(given) == (int(fault is None), 1)
        if fault is not None:
            assert fault in made.explain(given)[0]


def test_calls_are_paired_so_that_as_many_as_possible_fit() -> None:
    wanted = [{"a": {"x": [1, 2]}}, {"a": {"x": [1]}}]
    given = record('[{"a": {"x": 1}}, {"a": {"x": 2}}]', reference_calls=wanted)
    assert entry_value(metric("bfcl_match_score"), given) == 1
    one = record('```json\n{"a": {"x": 1}}\n```', reference_calls=wanted[1:])
    assert entry_value(metric("bfcl_match_score"), one) == 1


def test_without_calls_to_compare_with_there_is_no_value() -> None:
    calls: Any
    for calls in (None, "a", [1], [{}], [{"a": 1}], [{"a": {"x": 1}}], [{"a": {}}] * 65):
        assert metric("bfcl_match_score").stats(record("[]", reference_calls=calls)) is None


def test_instructions_are_checked_as_published() -> None:
    assert (set(CHECKS), len(CHECKS)) == (CHECKABLE, 25)
    made = metric("instruction_following")
    for case in cases("au.instruction_following"):
        (entry,) = case["entries"]
        given = record(entry["predicted"], instructions=entry["instructions"])
        found = np.asarray(made.stats(given))
        told = made.further(found)
        assert told.pop("au.instruction_following_unchecked") == 0
        shares = {"final": made.value(found) * 100}
        for name, value in told.items():
            share = name.removeprefix("au.instruction_following_").replace("_", "-")
            shares[share] = value * 100
        assert shares == pytest.approx(case["expect"], abs=1e-9)


def test_each_instruction_is_kept_by_one_answer_and_broken_by_another() -> None:
    kwargs: Any
    for id_, kwargs, kept, broken in [
        ("keywords:existence", {"keywords": ["Atim", "a.c"]}, "the atim a.c", "the atim abc"),
        ("keywords:forbidden_words", {"forbidden_words": ["नमस्त"]}, "नमस्ते", "एक नमस्त"),
        ("keywords:frequency", {"keyword": "a+", "frequency": 2, "relation": "less than"}, "aaa a+", "a+ A+"),
        ("keywords:letter_frequency", {"letter": "Â", "let_frequency": 2, "let_relation": "at least"}, "âÂ", "âa"),
        ("length_constraints:number_sentences", {"num_sentences": 2, "relation": "at least"}, "Mr. A. Cree came at 3.5 p.m. He left!", "Dr. Bell came"),
        ("length_constraints:number_sentences", {"num_sentences": 3, "relation": "at least"}, "東京。京都。大阪", "東京。京都"),
        ("length_constraints:number_words", {"num_words": 2, "relation": "less than"}, "नमस्ते", "नमस्ते दुनिया"),
        ("length_constraints:number_paragraphs", {"num_paragraphs": 2}, "***\na\n***\nb\n***", "a\n***\n***\nb"),
        ("length_constraints:nth_paragraph_first_word", {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "Yes"}, "no\n\n'yes, I", "yes\n\nno"),
        ("detectable_content:number_placeholders", {"num_placeholders": 2}, "[a] [b]", "[a] [b"),
        ("detectable_content:postscript", {"postscript_marker": "P.P.S"}, "x\np. p. s. y", "x\nP.S. y"),
        ("detectable_content:postscript", {"postscript_marker": "(N.B."}, "x (n.b. y", "x"),
        ("detectable_format:number_bullet_lists", {"num_bullets": 2}, "* a\n\n  - b", "** a\n- b"),
        ("detectable_format:constrained_response", {}, "Well, My answer is no.", "no"),
        ("detectable_format:number_highlighted_sections", {"num_highlights": 1}, "*a*", "**"),
        ("detectable_format:multiple_sections", {"section_spliter": "(S", "num_sections": 2}, "(S 1 a (S 2", "S 1 S 2"),
        ("detectable_format:json_format", {}, "```JSON\nnull\n```", "{'a': 1}"),
        ("detectable_format:title", {}, "a <<t>> b", "<<  >>"),
        ("combination:two_responses", {}, "a\n******\nb", "a ****** a"),
        ("combination:repeat_prompt", {"prompt_to_repeat": "Say it."}, "say it. It", "It"),
        ("startend:end_checker", {"end_phrase": "Bye."}, 'so "bye."', "bye. x"),
        ("startend:quotation", {}, '"a"', '"'),
        ("change_case:capital_word_frequency", {"capital_frequency": 2, "capital_relation": "at least"}, "A WELL-KNOWN x", "A b"),
        ("change_case:english_capital", {}, "THIS IS WHAT THEY WANT FROM US", "TODO ESTO ES PARA LOS NIÑOS"),
        ("change_case:english_lowercase", {}, "this is what they want from us", "This is what they want from us"),
        ("language:response_language", {"language": "es"}, "todo esto es para los niños", "this is for the children"),
        ("language:response_language", {"language": "de"}, "das ist alles für die Kinder", "dit is alles voor de kinderen"),
        ("language:response_language", {"language": "uk"}, "це все для дітей, і вони тут", "это всё для детей, и они тут"),
        ("language:response_language", {"language": "ja"}, "これは子供のためです", "这是给孩子们的"),
        ("language:response_language", {"language": "th"}, "สวัสดีครับ", "hello"),
        ("punctuation:no_comma", {}, "a b", "a, b"),
    ]:  # fmt: skip
        made = metric("instruction_following")
        asked = [{"id": id_, "kwargs": kwargs}]
        assert made.stats(record(kept, instructions=asked))[0] == 1
        assert made.stats(record(broken, instructions=asked))[:2] == (0, 0)
        assert made.stats(record("", instructions=asked))[:2] == (0, 0)


def test_an_instruction_that_cannot_be_checked_has_no_value_and_says_why() -> None:
    instructions: Any
    for instructions, reason in [
        (None, "A record needs a list of 1 to 32"), ([], "list of 1 to 32"),
        ([{"id": "keywords:nobody", "kwargs": {}}], "There is no instruction 'keywords:nobody'"),
        ([{"id": "Nobody:X"}], "There is no instruction 'Nobody:X'"),
        ([{"id": ["x"]}], "There is no instruction"), (["keywords:existence"], "id and kwargs"),
        ([{"id": "punctuation:no_comma", "kwargs": [1]}], "kwargs"),
        ([{"id": "keywords:existence"}], "keywords:existence: keywords must be"),
        ([{"id": "keywords:existence", "kwargs": {"keywords": ["a" * 10_001]}}], "at most 10,000"),
        ([{"id": "keywords:letter_frequency", "kwargs": {"letter": "ab"}}], "one letter"),
        ([{"id": "keywords:frequency", "kwargs": {"keyword": "a", "frequency": 1}}], "less than"),
        *(
            ([{"id": "detectable_content:number_placeholders", "kwargs": {"num_placeholders": odd}}], "number")
            for odd in (None, -1, True, "3", 1.5, 10**400, float("inf"), float("nan"), [1])
        ),
        ([{"id": "length_constraints:nth_paragraph_first_word", "kwargs": {"num_paragraphs": 1, "nth_paragraph": 2, "first_word": "a"}}], "nth_paragraph"),
        ([{"id": "language:response_language", "kwargs": {"language": "sw"}}], "no list of words"),
    ]:  # fmt: skip
        given = record("habari ya leo", instructions=instructions)
        made = metric("instruction_following")
        assert entry_value(made, given) is None
        assert reason in made.explain(given)[0]
        kept = record("a", instructions=[{"id": "punctuation:no_comma", "kwargs": {}}])
        assert corpus_value(made, [given, kept]) == 1
        told = made.further(np.asarray(made.stats(given)))
        assert told.pop("au.instruction_following_unchecked") == 1
        assert set(told.values()) == {None}


def test_language_without_word_list_has_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_language, "source_word_list", lambda _: (frozenset(), None))
    made = metric("instruction_following")
    for answer, language, kept in [("bonjour", "fr", None), ("สวัสดี", "th", 1), ("สวัสดี", "fr", 0)]:
        asked = [{"id": "language:response_language", "kwargs": {"language": language}}]
        assert entry_value(made, record(answer, instructions=asked)) == kept
    asked = [{"id": "change_case:english_capital", "kwargs": {}}]
    assert entry_value(made, record("hello", instructions=asked)) is None


def test_what_is_kept_only_loosely_is_said() -> None:
    asked = [
        {"id": "punctuation:no_comma", "kwargs": {}},
        {"id": "change_case:english_capital"},
        {"id": "keywords:existence", "kwargs": {"keywords": ["comma"]}},
    ]
    given = record("Sure, here:\nno comma", instructions=asked)
    assert metric("instruction_following").explain(given) == (
        "punctuation:no_comma: kept only loosely.",
        "change_case:english_capital: not kept.",
        "keywords:existence: kept.",
    )


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
    assert metric("wer").explain(record("a x c d", "a b c")) == ("3 words: 1 changed, 0 left out; 1 added.",)
    assert metric("cpwer").explain(record("X: b\nY: a c", "A: a\nB: b")) == (
        "1 error in 2 words, speaker by speaker.",
        "Speakers were taken: Y for A, X for B.",
    )
    assert metric("wder").explain(record("A: a b", "A: a\nB: b")) == ("1 of 2 aligned words with another speaker.",)
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
    made = metric("wer")  # 1 of 2, 2 of 1, 0 of 1 (AU-Harness: a reference without a word counts as one word)
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
