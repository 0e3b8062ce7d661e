"""A second terminal sees what the first one sees, and steers it by the store."""

import json
import os
import random
import signal
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.core.failures import ErrorClass, RunState, UsageError
from harness.run import following
from harness.run import following as steering
from harness.run.events import Control, EntryScored, Event, Finished, Progress, Started
from harness.run.following import ControlRequest, Follower, ask, done
from harness.run.running import execute_run
from harness.store.live_runs import alone, answer_of, open_wishes, write_wish
from harness.store.results import results_after
from harness.store.runs import SILENT_SECONDS, find_run, set_live
from harness.store.sqlite.database import open_store
from harness.store.sqlite.openings import Live
from rosetta_tui.report.run import JsonLines, PlainLines
from tests.harness.card import factory
from tests.harness.evaluation import Heard, begun, chat_plan, corpus, kept, query, resume, run_corpus
from tests.harness.events.slow_run import SIZE, slowly, under_way
from tests.harness.process import spawn
from tests.harness.scripted import Answer, Asked, Scripted, completion, error, json_answer, translated
from tests.harness.sealed.refusals import refuses
from tests.review.thorough import first


@pytest.fixture(autouse=True)
def look_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "POLL_SECONDS", 0.0)


def follow(path: Path, name: str = "last") -> list[Event]:
    """Follow a run to its end."""
    follower = Follower(path, name)
    seen: list[Event] = []
    with closing(follower):
        while not (seen and isinstance(seen[-1], Finished)):
            seen += follower.drain()
        assert follower.drain() == []
    return seen


def comparable(progress: Progress) -> dict[str, Any]:
    """Return the figures that do not depend on when one looks."""
    clock = ("state", "elapsed_seconds", "per_minute", "eta_seconds", "in_flight", "waiting")
    # until the run is sealed; what may be claimed hangs on the ends of the intervals
    live = ("intervals", "claim", "concurrency", "rate_limited", "retries")
    fields = {name: getattr(progress, name) for name in Progress.__dataclass_fields__}
    return {name: value for name, value in fields.items() if name not in {*clock, *live}}


def test_entries_are_told_as_they_came(endpoint: Scripted, store_path: Path) -> None:
    """The first entries are answered last, so that a look never leaves out what came behind it."""
    endpoint.answer = lambda asked: translated(asked, seconds=0.5 if asked.number < 3 else 0.01)
    heard = run_corpus(store_path, corpus(12), chat_plan(endpoint.url, run={"concurrency": 4}))
    came = [result.position for result in heard.scored]
    assert came != sorted(came)
    seen = [event.result.position for event in follow(store_path) if isinstance(event, EntryScored)]
    assert seen == came
    with closing(open_store(store_path)) as connection:
        number = find_run(connection, "last").id
        rows = results_after(connection, number, 0)
        for at in range(len(rows)):
            assert results_after(connection, number, rows[at][0]) == rows[at + 1 :]


@pytest.mark.parametrize("while_running", [True, False])
def test_follower_sees_the_same(endpoint: Scripted, store_path: Path, while_running: bool) -> None:
    def answer(asked: Asked) -> Answer:
        usage = {"prompt_tokens": 10 + asked.number, "completion_tokens": 5, "cost": 0.25}
        if asked.number % 7 == 3:
            return error(400)
        return json_answer(completion(asked.source.upper(), usage=usage), seconds=0.01)

    endpoint.answer = answer
    seen: list[Event] = []
    thread = threading.Thread(target=lambda: seen.extend(follow(store_path)))

    def react(event: Event, _: Control) -> None:
        if isinstance(event, EntryScored) and while_running and not thread.ident:
            thread.start()

    heard = Heard(react=react)
    plan = chat_plan(endpoint.url, run={"budget_usd": 90.0})
    run_corpus(store_path, corpus(24), plan, heard)
    if not while_running:
        thread.start()
    thread.join(600)
    scored = {event.result.position: event.result for event in seen if isinstance(event, EntryScored)}
    assert scored == {result.position: result for result in heard.scored}
    assert len([event for event in seen if isinstance(event, EntryScored)]) == 24
    assert isinstance(seen[0], Started)
    floors = heard.progress[-1].floors
    assert (heard.started.floors, len(floors)) == ((), 6)
    assert seen[0] == replace(heard.started, done=0, floors=seen[0].floors if while_running else floors)
    last = [event for event in seen if isinstance(event, Progress)][-1]
    theirs, ours = comparable(last), comparable(heard.progress[-1])
    values, expected = theirs.pop("values"), ours.pop("values")
    assert values == pytest.approx(expected)
    for name in ("cost_usd", "expected_cost_usd", "spent_usd"):
        assert theirs.pop(name) == pytest.approx(ours.pop(name))
    if not while_running:  # nobody has told the follower the ceiling of a sealed run
        theirs.pop("most_concurrency"), ours.pop("most_concurrency")
    assert theirs == ours
    end = seen[-1]
    assert isinstance(end, Finished)
    assert (end.state, end.done, end.failed) == (RunState.COMPLETE, 24, heard.finished.failed)
    assert end.card_hash == heard.finished.card_hash


