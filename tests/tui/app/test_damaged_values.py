"""A damaged value in the store is said where it would stand; the screens go on."""

from __future__ import annotations

import shutil
import sqlite3
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.api import CorpusRequest
from harness.core.failures import StoreError
from harness.core.run_state import RunState
from harness.events import following
from harness.events.following import Follower
from harness.method.options import MethodOptions
from harness.setup.plan import Plan
from harness.store.file.database import open_store
from harness.store.file.openings import Live
from harness.store.run_list import list_runs
from harness.store.runs import set_live
from rosetta_tui.cli import _run  # as the program runs it, without its exit
from rosetta_tui.corpus import open_corpus as opened_corpus
from rosetta_tui.corpus.open_corpus import open_corpus
from rosetta_tui.corpus.screen import CorpusScreen
from rosetta_tui.entry.table import EntryTable
from rosetta_tui.home.screen import HomeScreen
from rosetta_tui.live.screen import LiveScreen
from rosetta_tui.toolkit.messages import ReplayAsked, RunsCompared
from rosetta_tui.toolkit.pages import UNREADABLE, Pages, readable
from tests.corpora.making import json_file
from tests.harness.evaluation import LANGUAGES, corpus, run_corpus
from tests.review.thorough import first
from tests.tui.runs.made import stopped
from tests.tui.scenes import FAULTY, scene, sealed
from tests.tui.screens import App, at_rest, notices, press, settle, showing, text

