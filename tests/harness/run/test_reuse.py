"""What is answered from the cache, and how tokens and money are parted among entries and added up again."""

from __future__ import annotations

import json
import random
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from harness.core.calls import Reply, Request
from harness.core.failures import ErrorClass
from harness.core.run_state import RunState
from harness.events.control import Control
from harness.events.kinds import EntryScored, Event
from harness.method.options import MethodOptions
from harness.setup.plan import Plan, RunOptions
from harness.store.file.database import open_store
from harness.store.replies import NewReply, StoredReply, add_replies, find_reply, request_key
from harness.store.runs import forget_failed
from tests.harness import scripted
from tests.harness.evaluation import (
    FEW,
    LANGUAGES,
    Heard,
    chat_plan,
    corpus,
    kept,
    resume,
    run_corpus,
    sealed_card,
)
from tests.harness.run.constant_runs import constant
from tests.harness.scripted import Answer, Asked, Scripted, completion, json_answer, translated


def answered(words: str | None, **more: Any) -> Answer:
    return json_answer(completion(words) | more)


def tool_call(name: str = "lookup") -> dict[str, Any]:
    reply = completion(None)
    call = {"id": "a", "type": "function", "function": {"name": name, "arguments": '{"word": "x"}'}}
    reply["choices"][0]["message"]["tool_calls"] = [call]
    return reply


def batch(asked: Asked, **more: Any) -> Answer:
    """Answer a batch, a JSON object keyed by number, in capitals."""
    found = {number: text.upper() for number, text in json.loads(asked.source).items()}
    return json_answer(completion(json.dumps(found), **more))


BAD_ALONE = {
    "thought without end": answered("<think>Hmm, entry number"),
    "thought and nothing": answered("<think>Hmm.</think>\n"),
    "empty fence": answered("```\n\n```"),
    "tool call unasked": json_answer(tool_call()),
}
BAD_BATCH = {
    "no JSON": answered("Here are your translations!"),
    "one missing": answered('{"1": "A", "3": "C"}'),
    "one empty": answered('{"1": "A", "2": " ", "3": "C"}'),
    "one invented": answered('{"1": "A", "2": "B", "3": "C", "4": "D"}'),
}


def calls_of(endpoint: Scripted, path: Path, plan: Plan) -> tuple[int, int]:
    """Run the same once more; gives how many calls it made and how many entries failed."""
    before = len(endpoint.asked)
    failed = run_corpus(path, corpus(len(kept(path).results)), plan).finished.failed
    return len(endpoint.asked) - before, failed


def test_unusable_reply_is_asked_for_again(endpoint: Scripted, store_path: Path) -> None:
    bad, plan = [*BAD_ALONE.values()], chat_plan(endpoint.url)
    endpoint.answer = lambda asked: bad[int(asked.source.split()[-1])]
    assert run_corpus(store_path, corpus(len(bad)), plan).finished.failed == len(bad)
    endpoint.answer = translated
    assert calls_of(endpoint, store_path, plan) == (len(bad), 0)
    assert calls_of(endpoint, store_path, plan) == (0, 0)


def test_batch_with_one_bad_number_is_asked_for_again(endpoint: Scripted, store_path: Path) -> None:
    plan = chat_plan(endpoint.url, batch_size=3, run={"concurrency": 1})
    bad = [*BAD_BATCH.values()]
    size = 3 * len(bad)
    endpoint.answer = lambda asked: bad[asked.number]
    run_corpus(store_path, corpus(size), plan)
    endpoint.answer = batch
    assert calls_of(endpoint, store_path, plan) == (len(bad), 0)
    assert calls_of(endpoint, store_path, plan) == (0, 0)


def test_empty_translation_is_asked_for_again(endpoint: Scripted, store_path: Path) -> None:
    options = MethodOptions(**LANGUAGES, endpoint=endpoint.url, batch_size=2)
    plan = Plan(method="api:libretranslate", options=options, run=RunOptions(concurrency=1))
    endpoint.answer = lambda _: json_answer({"translatedText": ["fine", " "]})
    heard = run_corpus(store_path, corpus(2), plan)
    assert [each.error_class for each in heard.scored] == [None, ErrorClass.EMPTY]
    endpoint.answer = lambda asked: json_answer({"translatedText": asked.body["q"]})
    assert calls_of(endpoint, store_path, plan) == (1, 0)
    assert calls_of(endpoint, store_path, plan) == (0, 0)


def test_pipeline_repeats_failed_step(endpoint: Scripted, store_path: Path, tmp_path: Path) -> None:
    words = tmp_path / "words.tsv"
    words.write_text("entry\tentry\n", "utf-8")
    plan = chat_plan(endpoint.url, glossary=words, tools=("lookup",))
    plan = plan.model_copy(update={"method": "pipeline"})
    steps = iter([tool_call(), completion("<think>and then"), completion("Entry.")])
    endpoint.answer = lambda _: json_answer(next(steps))
    assert run_corpus(store_path, corpus(1), plan).finished.failed == 1
    assert calls_of(endpoint, store_path, plan) == (1, 0)