def live_run(path: Path, heartbeat: dict[str, Any]) -> None:
    """Make the newest run look as if a process were at it."""
    live = json.dumps({"at": time.time(), **heartbeat})
    query(path, "UPDATE runs SET state = 'running', live = ?, run_card = NULL", live)


HEARTBEAT = {
    "in_flight": [3, 4], "waiting": [[2, 2, 6, 7.5, "429"]], "concurrency": 5,
    "most_concurrency": 32, "rate_limited": 4, "retries": 9, "spent_usd": 1.25,
}  # fmt: skip


def test_heartbeat_brings_what_only_the_process_knows(finished: Path) -> None:
    live_run(finished, HEARTBEAT)
    with closing(Follower(finished, "last")) as follower:
        [progress] = [each for each in follower.drain() if isinstance(each, Progress)]
    assert (progress.state, progress.in_flight) == (RunState.RUNNING, (3, 4))
    assert (progress.concurrency, progress.most_concurrency) == (5, 32)
    assert (progress.rate_limited, progress.retries, progress.spent_usd) == (4, 9, 1.25)
    [waiting] = progress.waiting
    assert (waiting.position, waiting.attempt, waiting.attempts_allowed) == (2, 2, 6)
    assert waiting.reason == "429"
    assert 5 < waiting.seconds <= 7.5
    # it is told apart from a slow one
    live_run(finished, {**HEARTBEAT, "at": time.time() - SILENT_SECONDS + 5})
    held = alone(finished, kept(finished).run.run_id)
    with held, closing(Follower(finished, "last")) as follower:
        assert not any(isinstance(event, Finished) for event in follower.drain())
        live_run(finished, {**HEARTBEAT, "at": time.time() - SILENT_SECONDS - 1})
        end = follower.drain()[-1]
    assert isinstance(end, Finished)
    assert (end.state, end.reason) == (RunState.STOPPED, "The process that ran it is gone.")


