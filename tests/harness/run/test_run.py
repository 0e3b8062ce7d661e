"""Whole runs of a model against a real server: stored, found again, counted, stopped."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from harness.core.failures import ErrorClass, StoreError, UsageError
from harness.core.run_state import RunState
from harness.events.kinds import EntryScored
from harness.run import running
from harness.store.file.database import open_store
from tests.harness.evaluation import Heard, chat_plan, corpus, kept, query, resume, run_corpus
from tests.harness.scripted import (
    Answer,
    Asked,
    Scripted,
    completion,
    error,
    json_answer,
    price_table,
    translated,
)


def test_every_entry_is_asked_once_scored_stored_and_told(
    endpoint: Scripted, store_path: Path
) -> None:
    heard = run_corpus(store_path, corpus(25), chat_plan(endpoint.url))
    stored = kept(store_path)
    assert Counter(asked.source for asked in endpoint.asked) == Counter(
        entry.source for entry in corpus(25).entries
    )
    assert [each.output for each in stored.results] == [f"ENTRY NUMBER {n}" for n in range(25)]
    assert all(each.exact and each.headline == pytest.approx(100) for each in stored.results)
    assert sorted(heard.scored, key=lambda each: each.position) == stored.results
    assert heard.finished.state is RunState.COMPLETE
    assert stored.card is not None
    assert stored.card["run_card_hash"] == heard.finished.card_hash
    assert stored.run.state is RunState.COMPLETE
    assert heard.started.positions == tuple(range(25))
    last = heard.progress[-1]
    assert (last.done, last.total, last.failed, last.in_flight) == (25, 25, 0, ())
    assert last.values["exact_match_rate"] == 1


def test_progress_only_grows_and_never_runs_ahead_of_what_is_stored(
    endpoint: Scripted, store_path: Path
) -> None:
    counts: list[tuple[int, int]] = []

    def react(event: Any, _: Any) -> None:
        if isinstance(event, EntryScored):
            [(rows,)] = query(store_path, "SELECT count(*) FROM results")
            counts.append((len(heard.scored), rows))

    heard = Heard(react=react)
    run_corpus(store_path, corpus(20), chat_plan(endpoint.url), heard)
    assert len(counts) == 20
    assert all(told <= rows for told, rows in counts)
    done = [progress.done for progress in heard.progress]
    assert done == sorted(done)
    assert done[-1] == 20


def cost_of(path: Path) -> list[tuple[float | None, int | None, str | None]]:
    return [(each.cost_usd, each.prompt_tokens, each.output) for each in kept(path).results]


def test_the_second_time_nothing_is_asked_and_it_costs_what_it_cost(
    endpoint: Scripted, store_path: Path
) -> None:
    prices = price_table(store_path.parent.parent, {"mock": (2.0, 8.0)})
    plan = chat_plan(endpoint.url, prices=prices)
    run_corpus(store_path, corpus(10), plan)
    first, requests = cost_of(store_path), len(endpoint.asked)
    heard = run_corpus(store_path, corpus(10), plan)
    assert len(endpoint.asked) == requests == 10
    assert cost_of(store_path) == first
    stored = kept(store_path)
    assert all(each.cached and each.latency_seconds is None for each in stored.results)
    assert all(each.spent_usd == 0 for each in stored.results)
    assert heard.progress[-1].spent_usd == 0
    assert heard.progress[-1].cost_usd == pytest.approx(10 * (20 * 2 + 10 * 8) / 1e6)
    assert heard.progress[-1].p50_seconds is None


@pytest.mark.parametrize(
    "change",
    [
        {"model": "another"},
        {"temperature": 0.5},
        {"max_tokens": 77},
        {"replicate": 1},
        {"body": {"seed": 2**53 - 1}},
        {"body": {"top_p": 0.9}},
        {"target_name": "Simple Esperanto"},
    ],
    ids=str,
)
def test_whatever_decides_the_answer_misses_the_cache(
    endpoint: Scripted, store_path: Path, change: dict[str, Any]
) -> None:
    run_corpus(store_path, corpus(3), chat_plan(endpoint.url))
    run_corpus(store_path, corpus(3), chat_plan(endpoint.url, **change))
    assert len(endpoint.asked) == 6
    run_corpus(store_path, corpus(3), chat_plan(endpoint.url, **change))
    assert len(endpoint.asked) == 6


def test_another_source_misses_the_cache_and_another_corpus_with_the_same_does_not(
    endpoint: Scripted, store_path: Path
) -> None:
    run_corpus(store_path, corpus(3), chat_plan(endpoint.url))
    run_corpus(store_path, corpus(3, source="something else"), chat_plan(endpoint.url))
    assert len(endpoint.asked) == 3 + 3  # the same source three times at once is asked three times
    run_corpus(store_path, corpus(3, notes="more"), chat_plan(endpoint.url))
    assert len(endpoint.asked) == 6


def test_a_pipeline_does_not_take_a_chats_answers(endpoint: Scripted, store_path: Path) -> None:
    plan = chat_plan(endpoint.url)
    run_corpus(store_path, corpus(3), plan)
    run_corpus(store_path, corpus(3), plan.model_copy(update={"method": "pipeline"}))
    assert len(endpoint.asked) >= 6


@pytest.mark.parametrize(
    ("answer", "error_class"),
    [
        (error(500), ErrorClass.SERVER),
        (error(400), ErrorClass.REQUEST),
        (error(429), ErrorClass.RATE_LIMIT),
        (json_answer({"error": {"message": "oh", "code": 500}}), ErrorClass.SERVER),
        (json_answer(completion("")), ErrorClass.EMPTY),
        (json_answer(completion(" \n")), ErrorClass.EMPTY),
        (json_answer(completion(None)), ErrorClass.EMPTY),
        (Answer(body=b"{"), ErrorClass.MALFORMED),
        (Answer(body=b"{}", cut_after=1), ErrorClass.TRUNCATED),
        (Answer(seconds=20), ErrorClass.TIMEOUT),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_failure_is_an_entry_of_its_own_and_never_cached(
    endpoint: Scripted, store_path: Path, answer: Answer, error_class: ErrorClass
) -> None:
    endpoint.answer = lambda asked: answer if asked.source.endswith("1") else translated(asked)
    seconds = 3.0 if error_class is ErrorClass.TIMEOUT else 60.0
    plan = chat_plan(endpoint.url, run={"timeout_seconds": seconds})
    run_corpus(store_path, corpus(3), plan)
    stored = kept(store_path)
    assert [each.error_class for each in stored.results] == [None, error_class, None]
    assert stored.results[1].output is None
    assert stored.results[1].headline == 0
    assert not stored.results[1].exact
    endpoint.answer = translated
    run_corpus(store_path, corpus(3), plan)
    assert len(endpoint.asked) == 4
    assert [each.output for each in kept(store_path).results] == [
        f"ENTRY NUMBER {n}" for n in range(3)
    ]


def cut(asked: Asked) -> Answer:
    reply = completion(f"cut {asked.number}")
    reply["choices"][0]["finish_reason"] = "length"
    return json_answer(reply)


def replies(path: Path) -> dict[str, str]:
    """Return the raw reply behind each entry of the newest run."""
    stored = kept(path)
    found = {}
    for position, attempts in stored.attempts.items():
        [(text,)] = query(
            path,
            "SELECT t.body FROM replies p JOIN texts t ON t.id = p.body WHERE p.key = ?",
            attempts[-1].reply_key,
        )
        found[str(stored.results[position].entry_id)] = text
    return found


def test_a_cut_answer_is_shown_but_asked_again_and_each_run_keeps_its_own(
    endpoint: Scripted, store_path: Path
) -> None:
    endpoint.answer = cut
    plan = chat_plan(endpoint.url, run={"concurrency": 1})
    run_corpus(store_path, corpus(2), plan)
    first = kept(store_path).run.run_id
    assert {each.error_class for each in kept(store_path).results} == {ErrorClass.TRUNCATED}
    assert replies(store_path) == {"0": "cut 0", "1": "cut 1"}
    run_corpus(store_path, corpus(2), plan)
    assert len(endpoint.asked) == 4
    assert replies(store_path) == {"0": "cut 2", "1": "cut 3"}
    attempts = kept(store_path, first).attempts
    keys = {attempts[n][0].reply_key for n in (0, 1)} | {
        kept(store_path).attempts[n][0].reply_key for n in (0, 1)
    }
    assert len(keys) == 4


def test_without_the_cache_it_is_asked_again_and_each_entry_keeps_its_own_reply(
    endpoint: Scripted, store_path: Path
) -> None:
    endpoint.answer = lambda asked: json_answer(completion(f"answer {asked.number}"))
    run = {"use_cache": False, "concurrency": 1}
    for time in range(3):
        run_corpus(store_path, corpus(3), chat_plan(endpoint.url, run=run))
        assert replies(store_path) == {str(n): f"answer {3 * time + n}" for n in range(3)}
        assert not any(each.cached for each in kept(store_path).results)
    assert len(endpoint.asked) == 9


def test_the_same_source_twice_keeps_both_replies(endpoint: Scripted, store_path: Path) -> None:
    endpoint.answer = lambda asked: json_answer(completion(f"answer {asked.number}"), seconds=0.2)
    run_corpus(store_path, corpus(2, source="the same"), chat_plan(endpoint.url))
    assert sorted(replies(store_path).values()) == ["answer 0", "answer 1"]
    outputs = [each.output for each in kept(store_path).results]
    assert outputs == [replies(store_path)[str(n)] for n in (0, 1)]


def test_one_refusal_with_a_hint_waits_as_long_while_the_others_go_on(
    endpoint: Scripted, store_path: Path
) -> None:
    refused: list[float] = []

    def answer(asked: Asked) -> Answer:
        if asked.source.endswith(" 2") and not refused:
            refused.append(asked.at)
            return error(429, headers={"Retry-After": "1"})
        return translated(asked)

    endpoint.answer = answer
    plan = chat_plan(endpoint.url, run={"most_attempts": 3, "concurrency": 2})
    heard = run_corpus(store_path, corpus(30), plan)
    again = endpoint.asked[-1]
    assert again.source == "entry number 2"
    assert again.at - refused[0] >= 1.0
    assert [asked.source for asked in endpoint.asked].count("entry number 2") == 2
    others = [asked.at for asked in endpoint.asked[:-1]]
    assert max(others) < again.at
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
    assert row.latency_seconds < 0.9  # waiting is no latency
    first, second = kept(store_path).attempts[2]
    assert (first.status, first.error_class, first.reply_key) == (429, ErrorClass.RATE_LIMIT, None)
    assert (second.status, second.error_class) == (200, None)


def test_a_hint_that_is_too_long_is_not_waited_for(endpoint: Scripted, store_path: Path) -> None:
    endpoint.answer = lambda _: error(429, headers={"Retry-After": "86400"})
    run_corpus(store_path, corpus(2), chat_plan(endpoint.url, run={"most_attempts": 5}))
    assert len(endpoint.asked) == 2
    assert [each.error_class for each in kept(store_path).results] == [ErrorClass.RATE_LIMIT] * 2


def test_the_same_failure_of_everything_stops_the_run_and_it_can_go_on(
    endpoint: Scripted, store_path: Path
) -> None:
    endpoint.answer = lambda asked: error(500, f"Internal error, request {asked.number}")
    heard = run_corpus(store_path, corpus(60), chat_plan(endpoint.url))
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
    assert resumed.finished.failed == len(stored.results)
    assert resumed.started.done == len(stored.results)


def test_a_wrong_key_stops_the_run_before_an_entry_is_stored_as_failed(
    endpoint: Scripted, store_path: Path
) -> None:
    endpoint.answer = lambda _: error(401, "Incorrect API key")
    plan = chat_plan(endpoint.url, run={"most_attempts": 6, "concurrency": 1})
    heard = run_corpus(store_path, corpus(20), plan)
    assert heard.finished.reason == (
        "The key is refused, or none is given: HTTP 401: Incorrect API key. "
        "Look at the key: `rosetta key set 127.0.0.1`."
    )
    assert (heard.finished.done, heard.finished.failed, len(endpoint.asked)) == (0, 0, 1)
    endpoint.answer = translated
    mended = resume(store_path).finished
    assert (mended.state, mended.failed) == (RunState.COMPLETE, 0)


@pytest.mark.parametrize(("status", "failed"), [(401, 0), (403, 3)])
def test_a_key_that_held_and_does_not_any_more(
    endpoint: Scripted, store_path: Path, status: int, failed: int
) -> None:
    """A 403 among good replies may be about one text; a 401 never is."""
    endpoint.answer = lambda asked: translated(asked) if asked.number < 4 else error(status)
    plan = chat_plan(endpoint.url, run={"most_attempts": 6, "concurrency": 1})
    first = run_corpus(store_path, corpus(20), plan).finished
    assert (first.state, first.done, first.failed) == (RunState.STOPPED, 4 + failed, failed)
    again = resume(store_path).finished
    assert again.failed == 2 * failed, "what the stretch before let in counts"


EMPTY = {"error": {"message": "Add credits", "code": 402}}
QUOTA = {"error": {"message": "Add credits", "code": "insufficient_quota"}}


@pytest.mark.parametrize(
    ("empty", "said"),
    [
        (json_answer(EMPTY, 402), "HTTP 402: Add credits"),
        (json_answer(QUOTA, 429), "HTTP 429: Add credits"),
        (json_answer(EMPTY), "The provider answered with error 402: Add credits"),
    ],
    ids=["status", "quota", "within-a-reply"],
)
def test_an_empty_account_stops_the_run_and_no_entry_fails_for_it(
    endpoint: Scripted, store_path: Path, empty: Answer, said: str
) -> None:
    endpoint.answer = lambda asked: translated(asked) if asked.number < 3 else empty
    plan = chat_plan(endpoint.url, run={"most_attempts": 6, "concurrency": 1})
    first = run_corpus(store_path, corpus(8), plan).finished
    assert (first.state, first.done, first.failed) == (RunState.STOPPED, 3, 0)
    assert first.reason == (
        f"The account at 127.0.0.1 has no credit left: {said}. "
        "Pay in there, or use another provider."
    )
    assert len(endpoint.asked) == 4
    endpoint.answer = translated
    mended = resume(store_path).finished
    assert (mended.state, mended.failed) == (RunState.COMPLETE, 0)


def test_a_filter_that_answers_403_is_no_refused_key(endpoint: Scripted, store_path: Path) -> None:
    filtered = {"error": {"message": "flagged", "metadata": {"reasons": ["violence"]}}}
    endpoint.answer = lambda asked: (
        json_answer(filtered, 403) if asked.number == 0 else translated(asked)
    )
    plan = chat_plan(endpoint.url, run={"concurrency": 1})
    end = run_corpus(store_path, corpus(5), plan).finished
    assert (end.state, end.done, end.failed) == (RunState.COMPLETE, 5, 1)


def test_hostile_replies_are_stored_as_far_as_they_can_be(
    endpoint: Scripted, store_path: Path
) -> None:
    """Nothing that a server says may end the run."""
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
    assert rows[5].error_class is ErrorClass.SERVER
    assert heard.finished.failed == 1
    assert json.dumps(kept(store_path).card, allow_nan=False)


def test_a_plan_without_network_refuses_a_foreign_endpoint_before_anything_is_stored(
    store_path: Path,
) -> None:
    plan = chat_plan("https://api.model.example/v1", run={"offline": True})
    with pytest.raises(UsageError, match="--offline"):
        run_corpus(store_path, corpus(2), plan)
    assert query(store_path, "SELECT count(*) FROM runs") == [(0,)]


def test_a_store_that_has_no_room_fails_in_words_and_keeps_what_it_has(
    endpoint: Scripted, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def small(path: Path) -> sqlite3.Connection:
        connection = open_store(path)
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        return connection

    heard = Heard()
    plan = chat_plan(endpoint.url)
    with monkeypatch.context() as patch:
        patch.setattr(running, "open_store", small)
        with pytest.raises(StoreError, match="disk is full"):
            run_corpus(store_path, corpus(200), plan, heard)
    assert "disk is full" in heard.failed.message
    rows = len(kept(store_path).results)
    assert 0 < rows < 200
    resumed = resume(store_path)
    assert resumed.started.done == rows
    assert resumed.finished.state is RunState.COMPLETE
    assert [each.position for each in kept(store_path).results] == list(range(200))


def test_a_quota_by_the_second_is_used_up_without_losing_an_entry(
    endpoint: Scripted, store_path: Path
) -> None:
    """The more entries wait for their next try, the fewer new ones may run into the same wall."""
    windows: Counter[int] = Counter()

    def answer(asked: Asked) -> Answer:
        windows[int(asked.at)] += 1
        if windows[int(asked.at)] > 25:
            return error(429, headers={"Retry-After": "1"})
        return translated(asked)

    endpoint.answer = answer
    plan = chat_plan(endpoint.url, run={"most_attempts": 3, "concurrency": 8})
    heard = run_corpus(store_path, corpus(80), plan)
    assert heard.finished.state is RunState.COMPLETE
    assert heard.finished.failed == 0
    assert max(len(progress.waiting) for progress in heard.progress) <= 2 * 8
