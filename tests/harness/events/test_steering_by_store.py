"""A run steered from another process by the store: asked, done, answered, and never waited for in vain."""

from __future__ import annotations

import signal
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from harness.core.failures import UsageError
from harness.core.run_state import RunState
from harness.events import following, steering
from harness.events.control import Control
from harness.events.following import Follower
from harness.events.kinds import Event, Finished
from harness.events.steering import Wish, ask, done
from harness.run.running import execute_run
from harness.store.file.database import open_store
from harness.store.file.openings import Live
from harness.store.holding import alone, answer_of, open_wishes, write_wish
from harness.store.runs import find_run, set_live
from tests.harness.card import factory
from tests.harness.evaluation import Heard, begun, chat_plan, corpus, kept, query
from tests.harness.events.slow_run import SIZE, slowly, under_way
from tests.harness.process import spawn
from tests.harness.scripted import Scripted


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for a process that answers as long as a busy machine may take."""
    monkeypatch.setattr(steering, "PATIENCE_SECONDS", 600.0)


def test_both_who_steer_are_told_what_holds(endpoint: Scripted, store_path: Path) -> None:
    with under_way(store_path, endpoint) as heard:
        assert ask(store_path, "last", Wish.PAUSE) == "Paused: what is under way is finished."
        assert heard.control.state is RunState.PAUSED
        assert ask(store_path, "last", Wish.PAUSE) == "It was paused already."
        assert heard.control.state is RunState.PAUSED
        assert ask(store_path, "last", Wish.LIMIT, 2) == "At most 2 calls at once."
        assert ask(store_path, "last", Wish.GO_ON) == "Going on."
        assert heard.control.most_concurrency == 2
        assert ask(store_path, "last", Wish.DRAIN).startswith("Draining: ")
        said = steering.OVER
        while said == steering.OVER or said.startswith("It is ending: "):  # until it has drained
            try:
                said = ask(store_path, "last", Wish.GO_ON)
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
        assert ask(store_path, "last", Wish.PAUSE) == "Paused: what is under way is finished."
        answers = query(store_path, "SELECT DISTINCT answer FROM steering")
        assert (answers, heard.control.most_concurrency) == ([(steering.UNKNOWN,)], None)


def test_wish_before_the_run_listens_is_heard(
    endpoint: Scripted, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = threading.Event()

    def late(path: Path) -> sqlite3.Connection:
        assert asked.wait(600)
        return open_store(path)

    monkeypatch.setattr(steering, "open_store", late)
    with under_way(store_path, endpoint) as heard, closing(open_store(store_path)) as connection:
        number = write_wish(connection, find_run(connection, "last").id, Wish.PAUSE, None)
        asked.set()
        assert ask(store_path, "last", Wish.LIMIT, 2) == "At most 2 calls at once."
        assert answer_of(connection, number) == "Paused: what is under way is finished."
        assert heard.control.state is RunState.PAUSED


@pytest.mark.thorough
def test_killed_run_is_told_at_once(
    endpoint: Scripted, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither waits until the heartbeat is old: the hold on the run went with its process."""
    monkeypatch.setattr(following, "POLL_SECONDS", 0.0)
    monkeypatch.setattr(following, "DOUBT_SECONDS", 0.0)
    monkeypatch.setattr("harness.store.runs.SILENT_SECONDS", 3600.0)
    endpoint.answer = slowly
    process = spawn("begin", store_path, endpoint.url, SIZE)
    while not endpoint.asked or kept(store_path).run.state is not RunState.RUNNING:
        time.sleep(0.02)
    assert ask(store_path, "last", Wish.PAUSE).startswith("Paused")
    with closing(Follower(store_path, "last")) as follower:
        assert not any(isinstance(event, Finished) for event in follower.drain())
        process.send_signal(signal.SIGKILL)
        process.communicate()
        with pytest.raises(UsageError, match=r"is gone\. What it stored is safe"):
            ask(store_path, "last", Wish.GO_ON)
        events: list[Event] = []
        while not (events and isinstance(events[-1], Finished)):
            events += follower.drain()
    assert events[-1].reason == "The process that ran it is gone."
    assert query(store_path, "SELECT * FROM steering") == []


def test_wish_of_an_earlier_stretch_is_not_done(endpoint: Scripted, store_path: Path) -> None:
    number, method = begun(store_path, corpus(6), chat_plan(endpoint.url))
    with closing(open_store(store_path)) as connection:
        write_wish(connection, number, Wish.STOP, None)
    heard = Heard()
    execute_run(store_path, number, method, heard, heard.control)
    assert heard.finished.state is RunState.COMPLETE
    assert query(store_path, "SELECT * FROM steering") == []


def test_silent_process_takes_the_wish_back(
    store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steering, "PATIENCE_SECONDS", 0.1)
    with closing(open_store(store_path)) as connection:
        number = factory.add_run(connection)
        run = find_run(connection, "last")
        set_live(connection, number, RunState.RUNNING, Live(at=time.time()))
        with (
            alone(store_path, run.run_id),
            pytest.raises(UsageError, match=r"has not answered for 0\.1 s\. Nothing was changed"),
        ):
            ask(store_path, run.run_id, Wish.STOP)
        assert open_wishes(connection, number) == []


def test_no_wish_undoes_an_end() -> None:
    for before, wish, after, words in (
        (RunState.RUNNING, Wish.GO_ON, RunState.RUNNING, "going on already"),
        (RunState.PAUSED, Wish.STOP, RunState.STOPPED, "Stopped: "),
        (RunState.DRAINING, Wish.PAUSE, RunState.DRAINING, "cannot be taken back"),
        (RunState.DRAINING, Wish.DRAIN, RunState.DRAINING, "ending already"),
        (RunState.DRAINING, Wish.STOP, RunState.STOPPED, "Stopped: "),
        (RunState.STOPPED, Wish.GO_ON, RunState.STOPPED, "cannot be taken back"),
        (RunState.STOPPED, Wish.STOP, RunState.STOPPED, "stopped already"),
    ):
        control = Control()
        control._state = before  # wishes lead to some of these only by way of others
        assert words in done(control, wish)
        assert control.state is after
