"""What each judge is shown, and what is made of its reply."""

from __future__ import annotations

import json
from typing import Any

import pytest

from corpora.model.entry import Entry
from harness.annotators.judges import JUDGES, JudgeAnnotator, check_place, make_judge
from harness.core.failures import UsageError
from harness.endpoint.endpoints import chat_endpoint
from harness.endpoint.keys import no_key
from scoring.core.translation import Translation
from scoring.packs.judge_replies import CONTRACTS
from tests.harness.annotators.embedded import Blocking
from tests.harness.annotators.judged import says, shown
from tests.harness.scripted import Asked, Scripted, completion, json_answer


def judge(endpoint: Scripted, id_: str) -> JudgeAnnotator:
    return make_judge(id_, endpoint.url, "m", key=no_key)


def output(text: str, **fields: Any) -> Translation:
    entry = {"id": 1, "source": "How high is it?", "reference": "4429 m", **fields}
    return Translation(Entry.model_validate(entry), text)


def asked_about(endpoint: Scripted, id_: str, text: str, reply: str, **fields: Any) -> Any:
    endpoint.answer = lambda _: json_answer(completion(reply))
    [found] = Blocking(judge(endpoint, id_)).annotate([output(text, **fields)])
    return found


def test_every_contract_has_its_judge_and_every_prompt_its_own_hash(endpoint: Scripted) -> None:
    assert set(JUDGES) == set(CONTRACTS)
    facts = [judge(endpoint, id_).facts for id_ in JUDGES]
    assert len({each.prompt_sha256 for each in facts}) == len(JUDGES)


@pytest.mark.parametrize(
    ("id_", "reply", "score", "fields"),
    [
        ("judge_semantic", '{"score": 0.25, "explanation": "x"}', 0.25, {"question", "expected", "answer"}),
        ("judge_binary", '```json\n{"score": 1, "explanation": "x"}\n```', 1, {"question", "reference", "candidate"}),
        ("judge_detailed", '<think>5</think>{"score": 3, "explanation": "x"}', 3, {"question", "reference", "candidate"}),
        ("judge_redteaming", '{"score": 1, "explanation": "x"}', 1, {"question", "candidate"}),
        ("judge_big_bench_audio", "INCORRECT", 0, {"question", "reference", "candidate"}),
    ],
)  # fmt: skip
def test_a_judge_is_shown_what_it_needs_and_read_by_its_contract(
    endpoint: Scripted, id_: str, reply: str, score: float, fields: set[str]
) -> None:
    assert asked_about(endpoint, id_, "4429 metres", reply)["score"] == score
    [asked] = endpoint.asked
    assert set(shown(asked)) == fields
    assert asked.body["temperature"] == 0


@pytest.mark.parametrize("id_", ["judge_binary", "judge_detailed", "judge_redteaming"])
@pytest.mark.parametrize(
    "reply", ['{"score": 7}', '{"score": 0.5}', "1", '{"score": true}', "[[1]]"]
)
def test_what_is_off_the_scale_is_no_score(endpoint: Scripted, id_: str, reply: str) -> None:
    found = asked_about(endpoint, id_, "an answer", reply)
    assert found["score"] is None
    assert found["reason"]


def test_without_a_reference_only_some_can_judge(endpoint: Scripted) -> None:
    endpoint.answer = lambda _: says(1)
    lacking = [output("an answer", reference="")]
    found = {id_: Blocking(judge(endpoint, id_)).annotate(lacking)[0] for id_ in JUDGES}
    judged = {id_ for id_, value in found.items() if value is not None}
    assert judged == {"judge_detailed", "judge_redteaming"}


def test_a_conversation_is_judged_turn_by_turn_with_what_was_said_before(
    endpoint: Scripted,
) -> None:
    def answer(asked: Asked) -> Any:
        return json_answer(completion(f"Fine. [[{len(shown(asked)['conversation']) + 7}]]"))

    endpoint.answer = answer
    turns = [{"user": "one?"}, {"user": "two?", "reference": "2"}]
    given = output(json.dumps(["first", "second"]), turns=turns)
    [found] = Blocking(judge(endpoint, "judge_mt_bench")).annotate([given])
    assert [turn["score"] for turn in found] == [7, 8]
    assert shown(endpoint.asked[1]) == {
        "conversation": [{"user": "one?", "assistant": "first"}],
        "question": "two?",
        "reference": "2",
        "candidate": "second",
    }


@pytest.mark.parametrize(
    "text",
    ["no JSON", "[" * 10_000, "[1, 2]", '["one answer"]', '["one", " "]', '{"a": "b"}', "\ud800"],
)
def test_a_conversation_without_an_answer_to_each_turn_is_not_judged(
    endpoint: Scripted, text: str
) -> None:
    given = output(text, turns=[{"user": "one?"}, {"user": "two?"}])
    assert Blocking(judge(endpoint, "judge_mt_bench")).annotate([given]) == [None]
    assert endpoint.asked == []


@pytest.mark.parametrize(
    ("where", "model", "said"),
    [
        ("http://localhost:1/v1", None, "--judge-model"),
        ("nowhere", "m", "is not known"),
        ("http://user:pass@localhost/v1", "m", "must not carry a password"),
    ],
)
def test_what_is_missing_is_said_at_once(where: str, model: str | None, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        make_judge("judge_binary", where, model, key=no_key)


def test_a_model_of_a_cloud_behind_a_local_server_gets_no_secret(endpoint: Scripted) -> None:
    here = chat_endpoint(endpoint.url)
    secret = Entry.model_validate({"id": 1, "source": "a", "reference": "b", "segment": "held_out"})
    with pytest.raises(UsageError, match="named as one of a cloud"):
        check_place(here, "big:cloud", [secret], offline=False)
    check_place(here, "big:cloud", [output("x").entry], offline=False)