def test_resumed_run_asks_for_forgotten_failures(endpoint: Scripted, store_path: Path) -> None:
    drained = threading.Event()

    def drain(event: Event, control: Control) -> None:
        if isinstance(event, EntryScored):
            control.drain()
            drained.set()

    def thinking(asked: Asked) -> Answer:
        assert asked.number < 9 or drained.wait(600), "no entry was told of"
        return answered("<think>")

    endpoint.answer = thinking
    plan = chat_plan(endpoint.url, run={"concurrency": 1})
    assert run_corpus(store_path, corpus(20), plan, Heard(react=drain)).finished.failed > 0
    with closing(open_store(store_path)) as connection:
        forget_failed(connection, kept(store_path).run.id)
    endpoint.answer = translated
    finished = resume(store_path).finished
    assert (finished.done, finished.failed) == (20, 0)


def test_good_reply_takes_the_key_of_a_bad_one(store_path: Path) -> None:
    asked = Request("p", "http://localhost/v1", {"q": 1}, lambda _: Reply(""))
    key = request_key(asked, "m")
    with closing(open_store(store_path)) as connection:
        for text in ("<think>", "good"):
            new = NewReply(key, asked.body, StoredReply(Reply(text), 1.0, None))
            add_replies(connection, [new])
        found = find_reply(connection, key)
    assert found is not None
    assert found.reply.text == "good"


def test_lost_batch_is_one_failure(endpoint: Scripted, store_path: Path) -> None:
    endpoint.answer = lambda asked: scripted.error(500) if asked.number == 1 else batch(asked)
    plan = chat_plan(endpoint.url, batch_size=12, run={"concurrency": 1})
    end = run_corpus(store_path, corpus(36), plan).finished
    assert (end.state, end.failed) == (RunState.COMPLETE, 12)


def test_tokens_and_cost_of_a_batch_are_parted(endpoint: Scripted, store_path: Path) -> None:
    usage = {
        "prompt_tokens": 101, "completion_tokens": 53, "cost": 0.0077,
        "prompt_tokens_details": {"cached_tokens": 31},
        "completion_tokens_details": {"reasoning_tokens": 22},
    }  # fmt: skip
    endpoint.answer = lambda asked: batch(asked, usage=usage)
    run_corpus(store_path, corpus(7), chat_plan(endpoint.url, batch_size=7))
    rows = kept(store_path).results
    assert len(endpoint.asked) == 1
    assert [each.output for each in rows] == [f"ENTRY NUMBER {n}" for n in range(7)]
    prompt = [each.prompt_tokens or 0 for each in rows]
    assert (sum(prompt), max(prompt) - min(prompt)) == (101, 1)
    assert sum(each.completion_tokens or 0 for each in rows) == 53
    assert sum(each.cached_tokens or 0 for each in rows) == 31
    assert sum(each.reasoning_tokens or 0 for each in rows) == 22
    assert sum(each.cost_usd or 0 for each in rows) == pytest.approx(0.0077)
    assert {each.batch_size for each in rows} == {7}


SHAPES: list[tuple[dict[str, Any], tuple[int, int, int, int]]] = [
    ({"prompt_tokens": 9, "completion_tokens": 4}, (9, 4, 0, 0)),
    (
        {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 20,
         "prompt_tokens_details": {"cached_tokens": 5}},
        (9, 11, 7, 5),
    ),
    (
        {"input_tokens": 10, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 5,
         "output_tokens": 3},
        (105, 3, 0, 90),
    ),
]  # fmt: skip


def test_tokens_of_each_provider_reach_rows_once(endpoint: Scripted, store_path: Path) -> None:
    usages = [usage for usage, _ in SHAPES]
    endpoint.answer = lambda asked: answered("x", usage=usages[int(asked.source.split()[-1])])
    run_corpus(store_path, corpus(len(SHAPES)), chat_plan(endpoint.url))
    assert [
        (row.prompt_tokens, row.completion_tokens, row.reasoning_tokens, row.cached_tokens)
        for row in kept(store_path).results
    ] == [tokens for _, tokens in SHAPES]


def test_costs_and_tokens_add_up_to_those_of_the_run(endpoint: Scripted, store_path: Path) -> None:
    dice = random.Random(7)

    def answer(_: Asked) -> Answer:
        usage = {"prompt_tokens": dice.randrange(999), "completion_tokens": dice.randrange(99),
                 "cost": dice.random() / 100}  # fmt: skip
        return answered("x", usage=usage)

    endpoint.answer = answer
    heard = run_corpus(store_path, corpus(20), chat_plan(endpoint.url))
    rows, card = kept(store_path).results, kept(store_path).card
    assert card is not None
    cost, last = sum(each.cost_usd or 0 for each in rows), heard.progress[-1]
    assert last.cost_usd == last.spent_usd == pytest.approx(cost)
    assert last.tokens == sum(each.total_tokens or 0 for each in rows)
    assert card["cost"]["total_cost_usd"] == pytest.approx(cost)


def test_run_with_fewer_annotators_follows_one_with_more(store_path: Path) -> None:
    scores = store_path.parent / "scores.txt"
    scores.parent.mkdir(parents=True)
    scores.write_text("0.5\n" * 3, "utf-8")
    more = constant((*FEW, "au.bertscore"), bertscore=scores)
    for plan in (more, constant(FEW), more):
        assert run_corpus(store_path, corpus(3), plan).finished.state is RunState.COMPLETE
        card = sealed_card(store_path)
        assert card["scores"].get("au.bertscore") == (0.5 if plan.scoring.bertscore else None)
    assert card["scoring"]["annotators"]["bertscore"]["imported"] is True