@pytest.mark.thorough
def test_run_elsewhere_is_followed_but_not_resumed(endpoint: Scripted, store_path: Path) -> None:
    endpoint.answer = lambda asked: translated(asked, seconds=0.05)
    process = spawn("begin", store_path, endpoint.url, 100)
    while len(endpoint.asked) < 10:
        assert process.poll() is None
    heard = Heard()
    refuses(UsageError, "is under way in another process", resume, store_path, heard)
    assert "under way" in heard.failed.message
    seen = follow(store_path)
    out, problems = process.communicate(timeout=600)
    assert out.strip() == RunState.COMPLETE, problems
    end = seen[-1]
    assert isinstance(end, Finished)
    with closing(open_store(store_path)) as connection:
        assert end.run_id == find_run(connection, "last").run_id
    assert (end.state, end.done) == (RunState.COMPLETE, 100)
    figures = [event for event in seen if isinstance(event, Progress)]
    assert any(progress.in_flight for progress in figures)
    assert kept(store_path).card is not None


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for a process that answers as long as a busy machine may take."""
    monkeypatch.setattr(steering, "PATIENCE_SECONDS", 600.0)


def test_both_who_steer_are_told_what_holds(endpoint: Scripted, store_path: Path) -> None:
    with under_way(store_path, endpoint) as heard:
        assert ask(store_path, "last", ControlRequest.PAUSE) == "Paused: what is under way is finished."
        assert heard.control.state is RunState.PAUSED
        assert ask(store_path, "last", ControlRequest.PAUSE) == "It was paused already."
        assert heard.control.state is RunState.PAUSED
        assert ask(store_path, "last", ControlRequest.LIMIT, 2) == "At most 2 calls at once."
        assert ask(store_path, "last", ControlRequest.GO_ON) == "Going on."
        assert heard.control.most_concurrency == 2
        assert ask(store_path, "last", ControlRequest.DRAIN).startswith("Draining: ")
        said = steering.OVER
        while said == steering.OVER or said.startswith("It is ending: "):  # until it has drained
            try:
                said = ask(store_path, "last", ControlRequest.GO_ON)
            except UsageError as told:
                said = str(told)
        assert "has stopped; `rosetta resume" in said
    assert kept(store_path).run.state is RunState.STOPPED
    assert query(store_path, "SELECT * FROM steering") == []


def test_unknown_wish_is_answered(endpoint: Scripted, store_path: Path) -> None:
    with under_way(store_path, endpoint) as heard, closing(open_store(store_path)) as connection:
        run = find_run(connection, "last").id
        for wish, calls in (("\x1b[31mdelete", None), ("limit", "many"), ("limit", b"2")):
            write_wish(connection, run, wish, calls)  # type: ignore[arg-type]
        assert ask(store_path, "last", ControlRequest.PAUSE) == "Paused: what is under way is finished."
        answers = query(store_path, "SELECT DISTINCT answer FROM steering")
        assert (answers, heard.control.most_concurrency) == ([(steering.UNKNOWN,)], None)


def test_early_wish_is_heard(endpoint: Scripted, store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = threading.Event()

    def late(path: Path) -> sqlite3.Connection:
        assert asked.wait(600)
        return open_store(path)

    monkeypatch.setattr(steering, "open_store", late)
    with under_way(store_path, endpoint) as heard, closing(open_store(store_path)) as connection:
        number = write_wish(connection, find_run(connection, "last").id, ControlRequest.PAUSE, None)
        asked.set()
        assert ask(store_path, "last", ControlRequest.LIMIT, 2) == "At most 2 calls at once."
        assert answer_of(connection, number) == "Paused: what is under way is finished."
        assert heard.control.state is RunState.PAUSED


@pytest.mark.thorough
def test_kill_told_at_once(endpoint: Scripted, store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither waits until the heartbeat is old: the hold on the run went with its process."""
    monkeypatch.setattr(following, "POLL_SECONDS", 0.0)
    monkeypatch.setattr(following, "DOUBT_SECONDS", 0.0)
    monkeypatch.setattr("harness.store.runs.SILENT_SECONDS", 3600.0)
    endpoint.answer = slowly
    process = spawn("begin", store_path, endpoint.url, SIZE)
    while not endpoint.asked or kept(store_path).run.state is not RunState.RUNNING:
        time.sleep(0.02)
    assert ask(store_path, "last", ControlRequest.PAUSE).startswith("Paused")
    with closing(Follower(store_path, "last")) as follower:
        assert not any(isinstance(event, Finished) for event in follower.drain())
        process.send_signal(signal.SIGKILL)
        process.communicate()
        refuses(UsageError, r"is gone\. What it stored is safe", ask, store_path, "last", ControlRequest.GO_ON)
        events: list[Event] = []
        while not (events and isinstance(events[-1], Finished)):
            events += follower.drain()
    assert events[-1].reason == "The process that ran it is gone."
    assert query(store_path, "SELECT * FROM steering") == []


def test_earlier_wish_is_not_done_stops_are_seen(endpoint: Scripted, store_path: Path) -> None:
    number, method = begun(store_path, corpus(6), chat_plan(endpoint.url))
    with closing(open_store(store_path)) as connection:
        write_wish(connection, number, ControlRequest.STOP, None)
    heard = Heard()
    execute_run(store_path, number, method, heard, heard.control)
    assert heard.finished.state is RunState.COMPLETE
    assert query(store_path, "SELECT * FROM steering") == []
    heard = Heard(react=lambda event, control: control.drain())
    run_corpus(store_path, corpus(30), chat_plan(endpoint.url), heard)
    end = follow(store_path)[-1]
    assert isinstance(end, Finished)
    assert (end.state, end.done, end.card_hash) == (RunState.STOPPED, heard.finished.done, None)


