"""What another process does to a store or a file while a screen over it stands open."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.api import CorpusRequest
from harness.core.failures import StoreError
from harness.store.deletion import delete_run
from harness.store.file.database import open_store
from harness.store.run_list import list_runs
from rosetta_tui.cli import _run  # ``main`` ends the process
from rosetta_tui.compare import acts
from rosetta_tui.compare.entry_screen import ComparedEntryScreen
from rosetta_tui.corpus import open_corpus as opened_corpus
from rosetta_tui.corpus.open_corpus import open_corpus
from rosetta_tui.corpus.screen import CorpusScreen
from rosetta_tui.entry.table import EntryTable
from rosetta_tui.show import run_facts
from rosetta_tui.show.columns import read_all
from tests.corpora.making import json_file
from tests.tui.compare.compared import WIDE, A, B, made, path, shown
from tests.tui.faulty import FAULTY
from tests.tui.scenes import scene, sealed
from tests.tui.screens import App, at_rest, notices, press, settle, text

__all__ = ["made", "path"]


def erase_all(path: Path) -> None:
    with closing(open_store(path)) as store:
        for run in list_runs(store):
            delete_run(store, run.number)


async def test_a_compared_run_is_erased(path: Path) -> None:
    app = App(None, path)
    async with app.run_test(size=WIDE) as pilot:
        screen = await shown(pilot, path, A, B)
        erase_all(path)
        assert screen.table.texts is not None
        screen.table.texts._entries.forget()  # as if they had never been on the screen
        await press(pilot, "end", "home")
        assert "gone from it since" in text(app)
        assert screen.table.entries is not None
        records = [one async for some in read_all(screen.table.entries) for one in some]
        assert len(records) == screen.table.entries.count
        await press(pilot, "enter")
        assert isinstance(app.screen, ComparedEntryScreen)
        assert "gone from it since" in text(app)
        await press(pilot, "y", "right", "v", "q")
        assert app.screen_stack[-1] is screen


def make_newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("PRAGMA user_version = 99")


def sha256_of(path: Path) -> str:
    with closing(open_store(path)) as store:
        return str(store.execute("SELECT sha256 FROM corpora").fetchone()[0])


async def test_the_store_of_a_corpus_cannot_be_opened_any_more(tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    app = App(made)
    async with app.run_test() as pilot:
        await settle(pilot)
        screen = CorpusScreen(made.path, sha256_of(made.path))
        app.push_screen(screen)
        await settle(pilot)
        make_newer(made.path)
        before = screen.table.order
        for act in (screen.action_runs, screen.action_filter, screen.examine_again):
            act()
            await settle(pilot)
        for order in (before.by("source"), replace(before, search="a")):
            screen.table.wish(order)
            await settle(pilot)
            assert screen.table.order == before
        screen.table.wish(before.by("source"))
        screen.table.wish(replace(before, search="b"))
        await settle(pilot)
        assert screen.table.order == before
        said = notices(app)
        assert len(said) == 6
        assert all("newer version of Rosetta" in each for each in said)
        assert app.screen is screen


async def test_the_store_of_a_run_cannot_be_opened_any_more(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite")
    made.middle(84)
    app = App(made, watch=True)
    async with app.run_test() as pilot:
        await settle(pilot)
        table = app.screen.query_one(EntryTable)
        make_newer(app.store_path)
        table.wish(replace(table.order, search="a"))
        await settle(pilot)
        table._read()  # as when its next turn comes
        await settle(pilot)
        [said] = notices(app)
        assert "newer version of Rosetta" in said


@pytest.mark.parametrize("place", ["corpora", "leaderboard", "new_run", "plots"])
async def test_a_store_that_is_damaged_is_said_on_every_screen(place: str, tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    async with at_rest(App(made), (120, 40)) as (app, pilot):
        with closing(open_store(made.path)) as store:
            store.execute("UPDATE runs SET plan = '{', opening = '{'")
        await app.action_place(place)
        await settle(pilot)
        await press(pilot, "down")
        here = " ".join(text(app).split())
        assert place == "new_run" or "damaged" in here


async def test_a_damaged_plan_is_said_where_failed_entries_would_be_asked_again(
    tmp_path: Path,
) -> None:
    made = sealed(tmp_path / "s.sqlite")
    app = App(made)
    made.store.execute("UPDATE runs SET plan = '{}'")
    async with at_rest(app, (120, 40)) as (_, pilot):
        await press(pilot, "R")
        [said] = notices(app)
        assert "damaged" in said


@pytest.mark.parametrize("words", [["compare", "last", "last"], ["leaderboard"]], ids=str)
def test_a_store_that_is_damaged_is_said_by_the_commands(
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path))
    made = sealed(tmp_path / "rosetta.sqlite")
    with closing(open_store(made.path)) as store:
        store.execute("UPDATE runs SET plan = '{', opening = '{'")
    assert _run(words) in {1, 2}  # what the program does before its process ends
    assert "fault of the program" not in capfd.readouterr().err


async def test_a_corpus_that_is_left_while_it_is_read_keeps_no_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = sealed(tmp_path / "s.sqlite")
    app, go_on, real = App(made), threading.Event(), opened_corpus.summary_of

    def slow(*given: Any) -> Any:
        go_on.wait(600)
        return real(*given)

    monkeypatch.setattr("rosetta_tui.corpus.screen.summary_of", slow)
    async with app.run_test() as pilot:
        await settle(pilot)
        screen = CorpusScreen(made.path, sha256_of(made.path))
        app.push_screen(screen)
        await pilot.pause()
        [reading] = [worker for worker in app.workers if worker.group == "corpus"]
        await app.pop_screen()
        go_on.set()
        await settle(pilot)
        assert reading.is_finished
        assert screen._store is None  # what was opened for nobody is closed again
        assert screen.summary is None


async def test_an_opened_corpus_that_is_closed_while_it_is_sorted(tmp_path: Path) -> None:
    looked_at = open_corpus(CorpusRequest(json_file(tmp_path, FAULTY)))
    app = App(None, tmp_path / "s.sqlite")
    async with app.run_test() as pilot:
        await settle(pilot)
        screen = CorpusScreen(app.store_path, looked_at.sha256, looked_at)
        app.push_screen(screen)
        await settle(pilot)
        reading = screen._reading  # what a thread of the screen still holds
        await press(pilot, "q")
    with pytest.raises(StoreError, match="open its file again"), reading() as store:
        store.execute("SELECT 1")


async def test_runs_to_add_are_offered_only_where_somebody_still_compares(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, go_on, real = App(None, path), threading.Event(), run_facts.runs_now

    def slow(runs: Any) -> Any:
        go_on.wait(600)
        return real(runs)

    async with app.run_test(size=WIDE) as pilot:
        screen = await shown(pilot, path, A, B)
        monkeypatch.setattr(acts, "runs_now", slow)
        screen.action_add()
        await app.pop_screen()
        go_on.set()
        await settle(pilot)
        assert app.screen_stack[-1] is app.screen
        assert type(app.screen).__name__ == "HomeScreen"
