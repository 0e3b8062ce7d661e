"""Replies of judges: what is a score, and what is null with a reason; and the metrics that read scores."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.model.entry import Entry
from scoring.core.setup import Translation
from scoring.packs.judge_replies import CONTRACTS, LONGEST_REPLY, parse_reply, read_judgement
from tests.review.thorough import examples
from tests.scoring.packs.pack_cases import cases, corpus_value, entry_values, metric, record

BINARY, DETAILED, SEMANTIC, RATING, WORD = (
    CONTRACTS[f"judge_{name}"] for name in ("binary", "detailed", "semantic", "mt_bench", "big_bench_audio")
)
OUTSIDE = "the score lies outside its scale"
OF_CASE = {"binary": BINARY, "mt_bench": RATING, "big_bench": WORD}


def test_each_judge_has_its_own_scale() -> None:
    for judge, scores in [
        ("judge_semantic", [0.0, 0.5, 1.0]), ("judge_binary", [0.0, 1.0]),
        ("judge_detailed", [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]), ("judge_redteaming", [0.0, 1.0]),
        ("judge_big_bench_audio", [0.0, 1.0]),
        ("judge_mt_bench", [each / 2 for each in range(2, 21)]),
    ]:  # fmt: skip
        halves = [each / 2 for each in range(-2, 24)]
        read = [read_judgement(CONTRACTS[judge], each).score for each in halves]
        assert [each for each in read if each is not None] == scores


def test_a_reply_within_its_contract_has_a_score() -> None:
    contract: Any
    for contract, reply, score in [
        (BINARY, '```json\n{"score": 1}\n```', 1),  # fenced
        (BINARY, 'hm </think> {"score": 0}', 0),  # thought without beginning
        (BINARY, '<Think>a</THINK><think>{"score": 0}</think>{"score": 1}', 1),  # two thoughts
        (BINARY, 'The set {a, b} is right: {"score": 1.0}', 1),  # brackets before it
        (BINARY, 'hm {"score": 0} </think> {"score": 1}', 1),  # object in such a thought
        (BINARY, '{"explanation": "<think>", "score": 1}', 1),  # quoted beginning
        (BINARY, 'So: {"explanation": "</think>", "score": 1}', 1),  # quoted end
        (BINARY, "{" * 199 + ' {"score": 1}', 1),  # the most brackets
        (BINARY, '{{"score": 1}}', 1),  # doubled brackets
        (DETAILED, '{"score": " 4 ", "explanation": "x"}', 4),  # number as text
        (DETAILED, '{"Score": 4, " EXPLANATION": "x"}', 4),
        (DETAILED, '<cot>{"score": 1}</cot>{"SCORE": 4}', 4),
        (SEMANTIC, '{"explanation": "{}", "score": 0.94}', 0.94),  # fraction
        (RATING, "[[ 7.5 ]] so [[7.5]]", 7.5),  # half a point, twice
        (WORD, "**INCORRECT**", 0),  # emphasis
        (WORD, '"correct"', 1),  # quoted
    ]:
        judged = parse_reply(contract, reply)
        assert (judged.score, judged.reason) == (score, None)


def test_any_other_reply_is_null_with_a_reason() -> None:
    contract: Any
    for contract, reply, reason in [
        (BINARY, '<think>{"score": 1}', "within the judge's thoughts"),  # endless thought
        (BINARY, '{"score": 0} or {"score": 1}', "several scores"),  # two scores
        (BINARY, '{"score": 0, "score": 1}', "field of its object twice"),  # field twice
        (BINARY, '{"score": true}', "not a number"),  # truth
        (BINARY, '{"score": [1]}', "not a number"),  # list
        (BINARY, '{"score": 0.5}', "a fraction; it must be a whole number of 0 to 1"),  # half
        (BINARY, '{"score": NaN}', "outside its scale"),  # NaN
        (BINARY, '{"score": -1}', "outside its scale"),  # negative
        (BINARY, '{"score": ' + "9" * 6000 + "}", "no JSON object"),  # 6,000 digits
        (BINARY, '{"rating": 1}', "no JSON object"),  # another field
        (BINARY, '{"score": 1', "no JSON object"),  # cut off
        (BINARY, '{"a":' * 10_000 + "1" + "}" * 10_000, "no JSON object"),  # nested
        (BINARY, "{" * 200_000, "no JSON object"),  # brackets
        (BINARY, "{" * 200 + ' {"score": 1}', "no JSON object"),  # one bracket too many
        (BINARY, '{"</think>' * 20_000 + "x", "no JSON object"),  # endless texts
        (BINARY, "<think></think>" * 12_000, "empty"),  # many thoughts
        (BINARY, "x" * 2_000_000, "longer than"),
        (BINARY, "```\n```", "empty"),  # fences only
        (DETAILED, '{"score": 6}', "whole number of 0 to 5"),  # six
        (SEMANTIC, '{"score": 1.01}', "a number of 0 to 1"),  # more than all
        (RATING, "8", "no rating"),  # no brackets
        (RATING, "[[0]]", "a number of 1 to 10"),  # below one
        (RATING, "[[8/10]]", "not a number"),  # fraction of ten
        (RATING, "[[6]] then [[8]]", "several ratings"),  # two ratings
        (RATING, "[[" + " " * 180_000, "no rating"),  # spaces
        (WORD, "NOT CORRECT", "neither"),  # not
        (WORD, "Correct or incorrect", "neither"),  # both
    ]:
        judged = parse_reply(contract, reply)
        assert judged.score is None
        assert reason in str(judged.reason)


def test_reply_has_a_longest_length_and_a_storable_explanation() -> None:
    reply = '{"score": 1}'.ljust(LONGEST_REPLY)
    assert parse_reply(BINARY, reply).score == 1
    assert parse_reply(BINARY, f"{reply} ").score is None
    judged = parse_reply(BINARY, r'{"score": 1, "explanation": "\ud800 ok"}')
    assert judged.explanation.encode()
    assert judged.explanation.endswith(" ok")
    assert parse_reply(BINARY, '{"score": 1, "explanation": {"a": 1}}').explanation == ""


def test_an_explanation_keeps_no_label_of_its_rating() -> None:
    for reply, explanation in [
        ("Clear. [[8]]", "Clear."), ("Clear.\n**Rating:** [[8]]", "Clear."),
        ("Clear. **Final rating: [[8]]**.", "Clear."), ("Score:[[8]] Clear.", "Clear."),
        ("Rating: [[8]]\nClear, so\nRating: [[8]]", "Clear, so"),
        ("Rating: good for a child. [[8]]", "Rating: good for a child."),
        ("Its narrating: [[8]]", "Its narrating:"),
    ]:  # fmt: skip
        judged = parse_reply(RATING, reply)
        assert (judged.score, judged.explanation) == (8, explanation)


@examples(24, 300)
@given(st.text(max_size=80), st.sampled_from(list(CONTRACTS.values())))
def test_no_reply_raises_and_scores_stay_on_their_scale(reply: str, contract: Any) -> None:
    judged = parse_reply(contract, reply)
    assert judged.score is None or contract.low <= judged.score <= contract.high
    assert bool(judged.reason) == (judged.score is None)


@examples(10, 100)
@given(st.integers(-3, 8), st.text(max_size=20), st.text("<>{}[]think/`\n ", max_size=20))
def test_stated_score_is_read_anywhere(score: int, explanation: str, prose: str) -> None:
    reply = json.dumps({"explanation": explanation, "score": score})
    expected = score if 0 <= score <= 5 else None
    assert parse_reply(DETAILED, reply).score == expected
    within = parse_reply(DETAILED, f"{prose}\n{reply}")
    assert within.score in {None, expected}


def test_replies_and_corpus_values_are_those_published() -> None:
    for case in cases("judge."):
        contract = OF_CASE[case["metric"].removeprefix("judge.parse_")]
        judged = parse_reply(contract, case["entries"][0]["reply"])
        assert [judged.score] == case["expect"]["entry"]
        assert (judged.reason is None) == (judged.score is not None)
    for case in cases("au.llm_judge", "au.mt_bench"):
        records = [record(each) for each in case["entries"]]
        found = corpus_value(metric(case["metric"]), records)
        assert found == pytest.approx(case["expect"]["corpus"], abs=1e-9)


def test_scores_are_read_from_the_judge_and_else_from_the_record() -> None:
    given_: Any
    for field, given_, value in [
        ("judge_binary", 1, 1.0), ("judge_binary", {"score": 0, "explanation": "no"}, 0.0),
        ("judge_binary", 3, None), ("judge_binary", {"explanation": "no score"}, None),
        ("judge_redteaming", 1, 1.0), ("judge_big_bench_audio", "CORRECT", 1.0),
        ("judge_big_bench_audio", 0, 0.0), ("judge_big_bench_audio", "maybe", None),
        ("judge_mt_bench", [{"score": 8}, 6], 0.7), ("judge_mt_bench", [8, None], None),
        ("judge_mt_bench", [], None), ("judge_mt_bench", 8, None),
    ]:  # fmt: skip
        made = metric("au.mt_bench_llm_judge" if field == "judge_mt_bench" else f"au.llm_{field}")
        stated = [record({field: given_}), record({}, **{field: given_})]
        assert entry_values(made, stated) == [value, value]
        other = [1, 1] if field == "judge_mt_bench" else 1 - int(value or 0)
        overruled = record({field: other}, **{field: given_})
        assert entry_values(made, [overruled]) == [value]


def test_a_score_is_that_of_the_answer_it_came_with() -> None:
    own: Any
    for own, output, value in [
        ("yes", "yes", 1.0), ("yes", "no", None), (["a", "b"], '["a","b"]', 1.0),
        (["a", "b"], '["a"]', None), (["a", "b"], "[" * 20_000, None), (None, "no", 1.0),
    ]:  # fmt: skip
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
    assert "not a number" in str(read_judgement(BINARY, {"score": None}).reason)
    assert read_judgement(BINARY, {"reason": "the endpoint is off"}).reason == "the endpoint is off"
    told = '{"score": null, "reason": "quoted text"}'
    assert "not a number" in str(parse_reply(BINARY, told).reason)


def test_a_failed_judgement_is_counted_and_lowers_nothing() -> None:
    made = metric("au.llm_judge_binary")
    records = [record({"judge_binary": each}) for each in (1, 0, 7)] + [record({})]
    assert corpus_value(made, records) == 0.5
    found = [stats for each in records if (stats := made.stats(each)) is not None]
    total = np.sum(found, axis=0)
    assert made.further(total) == {"au.llm_judge_binary_judge_failed": 1}
    assert corpus_value(made, records[2:]) is None


@pytest.mark.parametrize("id_", ["au.llm_judge_binary", "au.mt_bench_llm_judge"])
def test_signature_names_who_judged(id_: str) -> None:
    judge = "judge_mt_bench" if "mt_bench" in id_ else id_.removeprefix("au.llm_")
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


def test_a_judgement_is_explained() -> None:
    fields: Any
    for id_, fields, lines in [
        ("au.llm_judge_detailed", {"judge_detailed": 4}, ("The judge gave 4 of 5.",)),
        ("au.llm_judge_binary", {"judge_binary": {"score": None, "reason": "the reply is empty"}},
         ("The judge gave no score: the reply is empty.",)),
        ("au.mt_bench_llm_judge", {"judge_mt_bench": [8, 77]},
         (f"The judge gave no score: 1 turn of 2: {OUTSIDE}; it must be a number of 1 to 10.",)),
        ("au.mt_bench_llm_judge", {"judge_mt_bench": [{"score": 8, "explanation": "Clear."}, 6]},
         ("The judge gave 7 of 10.", "Turn 1: 8. Clear.\nTurn 2: 6.")),
        ("au.llm_judge_binary", {},
         ("Not judged: no judge was asked, and the record brings no score (field judge_binary).",)),
    ]:  # fmt: skip
        assert metric(id_).explain(record(fields)) == lines
