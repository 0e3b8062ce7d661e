"""Runs in which nothing worked, or something broke: stopped, not sealed, never claimed to be more, and able to go on."""

from __future__ import annotations

import socket
import sqlite3
import threading
from contextlib import ExitStack, closing, suppress
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from benchmarks.floors import METHODS, Case, cases, references_of, without_analyser
from harness.card import build
from harness.core.calls import Request
from harness.core.failures import ErrorClass, NoServer, StoreError
from harness.core.run_state import RunState
from harness.events.control import Control
from harness.events.kinds import EntryScored, Event, Finished
from harness.events.progress import ProgressBoard
from harness.method.completions import read_completion
from harness.methods.baselines import CopySource
from harness.run import running
from harness.run.call_runner import not_there
from harness.run.loop import HOPELESS_FAILURES, SAME_FAILURES, Dispatcher, Streak
from harness.run.recorder import Recorder
from harness.run.running import execute_run
from harness.store.file.database import open_store
from scoring.card.claim import ClaimReason
from scoring.core.scorer import Scorer
from scoring.core.specification import Tier
from tests.harness.evaluation import (
    Heard,
    begun,
    chat_plan,
    corpus,
    kept,
    query,
    resume,
    run_corpus,
)
from tests.harness.run.breaking_plan import CHEAP
from tests.harness.scripted import Answer, Asked, Scripted, error, json_answer, serving, translated
from tests.outside import FST, TEXTS, skip_without
from tests.review.thorough import first


@pytest.mark.parametrize("status", [401, 404, 500])
def test_run_without_output_is_open(endpoint: Scripted, store_path: Path, status: int) -> None:
    endpoint.answer = lambda _: error(status, "no such thing")
    first = run_corpus(store_path, corpus(2), chat_plan(endpoint.url)).finished
    assert (first.state, first.card_hash) == (RunState.STOPPED, None)
    assert f"HTTP {status}" in (first.reason or "")
    again = resume(store_path).finished
    assert again.state is RunState.STOPPED, "asking for nothing mends nothing"
    endpoint.answer = translated
    mended = resume(store_path, retry_failed=True).finished
    assert (mended.state, mended.failed) == (RunState.COMPLETE, 0)