def test_silent_process_is_told(store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steering, "PATIENCE_SECONDS", 0.1)
    with closing(open_store(store_path)) as connection:
        number = factory.add_run(connection)
        run = find_run(connection, "last")
        set_live(connection, number, RunState.RUNNING, Live(at=time.time()))
        with (
            alone(store_path, run.run_id),
            pytest.raises(UsageError, match=r"has not answered for 0\.1 s\. Nothing was changed"),
        ):
            ask(store_path, run.run_id, ControlRequest.STOP)
        assert open_wishes(connection, number) == []
    for before, wish, after, words in (
        (RunState.RUNNING, ControlRequest.GO_ON, RunState.RUNNING, "going on already"),
        (RunState.PAUSED, ControlRequest.STOP, RunState.STOPPED, "Stopped: "),
        (RunState.DRAINING, ControlRequest.PAUSE, RunState.DRAINING, "cannot be taken back"),
        (RunState.DRAINING, ControlRequest.DRAIN, RunState.DRAINING, "ending already"),
        (RunState.DRAINING, ControlRequest.STOP, RunState.STOPPED, "Stopped: "),
        (RunState.STOPPED, ControlRequest.GO_ON, RunState.STOPPED, "cannot be taken back"),
        (RunState.STOPPED, ControlRequest.STOP, RunState.STOPPED, "stopped already"),
    ):
        control = Control()
        control._state = before  # wishes lead to some of these only by way of others
        assert words in done(control, wish)
        assert control.state is after


def a_little_late(asked: Asked) -> Answer:
    return translated(asked, seconds=0.03)


def held_from(number: int, until: Callable[[], bool]) -> Callable[[Asked], Answer]:
    """Answer at once, but hold later answers back until something is so."""
    return lambda asked: translated(asked, until=until if asked.number >= number else None)


def after(count: int, wish: Callable[[Control], object]) -> Callable[[Event, Control], None]:
    """Wish something once so many entries are scored."""
    seen: list[Event] = []

    def react(event: Event, control: Control) -> None:
        if isinstance(event, EntryScored):
            seen.append(event)
            if len(seen) == count:
                wish(control)

    return react


def asked_for(endpoint: Scripted) -> Counter[str]:
    return Counter(asked.source for asked in endpoint.asked)


def test_good_answers_raise_concurrency(endpoint: Scripted, store_path: Path) -> None:
    """A run of sixteen connections begins with four."""
    endpoint.answer = a_little_late
    heard = run_corpus(store_path, corpus(60), chat_plan(endpoint.url, run={"concurrency": 16}))
    assert heard.progress[0].concurrency == 4 < heard.progress[-1].concurrency


def test_drain_stores_all_that_was_asked(endpoint: Scripted, store_path: Path) -> None:
    heard = Heard(react=after(6, Control.drain))
    endpoint.answer = held_from(8, lambda: heard.control.state is RunState.DRAINING)
    run_corpus(store_path, corpus(24), chat_plan(endpoint.url), heard)
    stopped, stored = heard.finished, kept(store_path)
    assert (stopped.state, stopped.reason) == (RunState.STOPPED, None)
    assert 6 <= len(stored.results) < 24
    assert len(endpoint.asked) == len(stored.results) == stopped.done
    assert stored.run.state is RunState.STOPPED
    resumed = resume(store_path)
    assert resumed.finished.state is RunState.COMPLETE
    assert (resumed.started.done, len(resumed.scored)) == (stopped.done, 24 - stopped.done)
    assert set(asked_for(endpoint).values()) == {1}, "resuming asks for the rest alone"
    assert resumed.finished.run_id == stopped.run_id
    assert resumed.finished.elapsed_seconds > stopped.elapsed_seconds


def test_stop_breaks_off_and_keeps_what_is_stored(endpoint: Scripted, store_path: Path) -> None:
    endpoint.answer = lambda asked: translated(asked, seconds=30 if asked.number >= 10 else 0)
    heard = Heard(react=after(10, Control.stop))
    run_corpus(store_path, corpus(20), chat_plan(endpoint.url), heard)
    assert heard.finished.state is RunState.STOPPED
    assert heard.finished.elapsed_seconds < 30, "nobody waited for the answers"
    assert heard.finished.done == len(kept(store_path).results) == 10
    endpoint.answer = translated
    assert resume(store_path).finished.state is RunState.COMPLETE
    assert [each.position for each in kept(store_path).results] == list(range(20))


