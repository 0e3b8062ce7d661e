"""Home: what came out of every run, what to do first, and a store that cannot be used."""

from __future__ import annotations

import sqlite3
import threading
import time
import uuid
from contextlib import closing
from pathlib import Path

import pytest
from textual.widgets import Button

from corpora.model.entry import Segment
from harness.core.run_state import RunState
from harness.events.control import Control
from harness.events.following import Follower
from harness.store.file.database import open_store
from harness.store.file.openings import Live
from harness.store.run_list import list_runs
from harness.store.runs import set_live
from rosetta_tui.app.app import RosettaApp
from rosetta_tui.home.screen import HomeScreen
from rosetta_tui.leaderboard.screen import LeaderboardScreen
from rosetta_tui.live.screen import LiveScreen
from rosetta_tui.runs.table import RunReader, RunTable
from rosetta_tui.session.watched import WatchedRun
from tests.harness.card import factory
from tests.harness.store.file.damaged import damage
from tests.tui.golden import SMALL, look
from tests.tui.runs.made import run
from tests.tui.scenes import PAIRS, entries_of, scene, sealed
from tests.tui.screens import App, at_rest, notices, press, settle, text


async def test_empty_home_says_what_to_do_first_and_runs_the_demo(tmp_path: Path) -> None:
    made = scene(tmp_path / "other.sqlite")
    app = App(None, tmp_path / "s.sqlite")
    async with at_rest(app, SMALL) as (_, pilot):
        look("home-empty", app)
        for words in ("D  Run the demo", "New run from your corpus", "What is missing"):
            assert words in text(app)
        app.store_path = made.path
        made.queue = app.queue
        made.middle(84)
        await press(pilot, "D")
        assert isinstance(app.screen, LiveScreen)
        assert "✓ 83 done" in text(app)
        await press(pilot, "q")
        assert isinstance(app.screen, HomeScreen)


