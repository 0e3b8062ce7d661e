"""Of each run there is one screen, and it shows the run as it is: here, elsewhere, going on, at its end."""

from __future__ import annotations

import asyncio
import threading
from contextlib import closing
from pathlib import Path

import pytest
from textual.pilot import Pilot

from harness.core.run_state import RunState
from harness.store.file.database import open_store
from harness.store.runs import find_run
from rosetta_tui.app.app import Begin
from rosetta_tui.app.launch import follow
from rosetta_tui.entry.table import Order
from rosetta_tui.home.screen import HomeScreen
from rosetta_tui.live.scores import ScoresScreen
from rosetta_tui.live.screen import LiveScreen
from rosetta_tui.session.watched import Followed, WatchedRun
from tests.harness.evaluation import Heard, chat_plan, corpus, resume, run_corpus
from tests.harness.events.slow_run import SIZE, under_way
from tests.harness.scripted import Answer, Asked, Scripted, translated
from tests.tui.new_run.form import Starting
from tests.tui.screens import at_rest, notices, press, settle, text

__all__ = ["under_way"]

pytestmark = pytest.mark.costly("real runs behind the app")


class Real(Starting):
    """The app over real runs: begun here, or followed by the store."""

    def _follow_run(self, run_id: str) -> Followed:
        return follow(self._data, run_id)


def stopped(path: Path, endpoint: Scripted) -> str:
    """A run of 12 entries that was drained at the third; gives its id."""
    heard = Heard()

    def answer(asked: Asked) -> Answer:
        if asked.number == 3:
            heard.control.drain()
        return translated(asked)

    endpoint.answer = answer
    run_corpus(path, corpus(12), chat_plan(endpoint.url, run={"concurrency": 1}), heard)
    assert heard.finished.state is RunState.STOPPED
    endpoint.answer = translated
    return heard.finished.run_id


def state(path: Path) -> RunState:
    with closing(open_store(path)) as store:
        return find_run(store, "last").state


async def until_complete(pilot: Pilot[None]) -> LiveScreen:
    """Wait until the screen that is seen shows a sealed run."""
    while not (isinstance(screen := pilot.app.screen, LiveScreen) and screen.live.complete):
        await pilot.pause(0.02)
        await settle(pilot)
        if isinstance(screen, LiveScreen):
            screen.look_afterwards()
    await settle(pilot)
    return screen


def live_screens(app: Real) -> list[LiveScreen]:
    return [each for each in app.screen_stack if isinstance(each, LiveScreen)]


async def test_resumed_run_takes_the_old_screens_place(tmp_path: Path, endpoint: Scripted) -> None:
    path = tmp_path / "rosetta.sqlite"
    await asyncio.to_thread(stopped, path, endpoint)
    app = Real(path)
    async with at_rest(app, (120, 36)) as (_, pilot):
        await press(pilot, "enter")
        [old] = live_screens(app)
        old.table.wish(Order(sort="headline"))
        await pilot.press("R")
        new = await until_complete(pilot)
        assert new is not old
        assert live_screens(app) == [new]
        assert new.table.order.sort == "headline"
        await press(pilot, "q")
        assert isinstance(app.screen, HomeScreen)
        assert "waiting for you" not in text(app)
        assert not old.is_running
        await press(pilot, "enter")
        assert app.screen is new
        await pilot.press("q")


@pytest.mark.thorough
async def test_superseded_screen_below_is_skipped(tmp_path: Path, endpoint: Scripted) -> None:
    path = tmp_path / "rosetta.sqlite"
    await asyncio.to_thread(stopped, path, endpoint)
    app, begin = Real(path), threading.Event()
    start = app.start_run

    def late(begun: Begin) -> WatchedRun:
        assert begin.wait(600)
        return start(begun)

    app.start_run = late
    async with at_rest(app, (120, 36)) as (_, pilot):
        await press(pilot, "enter")
        await pilot.press("R")
        await pilot.press("m")  # its metrics come on top while the run begins
        while not isinstance(app.screen, ScoresScreen):
            await pilot.pause()
        begin.set()
        await until_complete(pilot)
        while not isinstance(app.screen, HomeScreen):
            await press(pilot, "q")
            for _ in range(1000):  # looks until the older one has gone by itself
                if not getattr(app.screen, "superseded", False):
                    break
                await pilot.pause(0.02)
            assert not getattr(app.screen, "superseded", False)
        assert live_screens(app) == []


@pytest.mark.thorough
async def test_run_resumed_elsewhere_is_shown_so(tmp_path: Path, endpoint: Scripted) -> None:
    path = tmp_path / "rosetta.sqlite"
    await asyncio.to_thread(stopped, path, endpoint)
    app = Real(path)
    async with at_rest(app, (120, 36)) as (_, pilot):
        await press(pilot, "enter")
        assert "Stopped." in text(app)
        await asyncio.to_thread(resume, path)
        screen = await until_complete(pilot)
        assert live_screens(app) == [screen]
        assert "Stopped." not in text(app)


async def test_run_of_another_process_is_steered(tmp_path: Path, endpoint: Scripted) -> None:
    path = tmp_path / "rosetta.sqlite"
    app = Real(path)
    with under_way(path, endpoint) as heard:
        async with at_rest(app, (120, 36), notifications=True) as (_, pilot):
            await press(pilot, "enter")
            for key, held, words in (
                ("space", RunState.PAUSED, "Paused: what is under way is finished."),
                ("space", RunState.RUNNING, "Going on."),
                ("d", RunState.DRAINING, "Draining: "),
            ):
                await pilot.press(key)
                while not any(words in note for note in notices(app)):
                    await settle(pilot)
                assert heard.control.state is held
                shown = {RunState.PAUSED: "paused", RunState.RUNNING: "running"}.get(held, "")
                while shown not in text(app).splitlines()[0]:
                    await settle(pilot)
            while "Stopped." not in text(app):
                await settle(pilot)
            assert not any(
                word in text(app).splitlines()[-1] for word in ("Pause", "Drain", "Stop ")
            )
    assert state(path) is RunState.STOPPED
    assert len(heard.scored) < SIZE
