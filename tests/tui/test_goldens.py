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
from tests.tui.screens import App, settle


@pytest.mark.parametrize("size", SIZES)
async def test_live(size: tuple[int, int], tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite")
    made.middle(84)
    app = App(made, watch=True)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        app.screen.query_one("#entries").move_to_entry(95)  # type: ignore[attr-defined]
        await settle(pilot)
        compare("live", size, app)
    made.close()


@pytest.mark.parametrize("size", SIZES)
async def test_home(size: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_rows, "when", lambda _: "2023-11-14 22:13")
    made = sealed(tmp_path / "s.sqlite")
    app = App(made)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
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
        await pilot.press("question_mark")
        await settle(pilot)
        compare("home-help", size, app)


@pytest.mark.parametrize("size", SIZES)
async def test_entry(size: tuple[int, int], tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    app = App(made)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        await pilot.press("down", "enter")
        await settle(pilot)
        compare("entry", size, app)
    made.close()


@pytest.mark.parametrize("size", SIZES)
async def test_metrics(size: tuple[int, int], tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    app = App(made)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        await pilot.press("m")
        await settle(pilot)
        compare("metrics", size, app)
    made.close()


@pytest.mark.parametrize("size", SIZES)
async def test_an_explained_entry(size: tuple[int, int], tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    app = App(made)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        run = find_run(made.store, made.run_id)
        places = run.positions
        explaining = Known(made, why())
        app.push_screen(EntryScreen(made.store, run, places, 1, made.missing, explaining))
        await settle(pilot)
        await pilot.press("a")
        await settle(pilot)
        compare("analyses", size, app)
    made.close()