async def test_run_begun_meanwhile_has_the_cursor(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", total=10, stored=5)
    async with at_rest(App(made), (120, 36)) as (app, pilot):
        home = app.screen
        assert isinstance(home, HomeScreen)
        await press(pilot, "D")
        number = factory.add_run(made.store, run_id="newer")
        made.store.execute("UPDATE runs SET created = 1800000000 WHERE id = ?", (number,))
        await press(pilot, "q")
        for _ in range(1000):  # a look that began earlier may be shown first
            if home.chosen is not None and home.chosen.run_id == "newer":
                break
            await settle(pilot)
        assert home.chosen is not None
        assert home.chosen.run_id == "newer"


@pytest.mark.parametrize("begun", ["here", "elsewhere"])
async def test_first_run_of_an_empty_home_has_the_cursor(tmp_path: Path, begun: str) -> None:
    other = scene(tmp_path / "other.sqlite", total=10, stored=5)
    other.middle(5)
    app = App(other if begun == "here" else None, tmp_path / "s.sqlite")
    app.store_path = tmp_path / "s.sqlite"
    async with at_rest(app, (80, 24)) as (_, pilot):
        assert isinstance(app.focused, Button)
        if begun == "here":
            app.store_path = other.path
            await press(pilot, "enter")
            assert isinstance(app.screen, LiveScreen)
            app.store_path = tmp_path / "s.sqlite"
        with closing(open_store(tmp_path / "s.sqlite")) as made:
            factory.add_run(made)
        await press(pilot, "q" if begun == "here" else "r")
        await pilot.press("down")
        assert app.focused is app.screen.query_one(RunTable)
        assert "Open" in text(app)
    other.close()


async def test_watched_run_has_the_cursor_though_home_saw_it_begin(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", total=10, stored=5)
    factory.add_run(made.store, run_id="other")
    made.store.commit()
    made.middle(5)
    async with at_rest(App(made), (120, 36)) as (app, pilot):
        table = app.screen.query_one(RunTable)
        table.action_last()
        await settle(pilot)
        assert [run.run_id for run in table.runs] == [made.run_id, "other"]
        await press(pilot, "D")
        await settle(pilot)
        watched = app.screen
        await press(pilot, "q")
        assert table.chosen is not None
        assert table.chosen.run_id == made.run_id
        await press(pilot, "enter")
        assert app.screen is watched, "it went on while Home was shown"
        assert app.followed == []


async def test_run_of_another_process_moves_is_deleted_and_undone(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", total=10, stored=5)
    async with at_rest(App(made), (120, 36)) as (app, pilot):
        assert "running 50 % · 5 of 10" in text(app)
        assert "1 under way" in text(app)
        await press(pilot, "delete")
        assert "Stop it first" in "\n".join(notices(app))
        set_live(made.store, made.number, RunState.RUNNING, Live(at=time.time() - 3600))
        await press(pilot, "r")
        assert "under way" not in text(app), "its process is gone"
        for words in (
            "■",
            "stopped 50 % · 5 of 10",
            "rosetta resume 0f3b8c1e",
            "Stopped, 5 of 10 done",
        ):
            assert words in text(app)
        set_live(made.store, made.number, RunState.RUNNING, Live(at=time.time()))
        await press(pilot, "delete")
        assert len(list_runs(made.store)) == 1, "it goes on after all"
        set_live(made.store, made.number, RunState.STOPPED, None)
        await press(pilot, "r", "delete")
        await settle(pilot)
        assert list_runs(made.store) == []
        assert "For a week, Undo brings it back." in "\n".join(notices(app))
        assert "Run the demo" in text(app)
        assert "Undo" in text(app)
        await press(pilot, "u")
        await settle(pilot)
        assert [run.number for run in list_runs(made.store)] == [made.number]
        assert "stopped 50 % · 5 of 10" in text(app)
        assert "Undo" not in text(app)


async def test_a_run_that_was_brought_back_has_the_cursor(tmp_path: Path) -> None:
    store = open_store(tmp_path / "s.sqlite")
    names = [str(uuid.UUID(int=number)) for number in range(2)]
    for name in names:
        set_live(store, factory.add_run(store, run_id=name), RunState.STOPPED, None)
    store.close()
    async with at_rest(App(None, tmp_path / "s.sqlite"), (120, 36)) as (app, pilot):
        table = app.screen.query_one(RunTable)
        chosen = []
        for key in ("end", "delete", "u"):
            await press(pilot, key)
            await settle(pilot)
            assert table.chosen is not None
            chosen.append(table.chosen.run_id)
    assert chosen == [names[0], names[1], names[0]]


async def test_marked_runs_or_the_next_of_the_corpus_are_compared(tmp_path: Path) -> None:
    async with at_rest(App(None, tmp_path / "s.sqlite"), (120, 36)) as (app, _):
        table = app.screen.query_one(RunTable)
        table.take([run(4), run(3, dataset_id="other"), run(2), run(1)])
        ids = {number: run(number).run_id for number in range(1, 5)}
        assert table.pair() == (ids[2], ids[4])
        table.move_to(1)
        assert table.pair() == (ids[3],)
        table.move_to(3)
        assert table.pair() == (ids[2], ids[1])
        table.move_to(2)
        table.mark()
        assert table.cursor == 3
        assert table.pair() == (ids[2], ids[1])
        table.move_to(0)
        table.mark()
        assert table.pair() == (ids[2], ids[4])
        table.take([run(4), run(1)])
        assert list(table.marked) == [ids[4]]
        assert table.chosen is not None


async def test_secret_texts_are_erased_only_after_a_question(tmp_path: Path) -> None:
    entries = [
        entry.model_copy(update={"segment": Segment.GOLD_STANDARD})
        for entry in entries_of(PAIRS, 6)
    ]
    made = scene(tmp_path / "s.sqlite", total=6, stored=4, entries=entries)
    set_live(made.store, made.number, RunState.STOPPED, None)
    async with at_rest(App(made), (120, 36)) as (app, pilot):
        await press(pilot, "delete")
        assert "Erase this run for good?" in text(app)
        await press(pilot, "escape")
        assert len(list_runs(made.store)) == 1
        await press(pilot, "delete")
        await press(pilot, "y")
        await settle(pilot)
        assert list_runs(made.store) == list_runs(made.store, deleted=True) == []
        assert made.store.execute("SELECT count(*) FROM results").fetchone() == (0,)


@pytest.mark.thorough
async def test_what_is_followed_is_let_go_when_its_screen_closes(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", total=10, stored=5)
    followers: list[Follower] = []

    def follow(run_id: str) -> Follower:
        followers.append(Follower(made.path, run_id))
        return followers[-1]

    app = RosettaApp(made.path, follow, lambda _: WatchedRun(made.queue, Control()))
    async with app.run_test(size=(120, 36)) as pilot:
        for opened in range(3):
            await settle(pilot)
            await press(pilot, "enter")
            assert isinstance(app.screen, LiveScreen)
            assert [is_open(each) for each in followers] == [False] * opened + [True]
            await press(pilot, "q")
        assert not any(map(is_open, followers))


def is_open(follower: Follower) -> bool:
    try:
        follower._connection.execute("SELECT 1")  # only SQLite knows whether it is closed
    except sqlite3.ProgrammingError:
        return False
    return True


def newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("PRAGMA user_version = 99")


def no_store(path: Path) -> None:
    path.write_bytes(b"no database at all" * 500)


def without_a_table(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        raw.execute("DROP TABLE notes")


async def test_home_says_what_is_wrong_with_the_store_until_it_is_back(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    scene(path).close()
    good = path.read_bytes()
    harms = {
        damage: "damaged",
        newer: "newer version",
        no_store: "no store at all",
        without_a_table: "not in the form",
    }
    async with at_rest(App(None, path), SMALL) as (app, pilot):
        home = app.screen
        assert isinstance(home, HomeScreen)
        for harm, words in harms.items():
            assert "1 run" in text(app)
            harm(path)
            home.action_read()
            await settle(pilot)
            shown = " ".join(text(app).split())
            assert words in shown
            assert "sqlite3" not in shown
            assert "DatabaseError" not in shown
            for each in tmp_path.glob("s.sqlite*"):
                each.unlink()
            path.write_bytes(good)
            home.action_read()
            await settle(pilot)
            assert words not in " ".join(text(app).split())


async def test_slow_looks_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = sealed(tmp_path / "s.sqlite")
    real, again = RunReader.look, HomeScreen.look_again
    turn, turns, over = threading.Condition(), [0], [False]

    def slow(reader: RunReader, *, anyway: bool) -> object:
        found, begun = real(reader, anyway=anyway), turns[0]
        with turn:
            turn.wait_for(lambda: over[0] or turns[0] >= begun + 2)
        return found

    def counted(screen: HomeScreen) -> None:
        again(screen)
        with turn:
            turns[0] += 1
            turn.notify_all()

    monkeypatch.setattr(RunReader, "look", slow)
    monkeypatch.setattr(HomeScreen, "look_again", counted)
    monkeypatch.setattr("rosetta_tui.home.screen.REFRESH_SECONDS", 0.01)
    app = App(made)
    async with app.run_test(size=(120, 30)) as pilot:
        try:
            while turns[0] < 2000 and "1 entry failed" not in text(app):
                await pilot.pause()
            assert "1 entry failed" in text(app)
        finally:
            with turn:
                over[0] = True
                turn.notify_all()
    made.close()


async def test_home_below_reads_when_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = sealed(tmp_path / "s.sqlite")
    real, looks = RunReader.look, list[bool]()

    def counted(reader: RunReader, *, anyway: bool) -> object:
        looks.append(anyway)
        return real(reader, anyway=anyway)

    monkeypatch.setattr(RunReader, "look", counted)
    app = App(made)
    app.initial = lambda path: [LeaderboardScreen(path)]
    async with at_rest(app, (120, 36)) as (_, pilot):
        assert isinstance(app.screen, LeaderboardScreen)
        assert not looks
        await press(pilot, "q")
        await settle(pilot)
        assert len(app.screen.query_one(RunTable).every or ()) == 1
    made.close()