def test_pause_starts_nothing_new(endpoint: Scripted, store_path: Path) -> None:
    asked_when_quiet: list[int] = []

    def quiet() -> bool:
        return len(asked_when_quiet) >= 4

    def react(event: Event, control: Control) -> None:
        if isinstance(event, EntryScored) and len(heard.scored) == 8:
            control.pause()
        if isinstance(event, Progress) and event.state is RunState.PAUSED and not event.in_flight:
            asked_when_quiet.append(len(endpoint.asked))
            if len(asked_when_quiet) == 4:
                control.go_on()

    heard = Heard(react=react)
    endpoint.answer = held_from(12, lambda: heard.control.state is not RunState.RUNNING or quiet())
    run_corpus(store_path, corpus(20), chat_plan(endpoint.url), heard)
    assert heard.finished.state is RunState.COMPLETE
    assert len(set(asked_when_quiet)) == 1
    assert 8 <= asked_when_quiet[0] < 20


@pytest.mark.parametrize(("before", "then"), [(2, 8), (8, 2)])
def test_limit_of_calls_moves(endpoint: Scripted, store_path: Path, before: int, then: int) -> None:
    endpoint.answer = a_little_late

    def change(control: Control) -> None:
        control.limit(then)
        endpoint.most_under_way = 0

    heard = Heard(react=after(12, change))
    run_corpus(store_path, corpus(64), chat_plan(endpoint.url, run={"concurrency": before}), heard)
    assert heard.finished.state is RunState.COMPLETE
    assert heard.progress[-1].most_concurrency == then
    assert endpoint.most_under_way <= max(before, then)
    if then > before:
        assert endpoint.most_under_way == then
    else:
        assert max(len(progress.in_flight) for progress in heard.progress[-3:]) <= then