HURT = {
    "trace": "UPDATE results SET trace = x'c1'", "text": "UPDATE texts SET body = CAST(x'ff00ff' AS TEXT)",
    "rest": "UPDATE entries SET rest = '{'", "dataset": "UPDATE corpora SET dataset = '{'",
    "statistics": "UPDATE results SET statistics = x'c1'", "kind": "UPDATE results SET error_class = 'none'",
}  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs over one corpus."""
    store = tmp_path_factory.mktemp("damaged") / "rosetta.sqlite"
    for words in ("ENTRY NUMBER 3", "ENTRY NUMBER 4"):
        options = MethodOptions(**LANGUAGES, text=words)
        run_corpus(store, corpus(8), Plan(method="constant", options=options))
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return store


@pytest.fixture
def path(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path))
    return Path(shutil.copy(made, tmp_path))


def hurt(path: Path, name: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as store:
        store.execute(HURT[name])


def runs_of(path: Path) -> tuple[str, ...]:
    with closing(sqlite3.connect(path)) as store:
        return tuple(run.run_id for run in list_runs(store))


class Following(App):
    """The app as it is started: a run that is not complete is followed in the store."""

    def _follow_run(self, run_id: str) -> Follower:
        return Follower(self.store_path, run_id)


@pytest.mark.parametrize("damage", first(1, ["rest", "dataset", "text", "statistics"]))
async def test_stopped_run_of_a_damaged_store_opens_nothing(tmp_path: Path, damage: str) -> None:
    made = stopped(tmp_path / "s.sqlite", stored=15)
    async with at_rest(Following(made), (120, 36)) as (app, pilot):
        made.store.execute(HURT[damage])
        await press(pilot, "enter")
        assert isinstance(app.screen, HomeScreen)
        [said] = notices(app)
        assert "damaged" in said


async def test_watched_damage_breaks_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "POLL_SECONDS", 0.0)
    made = scene(tmp_path / "s.sqlite", total=20, stored=15)
    set_live(made.store, made.number, RunState.RUNNING, Live(at=time.time() + 5))
    app = Following(made)
    async with at_rest(app, (120, 36)) as (_, pilot):
        await press(pilot, "enter")
        assert isinstance(app.screen, LiveScreen)
        assert not app.screen.live.over
        made.store.execute("UPDATE runs SET live = '{'")
        await settle(pilot)
        assert app.screen.live.failed is not None
        assert "it is damaged" in app.screen.live.failed.message
        assert "it is damaged" in " ".join(text(app).split())
        await press(pilot, "down", "q")
        assert isinstance(app.screen, HomeScreen)


PLACES = [
    ("run", "trace"), ("corpus", "text"), ("compare", "kind"), ("replay", "trace"), ("run", "rest"), ("run", "text"),
    ("run", "kind"), ("corpus", "rest"), ("compare", "text"), ("compare", "rest"), ("replay", "text"),
]  # fmt: skip


@pytest.mark.parametrize(("where", "damage"), first(2, PLACES))
async def test_damaged_value_is_said_and_screens_go_on(path: Path, where: str, damage: str) -> None:
    app, seen = App(None, path), ""
    ids = runs_of(path)
    async with at_rest(app, (120, 36)) as (_, pilot):
        hurt(path, damage)
        if where == "compare":
            app.post_message(RunsCompared(ids))
        elif where == "replay":
            app.post_message(ReplayAsked(ids[0]))
        else:
            await pilot.press("enter" if where == "run" else "b")
        for key in ("enter", "enter", "right", "v", "y", "q"):
            for _ in range(2):
                await settle(pilot)
            seen += text(app) + "".join(notices(app))
            if where != "replay":
                await pilot.press(key)
    assert "cannot be r" in seen or "it is damaged" in seen


async def test_damaged_scoring_setup_is_said_of_the_entry(path: Path) -> None:
    """The set-up of scoring is read with the first entry that is opened."""
    async with at_rest(App(None, path), (120, 36)) as (app, pilot):
        await press(pilot, "enter")
        hurt(path, "dataset")
        await press(pilot, "enter")
        assert UNREADABLE in text(app)
        await pilot.press("right", "a", "p", "y", "q")


def test_one_damaged_row_hides_no_other() -> None:
    asked: list[Sequence[int]] = []

    def read(places: Sequence[int]) -> dict[int, str]:
        asked.append(places)
        if 3 in places:
            raise sqlite3.OperationalError("Could not decode to UTF-8")
        return {place: f"row {place}" for place in places if place != 4}

    pages = Pages(read)
    pages.load([1, 2, 3, 4])
    assert [pages.get(place) for place in (1, 2, 3, 4)] == ["row 1", "row 2", None, None]
    not_there = [4]  # it may come yet
    assert asked == [[1, 2, 3, 4], [1], [2], [3], [4], not_there]
    pages.forget()
    assert pages.get(1) == "row 1"
    assert asked[6:] == [[1]]


def test_what_a_busy_store_did_not_give_is_read_again() -> None:
    asked: list[Sequence[int]] = []

    def read(places: Sequence[int]) -> dict[int, str]:
        asked.append(places)
        if len(asked) == 1:
            raise sqlite3.OperationalError("database is locked")
        return {place: f"row {place}" for place in places}

    pages = Pages(read)
    pages.load(range(40))
    assert [pages.get(place) for place in range(40)] == [None] * 40
    assert len(asked) == 1
    pages.load(range(40))
    assert [pages.get(place) for place in (0, 39)] == ["row 0", "row 39"]
    assert len(asked) == 2


def test_a_fault_of_the_program_is_no_damage() -> None:
    connection = sqlite3.connect(":memory:")
    connection.close()
    with pytest.raises(sqlite3.ProgrammingError):
        readable(lambda: connection.execute("SELECT 1"))


# What another process does to a store or a file while a screen over it stands open


def make_newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("PRAGMA user_version = 99")


def sha256_of(path: Path) -> str:
    with closing(open_store(path)) as store:
        return str(store.execute("SELECT sha256 FROM corpora").fetchone()[0])


async def test_newer_store_of_a_corpus_is_said(tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    screen = CorpusScreen(made.path, sha256_of(made.path))
    async with showing(App(made), screen, (80, 24)) as (app, pilot):
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


async def test_newer_store_of_a_run_is_said(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite")
    made.middle(84)
    async with at_rest(App(made, watch=True), (80, 24)) as (app, pilot):
        table = app.screen.query_one(EntryTable)
        make_newer(app.store_path)
        table.wish(replace(table.order, search="a"))
        await settle(pilot)
        table._read()  # as when its next turn comes
        await settle(pilot)
        [said] = notices(app)
        assert "newer version of Rosetta" in said


async def test_damaged_store_is_said_on_every_screen(tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    async with at_rest(App(made), (120, 40)) as (app, pilot):
        made.store.execute("UPDATE runs SET plan = '{}'")
        await press(pilot, "R")
        [said] = notices(app)
        assert "damaged" in said, "failed entries would be asked again"
        made.store.execute("UPDATE runs SET plan = '{', opening = '{'")
        for place in ("corpora", "leaderboard", "plots", "new_run"):
            await app.action_place(place)
            await settle(pilot)
            await press(pilot, "down")
            assert place == "new_run" or "damaged" in " ".join(text(app).split()), place


def test_damaged_store_is_said_by_the_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path))
    sealed(tmp_path / "rosetta.sqlite").store.execute("UPDATE runs SET plan = '{', opening = '{'")
    for words in (["compare", "last", "last"], ["leaderboard"]):
        assert _run(words) in {1, 2}  # what the program does before its process ends
        assert "fault of the program" not in capfd.readouterr().err


async def test_corpus_left_early_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    screen = CorpusScreen(tmp_path / "s.sqlite", looked_at.sha256, looked_at)
    async with showing(App(None, tmp_path / "s.sqlite"), screen, (80, 24)) as (_, pilot):
        reading = screen._reading  # what a thread of the screen still holds
        await press(pilot, "q")
    with pytest.raises(StoreError, match="open its file again"), reading() as store:
        store.execute("SELECT 1")
