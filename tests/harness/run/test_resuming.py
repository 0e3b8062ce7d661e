"""Going on with a run: after a kill at any instant, and with what a person changes."""

import asyncio
import json
import os
import random
import signal
import socket
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from benchmarks.floors import METHODS, Case, cases, references_of, without_analyser
from corpora.model.terms import Clearance
from harness.card import assembling
from harness.card.checking.verify_card import verify_card
from harness.core.calls import Request
from harness.core.failures import ErrorClass, HarnessError, NoServer, RunState, StoreError, UsageError
from harness.endpoint.endpoints import no_key
from harness.method.completions import read_completion
from harness.privacy import ClearedMethod
from harness.run import running
from harness.run.beginning import resume_method, take_up
from harness.run.call_runner import not_there
from harness.run.events import Control, EntryScored, Event, Finished
from harness.run.loop import HOPELESS_FAILURES, SAME_FAILURES, Dispatcher, RepeatedFailures
from harness.run.progress import ProgressBoard
from harness.run.recorder import Recorder
from harness.run.running import execute_run
from harness.setup.plan import Resumption
from harness.shipped_methods.baselines import CopySource
from harness.shipped_methods.registry import build
from harness.store.run_list import list_runs
from harness.store.runs import find_run, set_live
from harness.store.sqlite.database import open_store
from harness.store.sqlite.openings import Live
from scoring.card.claim import ClaimReason
from scoring.core.scorer import Scorer
from scoring.core.specification import Tier
from tests.harness.evaluation import CHEAP, Heard, begun, chat_plan, corpus, kept, query, resume, run_corpus, whole_card
from tests.harness.nursery import Nursery, nursery
from tests.harness.scripted import Answer, Asked, Scripted, completion, error, json_answer, serving, translated
from tests.harness.sealed.refusals import refuses
from tests.outside import FST, TEXTS, skip_without
from tests.review.thorough import times


def number_of(asked: Asked) -> int:
    return int(asked.source.split()[-1])


def drain_late(event: Event, control: Control) -> None:
    if isinstance(event, EntryScored) and event.result.position >= 5:
        control.drain()


@pytest.fixture
def half(endpoint: Scripted, store_path: Path) -> Scripted:
    """A run that was stopped after some entries, of which three failed; the endpoint is mended since."""
    heard = Heard(react=drain_late)

    def answer(asked: Asked) -> Answer:
        held = number_of(asked) >= 8  # until it is drained
        until = (lambda: heard.control.state is RunState.DRAINING) if held else None
        return error(400) if number_of(asked) < 3 else translated(asked, until=until)

    endpoint.answer = answer
    plan = chat_plan(endpoint.url, run={"concurrency": 1})
    assert run_corpus(store_path, corpus(12), plan, heard).finished.failed == 3
    endpoint.answer = translated
    return endpoint


def test_failed_entries_are_asked_for_again(half: Scripted, store_path: Path) -> None:
    tries = {each.position: each.attempts for each in kept(store_path).results}
    assert {tries[place] for place in (0, 1, 2)} == {1}
    before = kept(store_path)
    refuses(UsageError, "concurrency", resume, store_path, retry_failed=True, concurrency=0)
    assert kept(store_path) == before, "a wrong change changes nothing"
    with closing(open_store(store_path)) as connection:
        run = find_run(connection, "last")
        take_up(connection, run.id, resume_method(connection, run).method, Resumption(retry_failed=True))
    heard = resume(store_path, retry_failed=True, concurrency=2)
    assert (heard.finished.done, heard.finished.failed) == (12, 0)
    assert heard.progress[-1].most_concurrency == 2
    tries = {each.position: each.attempts for each in kept(store_path).results}
    assert [tries[place] for place in range(12)] == [2] * 3 + [1] * 9, "over all stretches"


