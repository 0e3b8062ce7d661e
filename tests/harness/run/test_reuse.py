"""What is answered from the cache, and how tokens and money are parted among entries and added up again."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Callable
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
from tests.harness.evaluation import (
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
from tests.harness.scripted import (
    Answer,
    Asked,
    Scripted,
    completion,
    error,
    json_answer,
    translated,
)


def batch(text: str) -> str:
    return json.dumps({number: each.upper() for number, each in json.loads(text).items()})


def answered(words: str | None, **more: Any) -> Callable[[Asked], Answer]:
    return lambda _: json_answer(completion(words) | more)


BAD_ALONE = {
    "thought without end": answered("<think>Hmm, entry number"),
    "thought and nothing": answered("<think>Hmm.</think>\n"),
    "empty fence": answered("```\n\n```"),
    "tool call unasked": lambda _: json_answer(tool_call()),
}
BAD_BATCH = {
    "no JSON": answered("Here are your translations!"),
    "one missing": answered('{"1": "A", "3": "C"}'),
    "one empty": answered('{"1": "A", "2": " ", "3": "C"}'),
    "one invented": answered('{"1": "A", "2": "B", "3": "C", "4": "D"}'),
}


def tool_call(name: str = "lookup") -> dict[str, Any]:
    reply = completion(None)
    call = {"id": "a", "type": "function", "function": {"name": name, "arguments": '{"word": "x"}'}}
    reply["choices"][0]["message"]["tool_calls"] = [call]
    return reply


@pytest.mark.parametrize("bad", BAD_ALONE)
def test_a_failure_is_asked_again_and_a_later_good_answer_is_kept(
    endpoint: Scripted, store_path: Path, bad: str
) -> None:
    plan = chat_plan(endpoint.url)
    endpoint.answer = BAD_ALONE[bad]
    assert run_corpus(store_path, corpus(3), plan).finished.failed == 3
    endpoint.answer = translated
    assert calls_of(endpoint, store_path, plan) == (3, 0)
    assert calls_of(endpoint, store_path, plan) == (0, 0)


@pytest.mark.parametrize("bad", BAD_BATCH)
def test_a_batch_with_one_bad_number_is_asked_again(
    endpoint: Scripted, store_path: Path, bad: str
) -> None:
    plan = chat_plan(endpoint.url, batch_size=3)
    endpoint.answer = BAD_BATCH[bad]
    run_corpus(store_path, corpus(3), plan)
    endpoint.answer = lambda asked: json_answer(completion(batch(asked.source)))
    assert calls_of(endpoint, store_path, plan) == (1, 0)
    assert calls_of(endpoint, store_path, plan) == (0, 0)


def test_an_empty_translation_of_a_service_is_asked_again(
    endpoint: Scripted, store_path: Path
) -> None:
    options = MethodOptions(**LANGUAGES, endpoint=endpoint.url, batch_size=2)
    plan = Plan(method="api:libretranslate", options=options, run=RunOptions(concurrency=1))
    endpoint.answer = lambda _: json_answer({"translatedText": ["fine", " "]})
    heard = run_corpus(store_path, corpus(2), plan)
    assert [each.error_class for each in heard.scored] == [None, ErrorClass.EMPTY]
    endpoint.answer = lambda asked: json_answer({"translatedText": asked.body["q"]})
    assert calls_of(endpoint, store_path, plan) == (1, 0)
    assert calls_of(endpoint, store_path, plan) == (0, 0)


def test_a_pipelines_good_steps_are_kept_and_only_the_failed_one_is_asked_again(
    endpoint: Scripted, store_path: Path, tmp_path: Path
) -> None:
    words = tmp_path / "words.tsv"
    words.write_text("entry\tentry\n", "utf-8")
    plan = chat_plan(endpoint.url, glossary=words, tools=("lookup",))
    plan = plan.model_copy(update={"method": "pipeline"})
    steps = iter([tool_call(), completion("<think>and then"), completion("Entry.")])
    endpoint.answer = lambda _: json_answer(next(steps))
    assert run_corpus(store_path, corpus(1), plan).finished.failed == 1
    assert calls_of(endpoint, store_path, plan) == (1, 0)


def test_a_resumed_run_asks_for_its_failed_entries_again(
    endpoint: Scripted, store_path: Path
) -> None:
    drained = threading.Event()

    def drain(event: Event, control: Control) -> None:
        if isinstance(event, EntryScored):
            control.drain()
            drained.set()

    def thinking(asked: Asked) -> Answer:
        assert asked.number < 9 or drained.wait(600), "no entry was told of"
        return answered("<think>")(asked)

    endpoint.answer = thinking
    plan = chat_plan(endpoint.url, run={"concurrency": 1})
    assert run_corpus(store_path, corpus(60), plan, Heard(react=drain)).finished.failed > 0
    with closing(open_store(store_path)) as connection:
        forget_failed(connection, kept(store_path).run.id)
    endpoint.answer = translated
    finished = resume(store_path).finished
    assert (finished.done, finished.failed) == (60, 0)


def calls_of(endpoint: Scripted, path: Path, plan: Plan) -> tuple[int, int]:
    """Run the same once more; gives how many calls it made and how many entries failed."""
    before = len(endpoint.asked)
    size = len(kept(path).results)
    failed = run_corpus(path, corpus(size), plan).finished.failed
    return len(endpoint.asked) - before, failed


def test_a_reply_that_is_no_good_any_more_gives_its_key_to_a_good_one(store_path: Path) -> None:
    asked = Request("p", "http://localhost/v1", {"q": 1}, lambda _: Reply(""))
    key = request_key(asked, "m")
    with closing(open_store(store_path)) as connection:
        for text in ("<think>", "good"):
            new = NewReply(key, asked.body, StoredReply(Reply(text), 1.0, None))
            add_replies(connection, [new])
        found = find_reply(connection, key)
    assert found is not None
    assert found.reply.text == "good"


def test_one_lost_batch_is_one_failure_however_large(endpoint: Scripted, store_path: Path) -> None:
    def answer(asked: Asked) -> Answer:
        return error(500) if asked.number == 1 else json_answer(completion(batch_reply(asked)))

    endpoint.answer = answer
    plan = chat_plan(endpoint.url, batch_size=20, run={"concurrency": 1})
    heard = run_corpus(store_path, corpus(100), plan)
    assert heard.finished.state is RunState.COMPLETE
    assert heard.finished.failed == 20


def batch_reply(asked: Asked) -> str:
    """Answer a batch, a JSON object keyed by number, in capitals."""
    found = json.loads(asked.source)
    return json.dumps({number: text.upper() for number, text in found.items()})


def test_tokens_and_cost_of_a_batch_are_parted_without_a_rest(
    endpoint: Scripted, store_path: Path
) -> None:
    usage = {
        "prompt_tokens": 101, "completion_tokens": 53, "cost": 0.0077,
        "prompt_tokens_details": {"cached_tokens": 31},
        "completion_tokens_details": {"reasoning_tokens": 22},
    }  # fmt: skip
    endpoint.answer = lambda asked: json_answer(completion(batch_reply(asked), usage=usage))
    run_corpus(store_path, corpus(7), chat_plan(endpoint.url, batch_size=7))
    rows = kept(store_path).results
    assert len(endpoint.asked) == 1
    assert [each.output for each in rows] == [f"ENTRY NUMBER {n}" for n in range(7)]
    assert sum(each.prompt_tokens or 0 for each in rows) == 101
    assert sum(each.completion_tokens or 0 for each in rows) == 53
    assert sum(each.cached_tokens or 0 for each in rows) == 31
    assert sum(each.reasoning_tokens or 0 for each in rows) == 22
    assert max(r.prompt_tokens or 0 for r in rows) - min(r.prompt_tokens or 0 for r in rows) == 1
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


@pytest.mark.parametrize(("usage", "tokens"), SHAPES)
def test_each_providers_tokens_reach_the_rows_once(
    endpoint: Scripted, store_path: Path, usage: dict[str, Any], tokens: tuple[int, int, int, int]
) -> None:
    endpoint.answer = lambda asked: json_answer(completion("x", usage=usage))
    run_corpus(store_path, corpus(1), chat_plan(endpoint.url))
    [row] = kept(store_path).results
    found = (row.prompt_tokens, row.completion_tokens, row.reasoning_tokens, row.cached_tokens)
    assert found == tokens


def test_costs_and_tokens_of_the_rows_add_up_to_the_runs(
    endpoint: Scripted, store_path: Path
) -> None:
    dice = random.Random(7)

    def answer(asked: Asked) -> Answer:
        usage = {"prompt_tokens": dice.randrange(999), "completion_tokens": dice.randrange(99),
                 "cost": dice.random() / 100}  # fmt: skip
        return json_answer(completion("x", usage=usage))

    endpoint.answer = answer
    heard = run_corpus(store_path, corpus(40), chat_plan(endpoint.url))
    rows, card = kept(store_path).results, kept(store_path).card
    assert card is not None
    cost = sum(each.cost_usd or 0 for each in rows)
    assert heard.progress[-1].cost_usd == pytest.approx(cost)
    assert heard.progress[-1].spent_usd == pytest.approx(cost)
    assert heard.progress[-1].tokens == sum(each.total_tokens or 0 for each in rows)
    assert card["cost"]["total_cost_usd"] == pytest.approx(cost)


def test_a_run_with_fewer_packs_and_annotators_follows_one_with_more(store_path: Path) -> None:
    scores = store_path.parent / "scores.txt"
    scores.parent.mkdir(parents=True)
    scores.write_text("0.5\n" * 3, "utf-8")
    few, more = ("chrf_plus_plus",), ("chrf_plus_plus", "au.bertscore")
    for plan in (constant(more, bertscore=scores), constant(few), constant(more, bertscore=scores)):
        heard = run_corpus(store_path, corpus(3), plan)
        assert heard.finished.state is RunState.COMPLETE
        card = sealed_card(store_path)
        assert card["scores"].get("au.bertscore") == (0.5 if plan.scoring.bertscore else None)
    assert card["scoring"]["annotators"]["bertscore"]["imported"] is True
