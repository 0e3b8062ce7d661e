"""A damaged value in the store is said where it would stand; the screens go on."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from harness.methods.options import MethodOptions
from harness.plan import Plan
from harness.store.runs import list_runs
from rosetta_tui.messages import ReplayAsked, RunsCompared
from rosetta_tui.pages import UNREADABLE, Pages
from tests.harness.evaluation import LANGUAGES, corpus, run_corpus
from tests.tui.screens import App, settle, text

HURT = {
    "trace": "UPDATE results SET trace = x'c1'",
    "text": "UPDATE texts SET body = CAST(x'ff00ff' AS TEXT)",
    "rest": "UPDATE entries SET rest = '{'",
    "dataset": "UPDATE corpora SET dataset = '{'",
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


@pytest.mark.parametrize(
    ("where", "damage"),
    [
        ("run", "trace"),
        ("run", "text"),
        ("run", "rest"),
        ("run", "kind"),
        ("corpus", "text"),
        ("corpus", "rest"),
        ("compare", "text"),
        ("compare", "rest"),
        ("compare", "kind"),
        ("replay", "trace"),
        ("replay", "text"),
    ],
)
async def test_a_damaged_value_is_said_and_the_screens_go_on(
    path: Path, where: str, damage: str
) -> None:
    app, seen = App(None, path), ""
    first, second = ids(path)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
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
            seen += text(app) + "".join(each.message for each in app._notifications)
            if where != "replay":
                await pilot.press(key)
    assert "cannot be r" in seen or "it is damaged" in seen


async def test_an_entry_of_a_damaged_corpus(path: Path) -> None:
    """The set-up of scoring is read with the first entry that is opened."""
    app = App(None, path)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        hurt(path, "dataset")
        await pilot.press("enter")
        await settle(pilot)
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
    assert asked == [[1, 2, 3, 4], [1], [2], [3], [4]]
    pages.forget()
    assert pages.get(1) == "row 1"
    assert asked[5:] == [[1]]
