"""Home over a store that cannot be used says why and what to do, and goes on living."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from harness.store.file.database import open_store
from rosetta_tui.home.screen import HomeScreen
from tests.harness.store.file.damaged import damage
from tests.tui.scenes import scene
from tests.tui.screens import App, at_rest, settle, text


def newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("PRAGMA user_version = 99")


def no_store(path: Path) -> None:
    path.write_bytes(b"no database at all" * 500)


def without_a_table(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        raw.execute("DROP TABLE notes")


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (damage, "damaged"),
        (newer, "newer version"),
        (no_store, "no store at all"),
        (without_a_table, "not in the form"),
    ],
    ids=["damaged", "newer", "no-store", "without-a-table"],
)
@pytest.mark.parametrize("size", [(80, 24), (160, 48)], ids=["small", "large"])
async def test_home_says_what_is_wrong(
    tmp_path: Path, harm: Callable[[Path], None], words: str, size: tuple[int, int]
) -> None:
    path = tmp_path / "s.sqlite"
    open_store(path).close()
    harm(path)
    async with at_rest(App(None, path), size) as (app, _):
        shown = " ".join(text(app).split())
        assert words in shown
        assert "sqlite3" not in shown
        assert "DatabaseError" not in shown


async def test_home_shows_the_runs_again_once_the_store_is_back(tmp_path: Path) -> None:
    path, away = tmp_path / "s.sqlite", tmp_path / "away"
    scene(path).close()
    good = path.read_bytes()
    async with at_rest(App(None, path), (100, 30)) as (app, pilot):
        home = app.screen
        assert isinstance(home, HomeScreen)
        assert "1 run" in text(app)
        path.rename(away)
        path.write_bytes(b"no database at all" * 500)
        home.action_read()
        await settle(pilot)
        assert "no store at all" in " ".join(text(app).split())
        path.write_bytes(good)
        home.action_read()
        await settle(pilot)
        assert "no store at all" not in text(app)
        assert "1 run" in text(app)