def test_one_output_or_empty_ones_make_a_card(endpoint: Scripted, store_path: Path) -> None:
    endpoint.answer = lambda a: translated(a) if a.source.endswith("1") else error(400)
    end = run_corpus(store_path, corpus(3), chat_plan(endpoint.url)).finished
    assert (end.failed, bool(end.card_hash)) == (2, True)
    empty = {"choices": [{"message": {"content": ""}, "finish_reason": "stop"}]}
    endpoint.answer = lambda _: json_answer(empty)
    end = run_corpus(store_path, corpus(3, source="x"), chat_plan(endpoint.url)).finished
    assert (end.failed, bool(end.card_hash)) == (3, True)


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]"])
def test_missing_local_server_stops_the_run_at_once(store_path: Path, host: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    plan = chat_plan(f"http://{host}:{port}/v1", run={"most_attempts": 6, "concurrency": 8})
    heard = run_corpus(store_path, corpus(20), plan)
    end = heard.finished
    assert (end.state, end.done, end.failed) == (RunState.STOPPED, 0, 0)
    assert "is the server running?" in (end.reason or "")
    assert heard.progress[-1].retries == 0
    if host != "[::1]":
        with serving(port=port):
            assert resume(store_path).finished.card_hash


def test_entries_wait_for_a_server_that_went_away(store_path: Path) -> None:
    answered = threading.Event()

    def answer(asked: Asked) -> Answer:
        answered.set()
        waits = shutting is not None and asked.number > 3  # until the server has gone
        return translated(asked, seconds=60 if waits else 0)

    def react(event: Event, _: Control) -> None:
        if isinstance(event, EntryScored) and shutting is not None:
            shutting.close()

    shutting: ExitStack | None = ExitStack()
    with shutting as stack:
        scripted = stack.enter_context(serving(answer))
        plan = chat_plan(scripted.url, run={"most_attempts": 2, "concurrency": 1})
        heard = run_corpus(store_path, corpus(12), plan, Heard(react=react))
    assert answered.is_set()
    assert (heard.finished.state, heard.finished.failed) == (RunState.STOPPED, 0)
    assert heard.progress[-1].retries >= 1
    shutting = None
    with serving(answer, port=scripted.port):
        finished = resume(store_path).finished
    assert (finished.state, finished.failed) == (RunState.COMPLETE, 0)


def test_unknown_host_stops_at_once_and_presets_say_their_start(store_path: Path) -> None:
    request = Request("ollama", "http://localhost:11434/v1", {}, read_completion)
    failure = NoServer(ErrorClass.CONNECTION, "No connection to localhost:11434.")
    assert "Start it with: ollama serve." in str(not_there(request, failure))
    # RFC 6761: no name under .invalid has an address, with a network or without one
    run = {"most_attempts": 6, "concurrency": 8, "may_send": "its owner"}
    heard = run_corpus(store_path, corpus(20), chat_plan("https://nobody.invalid/v1", run=run))
    assert (heard.finished.state, heard.finished.done) == (RunState.STOPPED, 0)
    assert "No address is known for nobody.invalid" in (heard.finished.reason or "")
    assert heard.progress[-1].retries == 0


Outcome = tuple[ErrorClass | None, str | None]
NINE: list[Outcome] = [(ErrorClass.SERVER, "HTTP 500")] * 9
NUMBERED: list[Outcome] = [
    (ErrorClass.SERVER, f"HTTP 500: Internal error. Request req_{n * 7919:x} at 12:00:{n:02}")
    for n in range(20)
]
"""Providers put an id or a time into each message."""


def first_stop(outcomes: list[Outcome]) -> int | None:
    streak = Streak()
    for number, outcome in enumerate(outcomes, 1):
        if streak.note(*outcome) is not None:
            return number
    return None


def test_streak_of_the_same_failure_stops_the_run() -> None:
    assert (HOPELESS_FAILURES, SAME_FAILURES) == (3, 10)
    for kind in (ErrorClass.AUTH, ErrorClass.OFFLINE):
        assert first_stop([(kind, "HTTP 401")] * 20) == 3
    for kind in (ErrorClass.SERVER, ErrorClass.TIMEOUT, ErrorClass.METHOD):
        assert first_stop([(kind, "the same")] * 20) == 10
    assert first_stop([*NINE, (None, None), *NINE]) is None, "a success begins anew"
    assert first_stop([*NINE, (None, None), *NINE, NINE[0]]) == 20
    assert first_stop([NINE[0], (ErrorClass.TIMEOUT, "slow")] * 20) is None
    assert first_stop(NUMBERED) == 10
    for kind in (ErrorClass.MISSING, ErrorClass.EMPTY, ErrorClass.NUMBERING):  # of one entry only
        assert first_stop([(kind, "the same")] * 100) is None
        assert first_stop([*NINE, (kind, "empty"), NINE[0]]) == 11
    streak = Streak()
    reasons = [streak.note(ErrorClass.AUTH, "HTTP 401: wrong key") for _ in range(3)]
    assert reasons[-1] == "3 entries in a row failed the same way (auth): HTTP 401: wrong key"


NAMES = ["demo", "mri", "crk 100, descriptive, unknown words"]


@cache
def case_of(name: str) -> Case:
    found = next((case for case in cases(name) if case.name == name), None)
    if found is None:
        skip_without(TEXTS)
        skip_without(FST)
        raise AssertionError(f"no corpus is called {name}")
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", NAMES)
def test_worthless_methods_claim_no_more_than_baseline(name: str, method: str) -> None:
    case = case_of(name)
    scores = case.judged(METHODS[method](case, Random(9)))
    assert scores.claimable_tier is Tier.BASELINE, scores.tier_in_words


@pytest.mark.parametrize("name", first(1, NAMES))
def test_references_reach_fluent_by_all_but_unknown_words(name: str) -> None:
    scores = references_of(case_of(name))
    assert without_analyser(scores) >= 0.97
    assert (scores.fst_acceptance_rate or 1.0) < 1.0 or scores.quality_tier is Tier.FLUENT
    assert (scores.claim.claimable_tier, scores.claim.caveats) == (Tier.FUNCTIONAL, ())
    assert [limit.reason for limit in scores.claim.limits] == [ClaimReason.REVIEW]


@pytest.mark.thorough
def test_one_valid_word_is_stopped_by_its_chrf() -> None:
    """It clears every composite floor of before: acceptance alone carries it."""
    case = case_of("crk 100, descriptive, unknown words")
    scores = case.judged(METHODS["one valid word"](case, Random(9)))
    lower = scores.confidence_intervals["composite"].ci_lower
    before = [case.floors[name].composite or 0.0 for name in ("empty", "source", "shuffled")]
    assert lower > max(before)
    assert ClaimReason.CHRF_FLOOR in {limit.reason for limit in scores.claim.limits}


SECRET = "the medicine bundle"


def breaking(*_: Any, **__: Any) -> Any:
    raise ValueError(f"cannot read {SECRET!r}")


def closed(connection: sqlite3.Connection) -> bool:
    with suppress(sqlite3.ProgrammingError):
        connection.execute("SELECT 1")
        return False
    return True


BREAKS: list[tuple[Any, str]] = [
    (running, "read_entries"), (running, "begin_stretch"), (Dispatcher, "_room"),
    (ProgressBoard, "progress"), (ProgressBoard, "heartbeat"), (Scorer, "statistics"),
    (Streak, "note"), (Scorer, "pack"), (Recorder, "_gather"), (running, "seal"),
]  # fmt: skip
"""Before the run, on its way, and at its end."""


def test_whatever_breaks_is_said_and_the_run_goes_on(store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    opened: list[sqlite3.Connection] = []

    def opening(path: Path) -> sqlite3.Connection:
        opened.append(open_store(path))
        return opened[-1]

    number, method = begun(store_path, corpus(12, segment="held_out", source=SECRET), CHEAP)
    for place, name in BREAKS:
        heard = Heard()
        with monkeypatch.context() as patch:
            patch.setattr(place, name, breaking)
            patch.setattr(running, "open_store", opening)
            with pytest.raises(ValueError, match="cannot read"):
                execute_run(store_path, number, method, heard, heard.control)
        assert "ValueError" in heard.failed.message, name
        assert SECRET not in heard.failed.message, name
        stored = kept(store_path).run
        assert heard.failed.run_id == stored.run_id
        assert stored.state is RunState.STOPPED
        assert stored.live is not None
        assert stored.live.model_fields_set == {"so_far"}
        assert all(map(closed, opened)), name
    assert resume(store_path).finished.state is RunState.COMPLETE
    assert [each.position for each in kept(store_path).results] == list(range(12))


def test_breaking_listener_stops_the_run_and_keeps_rows(store_path: Path) -> None:
    def react_to(kind: type[Event]) -> Heard:
        def react(event: Event, _: Control) -> None:
            if isinstance(event, kind):
                raise BrokenPipeError

        return Heard(react=react)

    with pytest.raises(BrokenPipeError):
        run_corpus(store_path, corpus(5), CHEAP, react_to(EntryScored))
    assert kept(store_path).run.state is RunState.STOPPED
    assert resume(store_path).finished.done == 5
    with pytest.raises(BrokenPipeError):
        run_corpus(store_path, corpus(5), CHEAP, react_to(Finished))
    assert kept(store_path).run.state is RunState.COMPLETE, "it is sealed already"
    assert kept(store_path).card is not None


@pytest.mark.parametrize("content", [b"no database " * 99, None])
def test_unusable_store_is_said(tmp_path: Path, content: bytes | None) -> None:
    path, heard = tmp_path / "rosetta.sqlite", Heard()
    path.mkdir() if content is None else path.write_bytes(content)
    with pytest.raises(StoreError, match="cannot be used as a store"):
        execute_run(path, 1, CopySource(CHEAP.options), heard, heard.control)
    assert "cannot be used as a store" in heard.failed.message


@pytest.mark.parametrize(("segment", "damage", "said"), [
    ("held_out", "results SET statistics = x'c1'", "the statistics of an entry are damaged"),
    ("held_out", "entries SET sealed = x'7b' || sealed", "it is damaged"),
    ("development", "entries SET rest = '{'", "it is damaged"),
    ("held_out", f"texts SET body = CAST(x'ff' || '{SECRET}' AS TEXT)", "it is damaged"),
], ids=["statistics", "sealed", "rest", "text"])  # fmt: skip
def test_damaged_store_not_quoted(store_path: Path, segment: str, damage: str, said: str) -> None:
    heard = Heard()
    number, method = begun(store_path, corpus(8, segment=segment, source=SECRET), CHEAP)
    execute_run(store_path, number, method, heard, heard.control)
    query(store_path, "UPDATE runs SET run_card = NULL, state = 'stopped'")
    query(store_path, "DELETE FROM results WHERE position > 4")
    query(store_path, f"UPDATE {damage}")
    with pytest.raises(StoreError, match=said):
        execute_run(store_path, number, method, heard, heard.control)
    assert said in heard.failed.message
    assert SECRET not in heard.failed.message


def test_breaking_seal_is_undone(store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(build, "seal_run", breaking)
        with pytest.raises(ValueError, match="cannot read"):
            run_corpus(store_path, corpus(5), CHEAP)
    assert kept(store_path).card is None
    with closing(open_store(store_path)) as connection:
        connection.execute("BEGIN IMMEDIATE")  # nobody holds the store
    assert resume(store_path).finished.state is RunState.COMPLETE
