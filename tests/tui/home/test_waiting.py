"""What waits for a person, and where Enter leads."""

from __future__ import annotations

import asyncio
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from harness.core.run_state import RunState
from harness.method.options import MethodOptions
from harness.setup.plan import Plan
from harness.store.file.database import open_store
from harness.store.run_list import list_runs
from harness.store.runs import find_run, set_live
from rosetta_tui.app.app import Begin
from rosetta_tui.home.screen import HomeScreen
from rosetta_tui.home.waiting import (
    Lead,
    WaitingItem,
    WaitingList,
    keep_aside,
    read_aside,
    waiting_runs,
)
from rosetta_tui.live.screen import LiveScreen
from rosetta_tui.runs.go_on import RetryScreen, settings_of
from rosetta_tui.session.engine import Engine
from rosetta_tui.session.watched import WatchedRun
from tests.harness.evaluation import chat_plan, corpus, run_corpus
from tests.harness.scripted import Scripted, error, translated
from tests.tui.runs.made import noting, run, stopped
from tests.tui.scenes import scene, sealed
from tests.tui.screens import App, at_rest, press, settle, stands, text


def leads(*runs: object) -> list[tuple[Lead, str]]:
    return [(item.lead, item.name[:8]) for item in waiting_runs(runs)]  # type: ignore[arg-type]


def test_cut_runs_come_first_then_failed_entries() -> None:
    runs = [run(1, failed=2), run(2, state=RunState.STOPPED, done=4), run(3), run(4, failed=1)]
    assert leads(*runs) == [
        (Lead.RESUME, "00000002"),
        (Lead.RETRY, "00000001"),
        (Lead.RETRY, "00000004"),
    ]
    assert "Stopped, 4 of 10 done" in next(iter(waiting_runs(runs))).words
    for state in (RunState.RUNNING, RunState.PAUSED, RunState.DRAINING):
        assert leads(run(1, state=state, failed=3)) == [], "a process is at it"
    failed = run(1, failed=2)
    assert leads(replace(failed, imported=True)) == []
    assert leads(run(2, retry_of=failed.run_id), failed) == []
    assert leads(replace(failed, state=RunState.STOPPED, imported=True)) == []


def chat_failures(path: Path, endpoint: Scripted) -> str:
    """Make a run of which two entries failed, at an endpoint that answers them from then on; gives its id."""
    endpoint.answer = lambda asked: error(400) if asked.number in {3, 7} else translated(asked)
    heard = run_corpus(path, corpus(10), chat_plan(endpoint.url))
    endpoint.answer = translated
    return heard.finished.run_id


async def test_enter_on_a_cut_run_goes_on_with_it(tmp_path: Path) -> None:
    made = stopped(tmp_path / "s.sqlite", stored=5)
    app = App(made)
    begun = noting(app)
    async with at_rest(app, (120, 36)) as (_, pilot):
        await pilot.press("shift+tab")
        await press(pilot, "enter")
        await settle(pilot)
        assert isinstance(app.screen, LiveScreen)
        assert app.screen.control is app.control
    assert [each["run_id"] for each in begun] == [made.run_id]


@pytest.mark.thorough
async def test_failed_entries_are_asked_for_again(tmp_path: Path, endpoint: Scripted) -> None:
    path = tmp_path / "s.sqlite"
    run_id = await asyncio.to_thread(chat_failures, path, endpoint)
    app = App(None, path)
    engines: list[Engine] = []

    def start(begin: Begin) -> WatchedRun:
        engine = begin(path)
        engines.append(engine)
        engine.start()
        return WatchedRun(engine.events, engine.control)

    app.start_run = start
    async with at_rest(app, (120, 36)) as (_, pilot):
        assert "2 entries failed" in text(app)
        await press(pilot, "R")
        assert stands(app, RetryScreen)
        assert "Ask again for 2 failed entries" in text(app)
        field = app.screen.query_one("#concurrency")
        field.focus()
        field.value = "many"  # type: ignore[attr-defined]
        await press(pilot, "enter")
        assert stands(app, RetryScreen)
        assert "calls at once: A whole number is wanted." in text(app)
        field.value = "3"  # type: ignore[attr-defined]
        await settle(pilot)
        assert "is wanted" not in text(app)
        await press(pilot, "enter")
        await settle(pilot)
        assert stands(app, LiveScreen)
        [engine] = engines
        engine.wait(600)
        await settle(pilot)
        await press(pilot, "q")
        assert stands(app, HomeScreen)
        assert "entries failed" not in text(app)
    with closing(open_store(path)) as store:
        again = next(each for each in list_runs(store) if each.retry_of == run_id)
        assert (again.state, again.failed) == ("complete", 0)
        assert find_run(store, again.run_id).plan["run"]["concurrency"] == 3


async def test_outputs_made_elsewhere_would_be_the_same_again(tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    plan = chat_plan("x").model_copy(update={"method": "replay"}).model_dump_json()
    change = "UPDATE runs SET setup = json_set(setup, '$.method', 'replay'), plan = ?"
    made.store.execute(change, (plan,))
    async with at_rest(App(made), (80, 24)) as (app, pilot):
        assert "waiting for you" not in text(app)
        await press(pilot, "R")
        assert stands(app, RetryScreen)
        assert "the same again" in text(app)
        assert "budget" not in text(app)


def test_the_form_shows_what_the_plan_says() -> None:
    options = MethodOptions(source_language="en", target_language="crk", model="m", temperature=0)
    before = settings_of(Plan(method="chat", options=options))
    assert (before["model"], before["temperature"], before["budget_usd"]) == ("m", "0", "")


async def test_what_waits_is_put_aside_until_something_about_it_is_new(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", total=10, stored=5)
    set_live(made.store, made.number, RunState.STOPPED, None)

    async def waits(*keys: str) -> bool:
        async with at_rest(App(None, made.path), (120, 36)) as (app, pilot):
            listed = app.screen.query_one(WaitingList)
            if keys:
                listed.focus()
            await press(pilot, *keys)
            return bool(listed.display)

    assert await waits()
    assert not await waits("x")
    assert not await waits(), "it is remembered"
    made.store.execute("DELETE FROM results WHERE run = ? AND position = 0", (made.number,))
    assert await waits(), "4 of 10 is another wait than 5 of 10"


def test_a_put_aside_item_that_was_gone_counts_as_new(tmp_path: Path) -> None:
    marks = [("resume", "a", "Stopped"), ("review", "", "1 file")]
    keep_aside(tmp_path, marks)
    assert read_aside(tmp_path) == frozenset(marks)
    listed = WaitingList(tmp_path)
    listed.forget_gone((Lead.REVIEW, Lead.IMPORT), [])
    assert read_aside(tmp_path) == {marks[0]}
    listed.forget_gone((Lead.RESUME, Lead.RETRY), [WaitingItem(Lead.RESUME, "a", "Stopped")])
    assert [*listed.aside] == [marks[0]]
    for broken in (b"", b"[1, [2], [[], 1, 2]]", b"[" * 5000, b"{}"):
        (tmp_path / "put-aside.json").write_bytes(broken)
        assert read_aside(tmp_path) == frozenset()
