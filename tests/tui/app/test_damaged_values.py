"""A damaged value in the store is said where it would stand; the screens go on."""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from harness.core.run_state import RunState
from harness.events import following
from harness.events.following import Follower
from harness.method.options import MethodOptions
from harness.setup.plan import Plan
from harness.store.file.openings import Live
from harness.store.run_list import list_runs
from harness.store.runs import set_live
from rosetta_tui.home.screen import HomeScreen
from rosetta_tui.live.screen import LiveScreen
from rosetta_tui.toolkit.messages import ReplayAsked, RunsCompared
from rosetta_tui.toolkit.pages import UNREADABLE, Pages, readable
from tests.harness.evaluation import LANGUAGES, corpus, run_corpus
from tests.review.thorough import first
from tests.tui.runs.stopped_runs import stopped
from tests.tui.scenes import scene
from tests.tui.screens import App, at_rest, notices, press, settle, text

HURT = {
    "trace": "UPDATE results SET trace = x'c1'",
    "text": "UPDATE texts SET body = CAST(x'ff00ff' AS TEXT)",
    "rest": "UPDATE entries SET rest = '{'",
    "dataset": "UPDATE corpora SET dataset = '{'",
    "statistics": "UPDATE results SET statistics = x'c1'",
    "kind": "UPDATE results SET error_class = 'none'",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs over one corpus."""
    store = tmp_path_factory.mktemp("damaged") / "rosetta.sqlite"
    for words in ("ENTRY NUMBER 3", "ENTRY NUMBER 4"):
        run_corpus(
            store,
            corpus(8),
            Plan(method="constant", options=MethodOptions(**LANGUAGES, text=words)),
        )
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


def ids(path: Path) -> tuple[str, ...]:
    with closing(sqlite3.connect(path)) as store:
        return tuple(run.run_id for run in list_runs(store))


class Following(App):
    """The app as it is started: a run that is not complete is followed in the store."""

    def _follow_run(self, run_id: str) -> Follower:
        return Follower(self.store_path, run_id)


@pytest.mark.parametrize("damage", ["rest", "dataset", "text", "statistics"])
async def test_a_stopped_run_of_a_damaged_store_opens_nothing(tmp_path: Path, damage: str) -> None:
    made = stopped(tmp_path / "s.sqlite", stored=15)
    app = Following(made)
    async with at_rest(app, (120, 36)) as (_, pilot):
        made.store.execute(HURT[damage])
        await press(pilot, "enter")
        assert isinstance(app.screen, HomeScreen)
        [said] = notices(app)
        assert "damaged" in said


async def test_a_watched_run_that_gets_damaged_is_said_to_break_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


@pytest.mark.parametrize(
    ("where", "damage"),
    first(
        5,
        [
            ("run", "trace"),
            ("corpus", "text"),
            ("compare", "kind"),
            ("replay", "trace"),
            ("run", "rest"),
            ("run", "text"),
            ("run", "kind"),
            ("corpus", "rest"),
            ("compare", "text"),
            ("compare", "rest"),
            ("replay", "text"),
        ],
    ),
)
async def test_a_damaged_value_is_said_and_the_screens_go_on(
    path: Path, where: str, damage: str
) -> None:
    app, seen = App(None, path), ""
    first, second = ids(path)
    async with at_rest(app, (120, 36)) as (_, pilot):
        hurt(path, damage)
        if where == "compare":
            app.post_message(RunsCompared((first, second)))
        elif where == "replay":
            app.post_message(ReplayAsked(first))
        else:
            await pilot.press("enter" if where == "run" else "b")
        for key in ("enter", "enter", "right", "v", "y", "q"):
            for _ in range(3):
                await settle(pilot)
            seen += text(app) + "".join(notices(app))
            if where != "replay":
                await pilot.press(key)
    assert "cannot be r" in seen or "it is damaged" in seen


async def test_an_entry_of_a_damaged_corpus(path: Path) -> None:
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
