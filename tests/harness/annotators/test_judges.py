"""What each judge is shown and replies; embeddings of any JSON are a cosine or a failure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from corpora.model.entry import Entry
from harness.annotators.embedding_endpoint import EndpointEmbedder, read_embeddings
from harness.annotators.embeddings import EmbeddingAnnotator
from harness.annotators.judges import JUDGES, JudgeAnnotator, check_place, make_judge
from harness.core.failures import ErrorClass, HarnessError, Transient, UsageError
from harness.endpoint.endpoints import chat_endpoint
from harness.endpoint.keys import no_key
from harness.endpoint.limiter import RetryPolicy
from scoring.core.translation import Translation
from scoring.packs.judge_replies import CONTRACTS
from tests.harness.annotators.embedded import Blocking
from tests.harness.annotators.judged import says, shown
from tests.harness.scripted import Answer, Asked, Scripted, completion, json_answer, serving
from tests.review.thorough import examples


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
    assert (set(shown(asked)), asked.body["temperature"]) == (fields, 0)


@pytest.mark.parametrize("id_", ["judge_binary", "judge_detailed", "judge_redteaming"])
def test_what_is_off_the_scale_is_no_score(endpoint: Scripted, id_: str) -> None:
    for reply in ('{"score": 7}', '{"score": 0.5}', "1", '{"score": true}', "[[1]]"):
        found = asked_about(endpoint, id_, "an answer", reply)
        assert found["score"] is None
        assert found["reason"]


def test_without_a_reference_only_some_can_judge(endpoint: Scripted) -> None:
    endpoint.answer = lambda _: says(1)
    lacking = [output("an answer", reference="")]
    found = {id_: Blocking(judge(endpoint, id_)).annotate(lacking)[0] for id_ in JUDGES}
    judged = {id_ for id_, value in found.items() if value is not None}
    assert judged == {"judge_detailed", "judge_redteaming"}


def test_conversation_is_judged_turn_by_turn(endpoint: Scripted) -> None:
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


def test_conversation_without_every_answer_is_not_judged(endpoint: Scripted) -> None:
    asking = Blocking(judge(endpoint, "judge_mt_bench"))
    for text in ("no JSON", "[" * 10_000, "[1, 2]", '["one answer"]', '["one", " "]', '{"a": "b"}', "\ud800"):  # fmt: skip
        given = output(text, turns=[{"user": "one?"}, {"user": "two?"}])
        assert asking.annotate([given]) == [None]
    assert endpoint.asked == []


def test_what_is_missing_is_said_at_once() -> None:
    for where, model, said in [
        ("http://localhost:1/v1", None, "--judge-model"),
        ("nowhere", "m", "is not known"),
        ("http://user:pass@localhost/v1", "m", "must not carry a password"),
    ]:
        with pytest.raises(UsageError, match=said):
            make_judge("judge_binary", where, model, key=no_key)


def test_a_model_of_a_cloud_behind_a_local_server_gets_no_secret(endpoint: Scripted) -> None:
    here = chat_endpoint(endpoint.url)
    secret = Entry.model_validate({"id": 1, "source": "a", "reference": "b", "segment": "held_out"})
    with pytest.raises(UsageError, match="named as one of a cloud"):
        check_place(here, "big:cloud", [secret], offline=False)
    check_place(here, "big:cloud", [output("x").entry], offline=False)


@pytest.fixture(scope="module")
def server() -> Iterator[Scripted]:
    with serving() as scripted:
        yield scripted


def annotator(server: Scripted) -> Blocking:
    once = RetryPolicy(most_attempts=1)
    return Blocking(EmbeddingAnnotator(EndpointEmbedder(server.url, "m", key=no_key)), once)


TRANSLATION = Translation(Entry(id=1, source="a", reference="b"), "c")
"""Two texts are embedded for it."""

NUMBERS = (
    st.integers(-(10**400), 10**400)
    | st.integers(-3, 3)
    | st.floats()
    | st.sampled_from([2**63, -(2**63), 2**64, 1e308, 5e-324, 10**18, 10**19])
)
ANYTHING = st.recursive(
    NUMBERS | st.none() | st.booleans() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["data", "embedding", "index", "usage", "x"]), inner)
    ),
    max_leaves=12,
)
VECTORS = st.lists(NUMBERS | ANYTHING, max_size=3) | st.lists(NUMBERS, min_size=2, max_size=2)
ITEMS = st.fixed_dictionaries(
    {"embedding": VECTORS}, optional={"index": st.integers(-1, 2) | ANYTHING}
)
REPLIES = ANYTHING | st.fixed_dictionaries(
    {"data": st.lists(ITEMS, min_size=2, max_size=2) | ANYTHING},
    optional={"usage": st.dictionaries(st.sampled_from(["prompt_tokens", "cost"]), ANYTHING)},
)


@examples(15, 250, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(reply=REPLIES)
def test_nothing_but_named_failures_comes_out(server: Scripted, reply: Any) -> None:
    body = json.dumps(reply).encode()  # with NaN and Infinity, as careless servers write them

    def answer(_: Asked) -> Answer:
        return Answer(body=body)

    server.answer = answer
    try:
        [cosine] = annotator(server).annotate([TRANSLATION])
    except HarnessError:
        return
    assert cosine is not None
    assert -1 <= cosine <= 1


def test_what_is_no_number_of_a_vector_is_malformed(server: Scripted) -> None:
    number: Any
    for number in (
        10**400,
        -(10**400),
        10**4000,
        10**19,
        "1",
        True,
        None,
        [1.0],
        {},
        1e19,
        float("nan"),
    ):
        items = [{"index": place, "embedding": [number, number]} for place in range(2)]
        with pytest.raises(
            (HarnessError, ValueError, TypeError)
        ):  # the latter are one in the client
            read_embeddings({"data": items}, 2)
        reply = Answer(body=json.dumps({"data": items}).encode())
        server.answer = lambda _, reply=reply: reply  # type: ignore[misc]
        with pytest.raises(Transient) as caught:
            annotator(server).annotate([TRANSLATION])
        assert caught.value.error_class is ErrorClass.MALFORMED
    whole = Answer(body=b'{"data": [{"embedding": [3, 4]}, {"embedding": [4.5, 6]}]}')
    server.answer = lambda _: whole
    assert annotator(server).annotate([TRANSLATION]) == [pytest.approx(1.0)]