def test_going_on_forgets_why_the_run_stopped(endpoint: Scripted, store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    def gone(*_: object) -> None:
        raise HarnessError("The language card is gone.")

    plan = chat_plan(endpoint.url, run={"concurrency": 1})
    run_corpus(store_path, corpus(12), plan, Heard(react=lambda _, control: control.drain()))
    with closing(open_store(store_path)) as connection:
        run = find_run(connection, "last")
        why = Live(reason="more than the whole budget of $0.5000", budget_reached=True)
        set_live(connection, run.id, RunState.STOPPED, why)
    refuses(UsageError, "concurrency", resume, store_path, concurrency=0)
    assert kept(store_path).run.live == why
    monkeypatch.setattr(running, "begun_with", gone)
    refuses(HarnessError, "card is gone", resume, store_path, budget_usd=5.0)
    after = kept(store_path).run
    resumed: Any = after.plan
    assert (resumed["run"]["budget_usd"], after.live) == (5.0, Live(so_far={}))


@pytest.mark.parametrize("broken", [False, True])
def test_stopped_run_keeps_its_score(endpoint: Scripted, store_path: Path, *, broken: bool) -> None:
    """Stopped by a person or broken off: Home has the score of the entries that are in."""

    def stop(event: Event, control: Control) -> None:
        if isinstance(event, EntryScored) and event.result.position == 5:
            if broken:
                raise HarnessError("The language card is gone.")
            control.drain()

    endpoint.answer = lambda a: error(400) if number_of(a) < 3 else translated(a, seconds=0.05)
    heard, plan = Heard(react=stop), chat_plan(endpoint.url, run={"concurrency": 1})
    if broken:
        refuses(HarnessError, "card is gone", run_corpus, store_path, corpus(24), plan, heard)
    else:
        run_corpus(store_path, corpus(30), plan, heard)
    stored = kept(store_path).run
    assert stored.state is RunState.STOPPED
    assert (stored.live or Live()).model_fields_set == {"so_far"}
    if not broken:
        values = heard.progress[-1].values
        told = {name: values[name] for name in ("chrf_plus_plus", "composite")}
        assert told["chrf_plus_plus"]
        assert stored.live == Live(so_far=told)
    with closing(open_store(store_path)) as connection:
        [summary] = list_runs(connection, brief=True)
        method = resume_method(connection, stored).method
        assert summary.so_far == (stored.live or Live()).so_far
        for retry_failed, left in ((False, stored.live), (True, Live(so_far={}))):
            again = take_up(connection, stored.id, method, Resumption(retry_failed=retry_failed))
            assert again.live == left


def test_run_completed_meanwhile_is_not_touched(finished: Path) -> None:
    """Between the look at a run and its lock, another process may have brought it to its end."""
    before, again = kept(finished), Heard()
    plan = chat_plan("http://127.0.0.1:9/v1")
    method = ClearedMethod(build("chat", plan.options, corpus(5).reveal_here(), no_key), plan, Clearance())
    wishes = again, again.control, Resumption(retry_failed=True)
    refuses(UsageError, "is complete", execute_run, finished, before.run.id, method, *wishes)
    assert kept(finished) == before


KILLS = times(4, 20)
SIZE = times(160, 600)


@pytest.fixture(scope="module")
def runs() -> Iterator[Nursery]:
    with nursery() as opened:
        yield opened


class Killer:
    """Answers like an endpoint, and kills the asking process at the chosen request."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.victim = 0
        self.at: int | None = None
        self.killed = 0

    def __call__(self, asked: Asked) -> Answer:
        if self.at is not None and asked.number >= self.at:
            self.at = None
            delay = self.dice.choice([0.0, self.dice.random() * 0.06])
            asyncio.get_running_loop().call_later(delay, self.kill, self.victim)
        usage = {"prompt_tokens": 20 + asked.number, "completion_tokens": 5, "cost": 0.001}
        if self.dice.random() < 0.02:
            return error(500)
        return json_answer(completion(asked.source.upper(), usage=usage), seconds=0.01)

    def aim(self, victim: int, at: int) -> None:
        """Choose the process and the request at which it is killed."""
        self.victim, self.at = victim, at

    def kill(self, victim: int) -> None:
        os.kill(victim, signal.SIGKILL)
        self.killed += 1


def stored_sources(path: Path) -> set[str]:
    """Return the sources that need not be asked for again: with a row, or with a reply that was kept."""
    entries = "entries e ON e.position = r.position JOIN texts t ON t.id = e.source"
    rows = query(path, f"SELECT t.body FROM results r JOIN {entries}")
    replies = query(path, "SELECT t.body FROM replies p JOIN texts t ON t.id = p.tail")
    return {row[0] for row in [*rows, *replies]}


@pytest.mark.thorough
def test_kills_lose_and_double_nothing(runs: Nursery, endpoint: Scripted, store_path: Path) -> None:
    killer = Killer(20260301)
    endpoint.answer = killer
    asked_again: list[str] = []
    wish: tuple[object, ...] = ("begin", store_path, endpoint.url, SIZE)
    while killer.killed < KILLS:
        known = stored_sources(store_path) if store_path.exists() else set[str]()
        before = len(endpoint.asked)
        victim = runs.begin(*wish)
        killer.aim(victim, before + killer.dice.randrange(1, 2 * SIZE // KILLS - 12))
        code, said = runs.end()
        assert code in {0, -signal.SIGKILL}, said
        asked_again += [asked.source for asked in endpoint.asked[before:] if asked.source in known]
        wish = ("resume", store_path)
        if code == 0:
            break
    assert killer.killed >= KILLS or kept(store_path).card is not None
    killer.at = None
    if kept(store_path).card is None:
        known = stored_sources(store_path)
        before = len(endpoint.asked)
        runs.begin(*wish)
        assert runs.end() == (0, f"{RunState.COMPLETE}\n")
        asked_again += [asked.source for asked in endpoint.asked[before:] if asked.source in known]
    assert killer.killed >= KILLS * 3 // 4
    assert asked_again == []
    check(store_path, SIZE)
    doubled = sum(Counter(asked.source for asked in endpoint.asked).values()) - SIZE
    assert doubled <= KILLS * 40


@pytest.mark.thorough
def test_kill_while_the_card_is_sealed(runs: Nursery, endpoint: Scripted, tmp_path: Path) -> None:
    size = 24
    dice = random.Random(7)
    for number in range(times(2, 6)):
        path = tmp_path / str(number) / "rosetta.sqlite"
        last = len(endpoint.asked) + size - 1
        victim = runs.begin("begin", path, endpoint.url, size)

        def answer(asked: Asked, victim: int = victim, last: int = last) -> Answer:
            if asked.number == last:
                delay = dice.random() * 0.2
                asyncio.get_running_loop().call_later(delay, os.kill, victim, signal.SIGKILL)
            return json_answer(completion(asked.source.upper()), seconds=0.1)

        endpoint.answer = answer
        code, _ = runs.end()
        asked = len(endpoint.asked)
        if code:
            endpoint.answer = translated
            runs.begin("resume", path)
            _, said = runs.end()
            assert said.strip() == RunState.COMPLETE or "is complete" in said, said
        check(path, size)
        most = 2 * 8  # under way, or answered and not yet on the disk
        assert len(endpoint.asked) - asked <= most


def check(path: Path, size: int) -> None:
    """No row is lost or doubled, the card is whole, and its totals are the sums of the rows."""
    stored = kept(path)
    assert [each.position for each in stored.results] == list(range(size))
    good = [each for each in stored.results if not each.failed]
    assert [each.output for each in good] == [f"ENTRY NUMBER {each.position}" for each in good]
    for entry, row in zip(corpus(size).entries, stored.results, strict=True):
        assert row.entry_id == entry.id
    assert query(path, "PRAGMA integrity_check") == [("ok",)]
    card = stored.card
    assert card is not None
    tokens = sum(each.total_tokens or 0 for each in stored.results)
    assert card["tokens"]["total_tokens"] == tokens
    cost = sum(each.cost_usd or 0 for each in stored.results)
    assert card["cost"]["total_cost_usd"] == pytest.approx(cost)
    whole = whole_card(path)
    assert len(whole["results"]) == size
    with closing(open_store(path)) as connection:
        verdict = verify_card(json.dumps(whole).encode(), connection)
    assert verdict.ok, verdict.first_difference


@pytest.mark.parametrize("status", [401, 404, 500])
def test_run_without_output_is_open(endpoint: Scripted, store_path: Path, status: int) -> None:
    endpoint.answer = lambda _: error(status, "no such thing")
    first = run_corpus(store_path, corpus(2), chat_plan(endpoint.url)).finished
    assert (first.state, first.card_hash) == (RunState.STOPPED, None)
    assert f"HTTP {status}" in (first.reason or "")
    again = resume(store_path).finished
    assert again.state is RunState.STOPPED, "asking for nothing fixes nothing"
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
    (ErrorClass.SERVER, f"HTTP 500: Internal error. Request req_{n * 7919:x} at 12:00:{n:02}") for n in range(20)
]
"""Providers put an id or a time into each message."""


def first_stop(outcomes: list[Outcome]) -> int | None:
    streak = RepeatedFailures()
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
    assert first_stop([*NINE, (None, None), *NINE]) is None, "a success begins again"
    assert first_stop([*NINE, (None, None), *NINE, NINE[0]]) == 20
    assert first_stop([NINE[0], (ErrorClass.TIMEOUT, "slow")] * 20) is None
    assert first_stop(NUMBERED) == 10
    for kind in (ErrorClass.MISSING, ErrorClass.EMPTY, ErrorClass.NUMBERING):  # of one entry only
        assert first_stop([(kind, "the same")] * 100) is None
        assert first_stop([*NINE, (kind, "empty"), NINE[0]]) == 11
    streak = RepeatedFailures()
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


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
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
    (RepeatedFailures, "note"), (Scorer, "pack"), (Recorder, "_gather"), (running, "seal"),
]  # fmt: skip
"""Before the run, on its way, and at its end."""


def test_whatever_breaks_is_said(store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
            refuses(ValueError, "cannot read", execute_run, store_path, number, method, heard, heard.control)
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

    refuses(BrokenPipeError, "", run_corpus, store_path, corpus(5), CHEAP, react_to(EntryScored))
    assert kept(store_path).run.state is RunState.STOPPED
    assert resume(store_path).finished.done == 5
    refuses(BrokenPipeError, "", run_corpus, store_path, corpus(5), CHEAP, react_to(Finished))
    assert kept(store_path).run.state is RunState.COMPLETE, "it is sealed already"
    assert kept(store_path).card is not None


@pytest.mark.parametrize("content", [b"no database " * 99, None])
def test_unusable_store_is_said(tmp_path: Path, content: bytes | None) -> None:
    path, heard = tmp_path / "rosetta.sqlite", Heard()
    path.mkdir() if content is None else path.write_bytes(content)
    with pytest.raises(StoreError, match="cannot be used as a store"):
        execute_run(path, 1, ClearedMethod(CopySource(CHEAP.options), CHEAP, Clearance()), heard, heard.control)
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
    refuses(StoreError, said, execute_run, store_path, number, method, heard, heard.control)
    assert said in heard.failed.message
    assert SECRET not in heard.failed.message


def test_breaking_seal_is_undone(store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(assembling, "seal_run", breaking)
        refuses(ValueError, "cannot read", run_corpus, store_path, corpus(5), CHEAP)
    assert kept(store_path).card is None
    with closing(open_store(store_path)) as connection:
        connection.execute("BEGIN IMMEDIATE")  # nobody holds the store
    assert resume(store_path).finished.state is RunState.COMPLETE
