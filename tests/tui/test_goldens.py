"""What the screens look like, as plain text: a change of layout is seen and agreed to.

``ROSETTA_WRITE_GOLDENS=1 pytest tests/tui/test_goldens.py`` writes them anew.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.store.runs import find_run
from rosetta_tui.entry.screen import EntryScreen
from rosetta_tui.runs import table as run_rows
from tests.tui.entry.explained import Known, why
from tests.tui.golden import SIZES, compare
from tests.tui.scenes import scene, sealed
from tests.tui.screens import App, at_rest, press, settle


@pytest.mark.parametrize("size", SIZES)
async def test_live(size: tuple[int, int], tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite")
    made.middle(84)
    async with at_rest(App(made, watch=True), size) as (app, pilot):
        app.screen.query_one("#entries").move_to_place(95)  # type: ignore[attr-defined]
        await settle(pilot)
        compare("live", size, app)


@pytest.mark.parametrize("size", SIZES)
async def test_home(size: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_rows, "when", lambda _: "2023-11-14 22:13")
    made = sealed(tmp_path / "s.sqlite")
    async with at_rest(App(made), size) as (app, _):
        compare("home", size, app)
    made.close()


@pytest.mark.parametrize("theme", ["rosetta-dark", "rosetta-light"])
@pytest.mark.parametrize("size", SIZES)
async def test_first_steps_and_help(size: tuple[int, int], theme: str, tmp_path: Path) -> None:
    app = App(None, tmp_path / "s.sqlite")
    async with app.run_test(size=size) as pilot:
        app.theme = theme
        await settle(pilot)
        compare("home-empty", size, app)
        await press(pilot, "question_mark")
        compare("home-help", size, app)


@pytest.mark.parametrize("size", SIZES)
async def test_entry(size: tuple[int, int], tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    async with at_rest(App(made), size) as (app, pilot):
        await press(pilot, "enter")
        await press(pilot, "down", "enter")
        compare("entry", size, app)
    made.close()


@pytest.mark.parametrize("size", SIZES)
async def test_metrics(size: tuple[int, int], tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    async with at_rest(App(made), size) as (app, pilot):
        await press(pilot, "enter")
        await press(pilot, "m")
        compare("metrics", size, app)
    made.close()


@pytest.mark.parametrize("size", SIZES)
async def test_an_explained_entry(size: tuple[int, int], tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    async with at_rest(App(made), size) as (app, pilot):
        run = find_run(made.store, made.run_id)
        places = run.positions
        explaining = Known(made, why())
        app.push_screen(EntryScreen(made.store, run, places, 1, made.missing, explaining))
        await settle(pilot)
        await press(pilot, "a")
        compare("analyses", size, app)
    made.close()
