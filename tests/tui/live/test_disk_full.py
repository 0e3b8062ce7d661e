"""A disk that is full when a run is to begin: said, with a way on once there is room again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from harness.api import Ready
from harness.store.file.database import open_store
from harness.store.runs import find_run
from rosetta_tui.live.screen import LiveScreen
from rosetta_tui.session.engine import Engine
from rosetta_tui.session.watched import WatchedRun
from tests.desktop.trouble.causes import full, mounted, pulled
from tests.harness.evaluation import begun, chat_plan, corpus
from tests.harness.scripted import Scripted, serving, translated
from tests.tui.new_run.form import Starting
from tests.tui.screens import lines, settle, text


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A data folder on a disk of 4 MiB."""
    home = tmp_path / "disk"
    home.mkdir()
    mounted(home, 4096)
    try:
        yield home
    finally:
        pulled(home)


@pytest.fixture
def endpoint() -> Iterator[Scripted]:
    with serving(translated) as scripted:
        yield scripted


async def test_a_run_that_had_no_room_to_begin_goes_on_once_there_is(
    disk: Path, endpoint: Scripted
) -> None:
    path = disk / "rosetta.sqlite"
    number, method = begun(path, corpus(5), chat_plan(endpoint.url))
    with closing(open_store(path)) as store:
        run_id = find_run(store, "last").run_id
    app, engine = Starting(path), Engine(Ready(path, number, run_id, method))
    app._initial = WatchedRun(engine.events, engine.control, run_id)
    with closing(open_store(path)):  # somebody has it open: it can be read on a full disk too
        async with app.run_test(size=(80, 24)) as pilot:
            with full(disk):
                engine.start()
                while "the disk is full" not in text(app):
                    await settle(pilot)
                shown = " ".join(text(app).split())
                assert "The run could not begin" in shown
                assert f"rosetta resume {run_id[:8]}" in shown
                assert "what was stored before is safe." in shown
            first = app.screen
            assert isinstance(first, LiveScreen)
            while "Go on" not in lines(app)[-1]:
                first._look_afterwards()
                await settle(pilot)
            await pilot.press("R")
            while not (isinstance(here := app.screen, LiveScreen) and here.live.complete):
                await settle(pilot)
            assert here is not first
            assert "Complete." in text(app)