class Till:
    """Adds up what the endpoint would charge, hung and broken calls included."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.charged = 0.0

    def __call__(self, asked: Asked) -> Answer:
        size = len(json.dumps(asked.body, ensure_ascii=False).encode())
        prompt, output = self.dice.randrange(size), self.dice.randrange(41)
        kind = self.dice.choice(["good"] * 6 + ["hangs", "breaks", "429", "500"])
        if kind in {"429", "500"}:
            return error(int(kind))
        self.charged += (prompt * 100 + output * 1000) / 1e6
        usage = {"prompt_tokens": prompt, "completion_tokens": output}
        reply = json.dumps(completion(asked.source.upper(), usage=usage)).encode()
        if kind == "hangs":
            return Answer(body=reply, seconds=2)
        return Answer(body=reply, cut_after=9 if kind == "breaks" else None)


@pytest.mark.parametrize("seed", first(1, [1, 2, 3]))
def test_budget_holds_again(endpoint: Scripted, store_path: Path, prices: Path, seed: int) -> None:
    till = Till(seed)
    endpoint.answer = till
    plan = chat_plan(
        endpoint.url, prices=prices, max_tokens=40,
        run={"budget_usd": 1.2, "concurrency": 8, "timeout_seconds": 0.3, "most_attempts": 1},
    )  # fmt: skip
    heard = run_corpus(store_path, corpus(40), plan)
    for _ in range(4):
        if heard.finished.state is RunState.COMPLETE:
            break
        heard = resume(store_path)
        assert till.charged <= 1.2
    last = heard.progress[-1]
    assert till.charged <= last.spent_usd + 1e-9 <= 1.2 + 1e-9
    assert last.budget_usd == 1.2
    assert till.charged > 0.3


def test_money_of_a_stop_counts(endpoint: Scripted, store_path: Path, prices: Path) -> None:
    """Calls that were broken off may have been charged, though no row tells of them."""
    endpoint.answer = lambda asked: translated(asked, seconds=0 if asked.number < 3 else 30)
    plan = chat_plan(endpoint.url, prices=prices, max_tokens=40, run={"budget_usd": 1.0})
    heard = run_corpus(store_path, corpus(12), plan, Heard(react=after(3, Control.stop)))
    rows = sum(each.spent_usd or 0 for each in kept(store_path).results)
    assert heard.progress[-1].spent_usd > rows
    endpoint.answer = translated
    again = Heard()
    resume(store_path, again)
    assert again.progress[0].spent_usd == pytest.approx(heard.progress[-1].spent_usd)


def test_reached_budget_stops_a_run(endpoint: Scripted, store_path: Path, prices: Path) -> None:
    plan = chat_plan(endpoint.url, prices=prices, max_tokens=40, run={"budget_usd": 0.2})
    heard = run_corpus(store_path, corpus(24), plan)
    assert heard.finished.state is RunState.STOPPED
    assert heard.finished.reason is not None
    assert heard.finished.reason.startswith("The next call could cost up to $")
    assert "left of the budget of $0.2000: raise it, or allow fewer" in heard.finished.reason
    assert 0 < heard.finished.done < 24
    resumed = resume(store_path, budget_usd=50.0)
    assert resumed.finished.state is RunState.COMPLETE
    assert resumed.progress[-1].budget_usd == 50
    assert set(asked_for(endpoint).values()) == {1}


SECRET = "the medicine bundle"


def test_secret_entries_are_kept_nowhere_else(
    endpoint: Scripted, store_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    said: list[str] = []
    listeners = [PlainLines(said.append), JsonLines(said.append, set(range(8)))]

    def react(event: Event, _: Control) -> None:
        for listener in listeners:
            listener(event)

    def answer(asked: Asked) -> Answer:
        kinds = [error(500, asked.source), error(400, asked.source), translated(asked)]
        return kinds[asked.number % 3]

    endpoint.answer = answer
    given = corpus(8, segment="held_out", source=SECRET, reference=f"{SECRET} reference")
    for _ in range(2):
        run_corpus(store_path, given, chat_plan(endpoint.url), Heard(react=react))
    assert len(endpoint.asked) == 16  # never answered from the cache
    assert query(store_path, "SELECT count(*) FROM replies") == [(0,)]
    rows = kept(store_path).results
    assert {each.error_class for each in rows} == {ErrorClass.SERVER, ErrorClass.REQUEST, None}
    assert not any(SECRET.lower() in (each.error or "").lower() for each in rows)
    everything = "\n".join(said) + caplog.text
    assert SECRET.lower() not in everything.lower()
    assert any(json.loads(line).get("withheld") for line in said if line.startswith("{"))
    for segment in ("gold_standard", "held_out"):
        given = corpus(3, segment=segment, source=SECRET)
        with pytest.raises(UsageError, match="secret segment") as caught:
            run_corpus(store_path, given, chat_plan("https://api.model.example/v1"))
        assert SECRET not in str(caught.value)


WISHES: dict[str, Callable[[Control], None]] = {
    name: getattr(Control, name) for name in ("pause", "go_on", "drain", "stop")
}


def test_severity_of_wishes_and_signals_in_their_middle() -> None:
    for wishes, state in (
        ("", RunState.RUNNING), ("pause", RunState.PAUSED), ("pause go_on", RunState.RUNNING),
        ("go_on", RunState.RUNNING), ("drain", RunState.DRAINING),
        ("drain go_on", RunState.DRAINING), ("drain pause", RunState.DRAINING),
        ("pause drain", RunState.DRAINING), ("drain stop", RunState.STOPPED),
        ("stop drain", RunState.STOPPED), ("stop go_on", RunState.STOPPED),
        ("pause stop pause", RunState.STOPPED),
    ):  # fmt: skip
        control = Control()
        for wish in wishes.split():
            WISHES[wish](control)
        assert control.state is state, wishes
    heard: list[RunState] = []
    control = Control()
    control.listen(lambda: heard.append(control.state))
    for wish in ["pause", "pause", "go_on", "go_on", "drain", "drain", "stop", "stop"]:
        WISHES[wish](control)
    assert heard == [RunState.PAUSED, RunState.RUNNING, RunState.DRAINING, RunState.STOPPED]
    assert control.most_concurrency is None
    control.limit(0)
    assert control.most_concurrency == 1
    # Python runs signal handlers between any two steps of the main thread, inside a lock too
    control = Control()
    before = signal.signal(signal.SIGUSR1, lambda *_: control.stop())
    try:
        with control._lock:  # the step of a wish at which the signal comes
            os.kill(os.getpid(), signal.SIGUSR1)
            while control.state is not RunState.STOPPED:
                pass
    finally:
        signal.signal(signal.SIGUSR1, before)
