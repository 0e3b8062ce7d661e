"""What is answered from the cache: good answers only, whatever a failure looked like (M3)."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from harness.core.calls import Reply, Request
from harness.core.failures import ErrorClass
from harness.events.control import Control
from harness.events.kinds import EntryScored, Event
from harness.method.options import MethodOptions
from harness.setup.plan import Plan, RunOptions
from harness.store.file.database import open_store
from harness.store.replies import NewReply, StoredReply, add_replies, find_reply, request_key
from harness.store.runs import forget_failed
from tests.harness.evaluation import LANGUAGES, Heard, chat_plan, corpus, kept, resume, run_corpus
from tests.harness.scripted import Answer, Asked, Scripted, completion, json_answer, translated


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
        assert asked.number < 9 or drained.wait(60), "no entry was told of"
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
