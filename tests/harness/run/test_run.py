"""Whole runs of a model against a real server: stored, found again, counted, stopped."""

import asyncio
import json
import sqlite3
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.card.checking.verify_card import verify_card
from harness.core.calls import Usage
from harness.core.failures import ErrorClass, RunState, StoreError, UsageError
from harness.endpoint.endpoints import no_key
from harness.estimate.earlier import first_request
from harness.method.options import MethodOptions
from harness.run import call_runner, recorder, running
from harness.run.events import EntryScored
from harness.setup.plan import Plan, RunOptions
from harness.shipped_methods.registry import build
from harness.store.replies import request_key
from harness.store.sqlite.database import open_store
from tests.harness.evaluation import (
    FEW,
    LANGUAGES,
    Heard,
    chat_plan,
    corpus,
    kept,
    query,
    resume,
    run_corpus,
    sealed_card,
    whole_card,
)
from tests.harness.run.made import constant
from tests.harness.scripted import (  # fmt: skip
    Answer,
    Asked,
    Scripted,
    completion,
    error,
    json_answer,
    price_table,
    translated,
)
from tests.harness.sealed.refusals import refuses
from tests.review.thorough import first


def test_a_method_that_asks_nobody_waits_for_the_recorder(store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waiting: list[int] = []
    take = recorder.Recorder.take

    def counted(self: recorder.Recorder, results: Any) -> None:
        take(self, results)
        waiting.append(self._queue.qsize())

    monkeypatch.setattr(recorder.Recorder, "take", counted)
    monkeypatch.setattr(recorder, "MOST_WAITING", 3)
    run_corpus(store_path, corpus(80), constant())
    assert len(kept(store_path).results) == len(waiting) == 80
    assert max(waiting) <= 3 + 8 + 1, "one more, and what the other connections were at"


def test_run_asks_scores_stores_and_tells_once(endpoint: Scripted, store_path: Path) -> None:
    counts: list[tuple[int, int]] = []

    def react(event: Any, _: Any) -> None:
        if isinstance(event, EntryScored):
            [(rows,)] = query(store_path, "SELECT count(*) FROM results")
            counts.append((len(heard.scored), rows))

    heard = Heard(react=react)
    run_corpus(store_path, corpus(20), chat_plan(endpoint.url), heard)
    stored = kept(store_path)
    sources = sorted(entry.source for entry in corpus(20).entries)
    assert sorted(asked.source for asked in endpoint.asked) == sources
    assert [each.output for each in stored.results] == [f"ENTRY NUMBER {n}" for n in range(20)]
    assert all(each.exact and each.headline == pytest.approx(100) for each in stored.results)
    assert sorted(heard.scored, key=lambda each: each.position) == stored.results
    assert heard.finished.state is stored.run.state is RunState.COMPLETE
    assert stored.card is not None
    assert stored.card["run_card_hash"] == heard.finished.card_hash
    assert heard.started.positions == tuple(range(20))
    last = heard.progress[-1]
    assert (last.done, last.total, last.failed, last.in_flight) == (20, 20, 0, ())
    assert last.values["exact_match_rate"] == 1
    assert len(counts) == 20
    assert all(told <= rows for told, rows in counts), "never ahead of what is stored"
    done = [progress.done for progress in heard.progress]
    assert done == sorted(done)


def test_second_run_asks_nothing_and_costs_the_same(endpoint: Scripted, store_path: Path) -> None:
    def cost() -> list[tuple[float | None, int | None, str | None]]:
        rows = kept(store_path).results
        return [(each.cost_usd, each.prompt_tokens, each.output) for each in rows]

    prices = price_table(store_path.parent.parent, {"mock": (2.0, 8.0)})
    plan = chat_plan(endpoint.url, prices=prices)
    run_corpus(store_path, corpus(10), plan)
    first, requests = cost(), len(endpoint.asked)
    heard = run_corpus(store_path, corpus(10), plan)
    assert len(endpoint.asked) == requests == 10
    assert cost() == first
    rows = kept(store_path).results
    assert all(each.cached and each.latency_seconds is None for each in rows)
    assert all(each.spent_usd == 0 for each in rows)
    last = heard.progress[-1]
    assert (last.spent_usd, last.p50_seconds) == (0, None)
    assert last.cost_usd == pytest.approx(10 * (20 * 2 + 10 * 8) / 1e6)


def test_cache_key_covers_what_decides_the_answer(endpoint: Scripted, store_path: Path) -> None:
    entries, bodies = corpus(1).reveal_here(), ({"seed": 2**53 - 1}, {"top_p": 0.9})
    changes: list[dict[str, Any]] = [
        {}, {"model": "another"}, {"temperature": 0.5}, {"max_tokens": 77}, {"replicate": 1},
               {"body": bodies[0]}, {"body": bodies[1]}, {"target_name": "Simple"},
    ]  # fmt: skip

    def key(method: str, **change: Any) -> bytes:
        plan = chat_plan(endpoint.url, **change)
        request = first_request(build(method, plan.options, entries, no_key), entries)
        assert request is not None
        return request_key(request, method)

    keys = {key("chat", **change) for change in changes} | {key("pipeline")}
    assert len(keys) == len(changes) + 1
    assert key("chat", batch_size=1, condition="other") in keys
    plan = chat_plan(endpoint.url)
    for given, asked in (
        (corpus(3), 3),
        (corpus(3, source="something else"), 6),  # the same source three times at once is asked three times
        (corpus(3, notes="more"), 6),
    ):  # fmt: skip
        run_corpus(store_path, given, plan)
        assert len(endpoint.asked) == asked
    run_corpus(store_path, corpus(3), chat_plan(endpoint.url, replicate=1))
    assert len(endpoint.asked) == 9
    run_corpus(store_path, corpus(3), plan.model_copy(update={"method": "pipeline"}))
    assert len(endpoint.asked) >= 12


def test_failed_entries_are_never_answered_from_cache(endpoint: Scripted, store_path: Path) -> None:
    failures = [
        (error(500), ErrorClass.SERVER),
        (error(400), ErrorClass.REQUEST),
        (error(429), ErrorClass.RATE_LIMIT),
        (json_answer({"error": {"message": "oh", "code": 500}}), ErrorClass.SERVER),
        (json_answer(completion("")), ErrorClass.EMPTY),
        (json_answer(completion(" \n")), ErrorClass.EMPTY),
        (json_answer(completion(None)), ErrorClass.EMPTY),
        (Answer(body=b"{"), ErrorClass.MALFORMED),
        (Answer(body=b"{}", cut_after=1), ErrorClass.TRUNCATED),
        (Answer(seconds=60), ErrorClass.TIMEOUT),
    ]
    size = len(failures)

    def answer(asked: Asked) -> Answer:
        number = int(asked.source.split()[-1])
        return failures[number][0] if number < size else translated(asked)

    endpoint.answer = answer
    plan = chat_plan(endpoint.url, run={"timeout_seconds": 5.0})
    run_corpus(store_path, corpus(size + 2), plan)
    rows = kept(store_path).results
    assert [each.error_class for each in rows] == [kind for _, kind in failures] + [None] * 2
    assert all((each.output, each.headline, each.exact) == (None, 0, False) for each in rows[:size])
    endpoint.answer = translated
    run_corpus(store_path, corpus(size + 2), plan)
    assert len(endpoint.asked) == 2 * size + 2
    outputs = [each.output for each in kept(store_path).results]
    assert outputs == [f"ENTRY NUMBER {n}" for n in range(size + 2)]


def replies(path: Path) -> dict[str, str]:
    """Return the raw reply behind each entry of the newest run."""
    stored, found = kept(path), {}
    sql = "SELECT t.body FROM replies p JOIN texts t ON t.id = p.body WHERE p.key = ?"
    for position, attempts in stored.attempts.items():
        [(text,)] = query(path, sql, attempts[-1].reply_key)
        found[str(stored.results[position].entry_id)] = text
    return found


def test_cut_answer_is_asked_again_and_each_is_kept(endpoint: Scripted, store_path: Path) -> None:
    def cut(asked: Asked) -> Answer:
        reply = completion(f"cut {asked.number}")
        reply["choices"][0]["finish_reason"] = "length"
        return json_answer(reply)

    endpoint.answer = cut
    plan = chat_plan(endpoint.url, run={"concurrency": 1})
    run_corpus(store_path, corpus(2), plan)
    first = kept(store_path)
    assert {each.error_class for each in first.results} == {ErrorClass.TRUNCATED}
    assert replies(store_path) == {"0": "cut 0", "1": "cut 1"}
    run_corpus(store_path, corpus(2), plan)
    assert len(endpoint.asked) == 4
    assert replies(store_path) == {"0": "cut 2", "1": "cut 3"}
    keys = {run.attempts[n][0].reply_key for run in (first, kept(store_path)) for n in (0, 1)}
    assert len(keys) == 4


def test_rate_limited_call_waits_as_long_as_told(
    endpoint: Scripted, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    heard = Heard()

    def answer(asked: Asked) -> Answer:
        refused = asked.source.endswith(" 2") and not slept
        return error(429, headers={"Retry-After": "1"}) if refused else translated(asked)

    async def sleep(seconds: float) -> None:
        """Wait until all others are in, which the wait must not hold up, and it was told; an hour, by the clock."""
        slept.append(seconds)
        while len(heard.scored) < 29 or not any(progress.waiting for progress in heard.progress):
            await asyncio.sleep(0.001)

    hour = 3600.0
    clock = SimpleNamespace(perf_counter=lambda: time.perf_counter() + hour * len(slept))
    monkeypatch.setattr(call_runner, "asyncio", SimpleNamespace(sleep=sleep))
    monkeypatch.setattr(call_runner, "time", clock)
    endpoint.answer = answer
    run_corpus(store_path, corpus(30), chat_plan(endpoint.url, run={"most_attempts": 3, "concurrency": 2}), heard)
    assert slept == [1.0]
    assert endpoint.asked[-1].source == "entry number 2"
    assert [asked.source for asked in endpoint.asked].count("entry number 2") == 2
    last = heard.progress[-1]
    assert (last.rate_limited, last.retries, last.waiting) == (1, 1, ())
    waits = [wait for progress in heard.progress for wait in progress.waiting]
    assert all(0 <= wait.seconds <= 1 for wait in waits)
    waiting = waits[0]
    assert (waiting.position, waiting.attempt, waiting.attempts_allowed) == (2, 2, 3)
    assert waiting.reason == "429"
    row = kept(store_path).results[2]
    assert (row.attempts, row.error_class) == (2, None)
    assert row.latency_seconds is not None
    assert row.latency_seconds < hour  # waiting is no latency
    first, second = kept(store_path).attempts[2]
    assert (first.status, first.error_class, first.reply_key) == (429, ErrorClass.RATE_LIMIT, None)
    assert (second.status, second.error_class) == (200, None)


def test_same_failure_of_everything_stops_the_run(endpoint: Scripted, store_path: Path) -> None:
    endpoint.answer = lambda asked: error(500, f"Internal error, request {asked.number}")
    heard = run_corpus(store_path, corpus(30), chat_plan(endpoint.url))
    assert heard.finished.state is RunState.STOPPED
    assert heard.finished.reason is not None
    assert heard.finished.reason.startswith("10 entries in a row failed the same way (server)")
    assert 10 <= heard.finished.done <= 10 + 2 * 4
    stored = kept(store_path)
    assert {each.error_class for each in stored.results} == {ErrorClass.SERVER}
    assert len(endpoint.asked) == len(stored.results)
    assert stored.card is None
    endpoint.answer = translated
    resumed = resume(store_path)
    assert resumed.finished.state is RunState.COMPLETE
    assert resumed.finished.failed == resumed.started.done == len(stored.results)


EMPTY = {"error": {"message": "Add credits", "code": 402}}
QUOTA = {"error": {"message": "Add credits", "code": "insufficient_quota"}}


@pytest.mark.parametrize(("good", "refusal", "failed", "reason"), first(3, [
    (0, error(401, "Incorrect key"), 0, "key is refused, or none is given: HTTP 401: Incorrect key"),
    (3, error(401), 0, "HTTP 401"), (3, error(403), 3, "HTTP 403"),
    (3, json_answer(EMPTY, 402), 0, "account at 127.0.0.1 has no credit left: HTTP 402: Add credits"),
    (3, json_answer(QUOTA, 429), 0, "has no credit left: HTTP 429: Add credits"),
    (3, json_answer(EMPTY), 0, "left: The provider answered with error 402: Add credits"),
]), ids=["no-key", "key-gone", "forbidden", "empty-account", "quota", "within-a-reply"])  # fmt: skip
def test_refused_key_or_empty_account_stops_the_run(
    endpoint: Scripted, store_path: Path, good: int, refusal: Answer, failed: int, reason: str
) -> None:
    """A 403 among good replies may be about one text; a 401 never is, and no entry fails for it."""
    endpoint.answer = lambda asked: translated(asked) if asked.number < good else refusal
    plan = chat_plan(endpoint.url, run={"most_attempts": 6, "concurrency": 1})
    first = run_corpus(store_path, corpus(8), plan).finished
    assert (first.state, first.done, first.failed) == (RunState.STOPPED, good + failed, failed)
    assert reason in (first.reason or "")
    assert len(endpoint.asked) == good + max(failed, 1)
    if failed:
        assert resume(store_path).finished.failed == good + 2, "what was let in before counts"
    else:
        endpoint.answer = translated
        mended = resume(store_path).finished
        assert (mended.state, mended.failed) == (RunState.COMPLETE, 0)


def test_hostile_replies_are_stored_and_end_no_run(endpoint: Scripted, store_path: Path) -> None:
    hostile = [
        completion("lone \ud800 surrogate \x00 nul \x1b[2J"),
        completion("x", model="\udfff"),
        completion("x", usage={"prompt_tokens": 10**30, "completion_tokens": -5, "cost": 1e308}),
        completion("x", usage={"prompt_tokens": float("inf"), "completion_tokens": float("nan")}),
        completion("x", usage="many"),
        {"error": {"message": "\ud800\x00"}},
        {"choices": [{"message": {"content": "x", "tool_calls": [
            {"id": "1", "function": {"name": "\ud800", "n": 10**40}}]}}]},
        {"choices": [{"message": {"content": "x"}, "finish_reason": "\ud800"}]},
        {"choices": [{"message": {"content": [{"text": "a"}, {"text": "\ud800"}]}}]},
    ]  # fmt: skip
    endpoint.answer = lambda asked: json_answer(hostile[int(asked.source.split()[-1])])
    heard = run_corpus(store_path, corpus(len(hostile)), chat_plan(endpoint.url))
    assert heard.finished.state is RunState.COMPLETE
    rows = kept(store_path).results
    assert rows[0].output == "lone \ufffd surrogate \x00 nul \x1b[2J"
    assert rows[2].prompt_tokens is None
    assert [rows[n].error_class for n in (5, 7)] == [ErrorClass.SERVER] * 2
    assert heard.finished.failed == 2
    assert json.dumps(kept(store_path).card, allow_nan=False)


def test_offline_refuses_and_filters_are_no_keys(store_path: Path, endpoint: Scripted) -> None:
    plan = chat_plan("https://api.model.example/v1", run={"offline": True})
    refuses(UsageError, "--offline", run_corpus, store_path, corpus(2), plan)
    assert query(store_path, "SELECT count(*) FROM runs") == [(0,)]
    filtered = {"error": {"message": "flagged", "metadata": {"reasons": ["violence"]}}}
    flagged = json_answer(filtered, 403)
    endpoint.answer = lambda asked: flagged if asked.number == 0 else translated(asked)
    plan = chat_plan(endpoint.url, run={"concurrency": 1})
    end = run_corpus(store_path, corpus(5), plan).finished
    assert (end.state, end.done, end.failed) == (RunState.COMPLETE, 5, 1)


def test_full_disk_keeps_rows(endpoint: Scripted, store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def small(path: Path) -> sqlite3.Connection:
        connection = open_store(path)
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        return connection

    heard = Heard()
    with monkeypatch.context() as patch:
        patch.setattr(running, "open_store", small)
        refuses(StoreError, "disk is full", run_corpus, store_path, corpus(100), chat_plan(endpoint.url), heard)
    assert "disk is full" in heard.failed.message
    rows = len(kept(store_path).results)
    assert 0 < rows < 100
    resumed = resume(store_path)
    assert resumed.started.done == rows
    assert resumed.finished.state is RunState.COMPLETE
    assert [each.position for each in kept(store_path).results] == list(range(100))


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


def test_unusable_or_empty_reply_is_asked_for_again(endpoint: Scripted, store_path: Path) -> None:
    bad, plan = [*BAD_ALONE.values()], chat_plan(endpoint.url)
    endpoint.answer = lambda asked: bad[int(asked.source.split()[-1])]
    assert run_corpus(store_path, corpus(len(bad)), plan).finished.failed == len(bad)
    endpoint.answer = translated
    assert calls_of(endpoint, store_path, plan) == (len(bad), 0)
    assert calls_of(endpoint, store_path, plan) == (0, 0)
    options = MethodOptions(**LANGUAGES, endpoint=endpoint.url, batch_size=2)
    plan = Plan(method="api:libretranslate", options=options, run=RunOptions(concurrency=1))
    endpoint.answer = lambda _: json_answer({"translatedText": ["fine", " "]})
    heard = run_corpus(store_path, corpus(2), plan)
    assert [each.error_class for each in heard.scored] == [None, ErrorClass.EMPTY]
    endpoint.answer = lambda asked: json_answer({"translatedText": asked.body["q"]})
    assert calls_of(endpoint, store_path, plan) == (1, 0)
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


def test_pipeline_repeats_failed_step(endpoint: Scripted, store_path: Path, tmp_path: Path) -> None:
    words = tmp_path / "words.tsv"
    words.write_text("entry\tentry\n", "utf-8")
    plan = chat_plan(endpoint.url, glossary=words, tools=("lookup",))
    plan = plan.model_copy(update={"method": "pipeline"})
    steps = iter([tool_call(), completion("<think>and then"), completion("Entry.")])
    endpoint.answer = lambda _: json_answer(next(steps))
    assert run_corpus(store_path, corpus(1), plan).finished.failed == 1
    assert calls_of(endpoint, store_path, plan) == (1, 0)


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
    usages = [each.usage for each in rows if isinstance(each.usage, Usage)]
    prompt = [each.prompt_tokens for each in usages]
    assert (sum(prompt), max(prompt) - min(prompt)) == (101, 1)
    assert sum(each.completion_tokens for each in usages) == 53
    assert sum(each.cached_tokens for each in usages) == 31
    assert sum(each.reasoning_tokens for each in usages) == 22
    assert sum(each.cost_usd or 0 for each in rows) == pytest.approx(0.0077)
    assert {each.batch_size for each in rows} == {7}


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


@pytest.mark.parametrize("step", [-3600.0, -86_400.0, -1.7e9, 3.2e8])
def test_clock_set_during_a_run_makes_no_length(store_path: Path, monkeypatch: pytest.MonkeyPatch, step: float) -> None:
    now, heard = time.time, Heard()
    monkeypatch.setattr(time, "time", lambda: now() + (step if heard.scored else 0.0))
    run_corpus(store_path, corpus(12), constant(), heard)
    card = kept(store_path).card
    assert card is not None
    assert 0 < card["elapsed_seconds"] <= heard.finished.elapsed_seconds + 1
    assert 0 <= card["stretches"][0]["seconds"] < 1000
    assert verify_card(json.dumps(whole_card(store_path)).encode()).ok
