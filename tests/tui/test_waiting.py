"""What waits for a person, and where Enter leads."""

from __future__ import annotations

import asyncio
import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from harness.events import RunState
from harness.store.database import open_store
from harness.store.runs import find_run, list_runs, set_live
from rosetta_tui.app import Begin
from rosetta_tui.engine import Engine
from rosetta_tui.screens.home import HomeScreen
from rosetta_tui.screens.live import LiveScreen
from rosetta_tui.screens.retry import RetryScreen, settings_of
from rosetta_tui.session import Session
from rosetta_tui.waiting import Lead, waiting_runs
from tests.tui.scenes import scene
from tests.tui.screens import App, settle, text
from tests.tui.test_app_wide import stands
from tests.tui.test_run_query import run


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


@pytest.mark.parametrize("state", [RunState.RUNNING, RunState.PAUSED, RunState.DRAINING])
def test_what_a_process_is_at_waits_for_nobody(state: RunState) -> None:
    assert leads(run(1, state=state, failed=3)) == []


def test_cards_from_elsewhere_and_runs_that_were_asked_again_do_not_wait() -> None:
    failed = run(1, failed=2)
    assert leads(replace(failed, imported=True)) == []
    assert leads(run(2, retry_of=failed.run_id), failed) == []
    assert leads(replace(failed, state=RunState.STOPPED, imported=True)) == []


def demo_failures(path: Path) -> tuple[str, int]:
    """Run the demo in this process, without waiting, with more failed entries; gives its id and how many."""
    from harness.control import Control
    from harness.listening import EventQueue
    from harness.running import go
    from rosetta_tui.demonstration import begin_demo

    engine = begin_demo(path)
    engine._method = engine._method._replay  # type: ignore[attr-defined]
    go(path, engine._number, engine._method, EventQueue(), Control(), engine._resumption)
    with closing(open_store(path)) as store:
        [made] = list_runs(store)
        store.execute(
            "UPDATE results SET error_class = 'timeout', error = 'No answer.', output = NULL"
            " WHERE position IN (3, 7)"
        )
        failed = list_runs(store)[0].failed
    return made.run_id, failed


async def test_enter_on_a_cut_run_goes_on_with_it(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", total=10, stored=5)
    set_live(made.store, made.number, RunState.STOPPED, None)
    app = App(made)
    begun: list[Begin] = []
    start = app._start

    def note(begin: Begin) -> Session:
        begun.append(begin)
        return start(begin)

    app._start = note
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await pilot.press("shift+tab")
        await pilot.press("enter")
        await settle(pilot)
        await settle(pilot)
        assert isinstance(app.screen, LiveScreen)
        assert app.screen.control is app.control
        [begin] = begun
        assert begin.keywords["run_id"] == made.run_id  # type: ignore[attr-defined]
    made.close()


async def test_failed_entries_are_asked_for_again_with_other_settings(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    run_id, failed = await asyncio.to_thread(demo_failures, path)
    app = App(None, path)
    engines: list[Engine] = []

    def start(begin: Begin) -> Session:
        engine = begin(path)
        engines.append(engine)
        engine.start()
        return Session(engine.events, engine.control)

    app._start = start
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        assert f"{failed} entries failed" in text(app)
        await pilot.press("R")
        await settle(pilot)
        assert stands(app, RetryScreen)
        assert f"Ask again for {failed} failed entries" in text(app)
        field = app.screen.query_one("#concurrency")
        field.focus()
        field.value = "many"  # type: ignore[attr-defined]
        await pilot.press("enter")
        await settle(pilot)
        assert stands(app, RetryScreen)
        assert "field 'concurrency'" in text(app)
        field.value = "3"  # type: ignore[attr-defined]
        await pilot.press("enter")
        await settle(pilot)
        await settle(pilot)
        assert stands(app, LiveScreen)
        [engine] = engines
        engine.wait(30)
        await settle(pilot)
        await pilot.press("q")
        await settle(pilot)
        assert stands(app, HomeScreen)
        assert "entries failed" not in text(app)
    with closing(open_store(path)) as store:
        again = next(each for each in list_runs(store) if each.retry_of == run_id)
        assert (again.state, again.failed) == ("complete", failed - 2)
        assert find_run(store, again.run_id).plan["run"]["concurrency"] == 3


def test_the_form_shows_what_the_plan_says() -> None:
    plan = {"options": {"model": "m", "temperature": 0.0}, "run": {"budget_usd": None}}
    before = settings_of(json.loads(json.dumps(plan)))
    assert (before["model"], before["temperature"], before["budget_usd"]) == ("m", "0", "")
