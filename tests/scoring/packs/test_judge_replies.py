"""Replies of judges: what is a score, and what is null with a reason; and the metrics that read scores."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.model.entry import Entry
from scoring.core.translation import Translation
from scoring.packs.judge_replies import CONTRACTS, LONGEST_REPLY, parse_reply, read_judgement
from tests.scoring.packs.pack_cases import (
    Case,
    cases,
    corpus_value,
    entry_values,
    metric,
    named,
    record,
)

BINARY, DETAILED, SEMANTIC, RATING, WORD = (
    CONTRACTS[f"judge_{name}"]
    for name in ("binary", "detailed", "semantic", "mt_bench", "big_bench_audio")
)
OUTSIDE = "the score lies outside its scale"
OF_CASE = {"binary": BINARY, "mt_bench": RATING, "big_bench": WORD}


@pytest.mark.parametrize("case", cases("judge."), ids=named)
def test_replies_are_read_as_the_contract_says(case: Case) -> None:
    contract = OF_CASE[case["metric"].removeprefix("judge.parse_")]
    judged = parse_reply(contract, case["entries"][0]["reply"])
    assert [judged.score] == case["expect"]["entry"]
    assert (judged.reason is None) == (judged.score is not None)


@pytest.mark.parametrize(
    ("judge", "scores"),
    [
        ("judge_semantic", [0.0, 0.5, 1.0]),
        ("judge_binary", [0.0, 1.0]),
        ("judge_detailed", [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]),
        ("judge_redteaming", [0.0, 1.0]),
        ("judge_big_bench_audio", [0.0, 1.0]),
        ("judge_mt_bench", [each / 2 for each in range(2, 21)]),
    ],
)
def test_each_judge_has_its_own_scale(judge: str, scores: list[float]) -> None:
    halves = [each / 2 for each in range(-2, 24)]
    read = [read_judgement(CONTRACTS[judge], each).score for each in halves]
    assert [each for each in read if each is not None] == scores


@pytest.mark.parametrize(
    ("contract", "reply", "score"),
    [
        pytest.param(BINARY, '```json\n{"score": 1}\n```', 1, id="fenced"),
        pytest.param(BINARY, 'hm </think> {"score": 0}', 0, id="thought without beginning"),
        pytest.param(
            BINARY, '<Think>a</THINK><think>{"score": 0}</think>{"score": 1}', 1, id="two thoughts"
        ),
        pytest.param(BINARY, 'The set {a, b} is right: {"score": 1.0}', 1, id="brackets before it"),
        pytest.param(BINARY, '{"score": 1} and again {"score": 1}', 1, id="twice the same"),
        pytest.param(
            BINARY, 'hm {"score": 0} </think> {"score": 1}', 1, id="object in such a thought"
        ),
        pytest.param(BINARY, '{"explanation": "<think>", "score": 1}', 1, id="quoted beginning"),
        pytest.param(BINARY, 'So: {"explanation": "</think>", "score": 1}', 1, id="quoted end"),
        pytest.param(BINARY, "{" * 199 + ' {"score": 1}', 1, id="the most brackets"),
        pytest.param(BINARY, '{{"score": 1}}', 1, id="doubled brackets"),
        pytest.param(DETAILED, '{"score": " 4 ", "explanation": "x"}', 4, id="number as text"),
        pytest.param(SEMANTIC, '{"explanation": "{}", "score": 0.94}', 0.94, id="fraction"),
        pytest.param(RATING, "[[7.5]]", 7.5, id="half a point"),
        pytest.param(RATING, "[[ 10 ]] so [[10]]", 10, id="rating twice"),
        pytest.param(WORD, "**INCORRECT**", 0, id="emphasis"),
        pytest.param(WORD, '"correct"', 1, id="quoted"),
    ],
)
def test_a_reply_within_its_contract_has_a_score(contract: Any, reply: str, score: float) -> None:
    judged = parse_reply(contract, reply)
    assert (judged.score, judged.reason) == (score, None)


@pytest.mark.parametrize(
    ("contract", "reply", "reason"),
    [
        pytest.param(
            BINARY, '<think>{"score": 1}', "within the judge's thoughts", id="endless thought"
        ),
        pytest.param(BINARY, '{"score": 0} or {"score": 1}', "several scores", id="two scores"),
        pytest.param(BINARY, '{"score": 1} or {"score": 7}', "several scores", id="one outside"),
        pytest.param(
            BINARY, '{"score": 0, "score": 1}', "field of its object twice", id="field twice"
        ),
        pytest.param(BINARY, '{"score": true}', "no number", id="truth"),
        pytest.param(BINARY, '{"score": null}', "no number", id="null"),
        pytest.param(BINARY, '{"score": [1]}', "no number", id="list"),
        pytest.param(
            BINARY, '{"score": 0.5}', "a fraction; it must be a whole number of 0 to 1", id="half"
        ),
        pytest.param(BINARY, '{"score": NaN}', "outside its scale", id="NaN"),
        pytest.param(BINARY, '{"score": 1e999}', "outside its scale", id="endless"),
        pytest.param(BINARY, '{"score": -1}', "outside its scale", id="negative"),
        pytest.param(BINARY, '{"score": ' + "9" * 6000 + "}", "no JSON object", id="6,000 digits"),
        pytest.param(BINARY, '{"Score": 1}', "no JSON object", id="another field"),
        pytest.param(BINARY, "[1]", "no JSON object", id="list for object"),
        pytest.param(BINARY, '{"score": 1', "no JSON object", id="cut off"),
        pytest.param(BINARY, '{"a":' * 10_000 + "1" + "}" * 10_000, "no JSON object", id="nested"),
        pytest.param(BINARY, "{" * 900_000, "no JSON object", id="brackets"),
        pytest.param(
            BINARY, "{" * 200 + ' {"score": 1}', "no JSON object", id="one bracket too many"
        ),
        pytest.param(BINARY, '{"</think>' * 90_000 + "x", "no JSON object", id="endless texts"),
        pytest.param(BINARY, "<think></think>" * 60_000, "empty", id="many thoughts"),
        pytest.param(BINARY, "x" * 10_000_000, "longer than", id="10 MB"),
        pytest.param(BINARY, "```\n```", "empty", id="fences only"),
        pytest.param(DETAILED, '{"score": 6}', "whole number of 0 to 5", id="six"),
        pytest.param(SEMANTIC, '{"score": 1.01}', "a number of 0 to 1", id="more than all"),
        pytest.param(RATING, "8", "no rating", id="no brackets"),
        pytest.param(RATING, "[[0]]", "a number of 1 to 10", id="below one"),
        pytest.param(RATING, "[[8/10]]", "no number", id="fraction of ten"),
        pytest.param(RATING, "[[6]] then [[8]]", "several ratings", id="two ratings"),
        pytest.param(RATING, "[[" + " " * 900_000, "no rating", id="spaces"),
        pytest.param(WORD, "NOT CORRECT", "neither", id="not"),
        pytest.param(WORD, "Correct or incorrect", "neither", id="both"),
    ],
)
def test_any_other_reply_is_null_with_a_reason(contract: Any, reply: str, reason: str) -> None:
    judged = parse_reply(contract, reply)
    assert judged.score is None
    assert reason in str(judged.reason)


def test_the_longest_reply_is_read_and_one_more_character_is_not() -> None:
    reply = '{"score": 1}'.ljust(LONGEST_REPLY)
    assert parse_reply(BINARY, reply).score == 1
    assert parse_reply(BINARY, f"{reply} ").score is None


def test_an_explanation_can_be_stored_whatever_is_in_it() -> None:
    judged = parse_reply(BINARY, r'{"score": 1, "explanation": "\ud800 ok"}')
    assert judged.explanation.encode()
    assert judged.explanation.endswith(" ok")
    assert parse_reply(BINARY, '{"score": 1, "explanation": {"a": 1}}').explanation == ""


@pytest.mark.parametrize(
    ("reply", "explanation"),
    [
        ("Clear. [[8]]", "Clear."),
        ("Clear.\n\nRating: [[8]]", "Clear."),
        ("Clear.\n**Rating:** [[8]]", "Clear."),
        ("Clear. **Final rating: [[8]]**.", "Clear."),
        ("Score:[[8]] Clear.", "Clear."),
        ("Rating: [[8]]\nClear, so\nRating: [[8]]", "Clear, so"),
        ("Rating: good for a child. [[8]]", "Rating: good for a child."),
        ("Its narrating: [[8]]", "Its narrating:"),
    ],
)
def test_an_explanation_keeps_no_label_of_its_rating(reply: str, explanation: str) -> None:
    judged = parse_reply(RATING, reply)
    assert (judged.score, judged.explanation) == (8, explanation)


@given(st.text(max_size=80), st.sampled_from(list(CONTRACTS.values())))
def test_no_reply_raises_and_scores_stay_on_their_scale(reply: str, contract: Any) -> None:
    judged = parse_reply(contract, reply)
    assert judged.score is None or contract.low <= judged.score <= contract.high
    assert bool(judged.reason) == (judged.score is None)


@given(st.integers(-3, 8), st.text(max_size=20), st.text("<>{}[]think/`\n ", max_size=20))
def test_a_stated_score_is_read_wherever_it_stands(
    score: int, explanation: str, prose: str
) -> None:
    reply = json.dumps({"explanation": explanation, "score": score})
    expected = score if 0 <= score <= 5 else None
    assert parse_reply(DETAILED, reply).score == expected
    within = parse_reply(DETAILED, f"{prose}\n{reply}")
    assert within.score in {None, expected}


JUDGED = (
    "au.llm_judge_binary",
    "au.llm_judge_detailed",
    "au.llm_judge_redteaming",
    "au.llm_judge_big_bench_audio",
    "au.mt_bench_llm_judge",
)


@pytest.mark.parametrize("case", cases("au.llm_judge", "au.mt_bench"), ids=named)
def test_corpus_values_are_those_of_the_harness(case: Case) -> None:
    records = [record(each) for each in case["entries"]]
    found = corpus_value(metric(case["metric"]), records)
    assert found == pytest.approx(case["expect"]["corpus"], abs=1e-9)


@pytest.mark.parametrize(
    ("id_", "field", "given_", "value"),
    [
        ("au.llm_judge_binary", "judge_binary", 1, 1.0),
        ("au.llm_judge_binary", "judge_binary", {"score": 0, "explanation": "no"}, 0.0),
        ("au.llm_judge_binary", "judge_binary", 3, None),
        ("au.llm_judge_binary", "judge_binary", {"explanation": "no score"}, None),
        ("au.llm_judge_redteaming", "judge_redteaming", 1, 1.0),
        ("au.llm_judge_big_bench_audio", "judge_big_bench_audio", "CORRECT", 1.0),
        ("au.llm_judge_big_bench_audio", "judge_big_bench_audio", 0, 0.0),
        ("au.llm_judge_big_bench_audio", "judge_big_bench_audio", "maybe", None),
        ("au.mt_bench_llm_judge", "judge_mt_bench", [{"score": 8}, 6], 0.7),
        ("au.mt_bench_llm_judge", "judge_mt_bench", [8, None], None),
        ("au.mt_bench_llm_judge", "judge_mt_bench", [], None),
        ("au.mt_bench_llm_judge", "judge_mt_bench", 8, None),
    ],
)
def test_scores_are_read_from_the_judge_and_else_from_the_record(
    id_: str, field: str, given_: Any, value: float | None
) -> None:
    made = metric(id_)
    stated = [record({field: given_}), record({}, **{field: given_})]
    assert entry_values(made, stated) == [value, value]
    other = [1, 1] if field == "judge_mt_bench" else 1 - int(value or 0)
    overruled = record({field: other}, **{field: given_})
    assert entry_values(made, [overruled]) == [value]


@pytest.mark.parametrize(
    ("own", "output", "value"),
    [
        ("yes", "yes", 1.0),
        ("yes", "no", None),
        (["a", "b"], '["a","b"]', 1.0),
        (["a", "b"], '["a"]', None),
        (["a", "b"], "[" * 20_000, None),
        (None, "no", 1.0),
    ],
)
def test_a_score_is_that_of_the_answer_it_came_with(
    own: Any, output: str, value: float | None
) -> None:
    entry = Entry(id=1, source="", reference="", judge_binary=1, predicted=own)
    made = metric("au.llm_judge_binary")
    assert entry_values(made, [Translation(entry, output)]) == [value]
    (words,) = made.explain(Translation(entry, output))
    assert ("another answer" in words) == (value is None)
    asked = Translation(entry, output, {"judge_binary": 0})
    assert entry_values(made, [asked]) == [0.0]


def test_an_object_says_its_own_reason_only_where_it_has_no_score() -> None:
    scored = read_judgement(BINARY, {"score": 1, "reason": "a failure"})
    assert (scored.score, scored.reason) == (1, None)
    assert "no number" in str(read_judgement(BINARY, {"score": None}).reason)
    assert read_judgement(BINARY, {"reason": "the endpoint is off"}).reason == "the endpoint is off"
    told = '{"score": null, "reason": "quoted text"}'
    assert "no number" in str(parse_reply(BINARY, told).reason)


def test_a_failed_judgement_is_counted_and_lowers_nothing() -> None:
    made = metric("au.llm_judge_binary")
    records = [record({"judge_binary": each}) for each in (1, 0, 7)] + [record({})]
    assert corpus_value(made, records) == 0.5
    found = [stats for each in records if (stats := made.stats(each)) is not None]
    total = np.sum(found, axis=0)
    assert made.further(total) == {"au.llm_judge_binary_judge_failed": 1}
    assert corpus_value(made, records[2:]) is None


@pytest.mark.parametrize("id_", JUDGED)
def test_the_signature_names_who_judged(id_: str) -> None:
    judge = f"judge_{id_.removeprefix('au.').removeprefix('llm_judge_').removesuffix('_llm_judge')}"
    told = {"model": "a:b", "endpoint": "localhost", "prompt_sha256": "0123456789abcdef"}
    stated = metric(id_)
    asked = metric(id_, annotators={judge: told})
    assert "from:stated" in stated.signature
    silent = metric(id_, off={id_: "the judge refused the key"}).signature
    assert "asked:no-answer|else:stated" in silent
    assert "from:" not in silent
    assert metric(id_, annotators={judge: {"prompt_sha256": 7}}).signature
    assert "model:a=b|at:localhost|prompt:0123456789abcdef|" in asked.signature
    assert "no judge was asked" in stated.why_missing
    assert "no judge was asked" not in asked.why_missing
    (said,) = asked.explain(record({}))
    assert said.startswith("Not judged: the answer is empty")


@pytest.mark.parametrize(
    ("id_", "fields", "lines"),
    [
        ("au.llm_judge_detailed", {"judge_detailed": 4}, ("The judge gave 4 of 5.",)),
        (
            "au.llm_judge_binary",
            {"judge_binary": {"score": None, "reason": "the reply is empty"}},
            ("The judge gave no score: the reply is empty.",),
        ),
        (
            "au.mt_bench_llm_judge",
            {"judge_mt_bench": [8, 77]},
            (f"The judge gave no score: 1 turn of 2: {OUTSIDE}; it must be a number of 1 to 10.",),
        ),
        (
            "au.mt_bench_llm_judge",
            {"judge_mt_bench": [{"score": 8, "explanation": "Clear."}, 6]},
            ("The judge gave 7 of 10.", "Turn 1: 8. Clear.\nTurn 2: 6."),
        ),
        (
            "au.llm_judge_binary",
            {},
            (
                "Not judged: no judge was asked, and the record brings no score (field judge_binary).",
            ),
        ),
    ],
)
def test_a_judgement_is_explained(id_: str, fields: dict[str, Any], lines: tuple[str, ...]) -> None:
    assert metric(id_).explain(record(fields)) == lines
