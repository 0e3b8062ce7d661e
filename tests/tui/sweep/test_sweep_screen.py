"""The map of a sweep: what stands in its cells, how axes and values change, and that it follows the store."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.cells import cell_len

from harness.store.file.database import open_store
from rosetta_tui.app import launch
from rosetta_tui.commands import rosetta
from rosetta_tui.live.screen import LiveScreen
from rosetta_tui.sweep.screen import SweepScreen
from tests.harness.sweep.made import MadeCell, made_sweep
from tests.tui.golden import SMALL, look
from tests.tui.screens import App, lines, press, settle, showing, text
from tests.tui.sweep.matrix import AXES, cells


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("sweep") / "rosetta.sqlite"
    made_sweep(found, AXES, cells())
    return found


@pytest.fixture
def path(made: Path, tmp_path: Path) -> Path:
    """A store with one sweep."""
    return Path(shutil.copy(made, tmp_path))


async def test_empty_sweep_screen_takes_every_key(tmp_path: Path) -> None:
    screen = SweepScreen(tmp_path / "s.sqlite")
    async with showing(App(None, tmp_path / "s.sqlite"), screen, SMALL) as (app, pilot):
        look("sweep-empty", app)
        await press(pilot, "enter", "m", "escape", "x", "L", "q")
        assert "Sweeps" not in lines(app)[0]


async def test_cell_is_the_best_setup_by_mean_of_repetitions(path: Path) -> None:
    async with showing(App(None, path), SweepScreen(path), SMALL) as (app, pilot):
        look("sweep", app)
        await pilot.resize_terminal(120, 30)
        await settle(pilot)
        first = next(line for line in lines(app) if line.lstrip().startswith("qwen"))
        assert "0.64" in first, "(0.633 + 0.645) / 2, not the 0.42 without notes"
        assert "0.39" in first, "0.71 weighs other inputs, so it does not stand beside the others"
        assert "the mean of the complete repetitions; of several set-ups (coaching) the highest" in text(app)  # fmt: skip
        assert "★ best baseline 0.52 gemma2:9b · 0 · none" in text(app)
        assert "qwen2.5:7b · 0 · notes · the best of 2 set-ups here" in text(app)
        assert "composite 0.64 (runs 0.63–0.65)" in text(app)
        await press(pilot, "m", "down", "enter")
        assert "chrF++, the mean" in text(app)
        assert "63.9" in text(app), "by chrF++ all compare"
        await press(pilot, "m", "down", "enter")
        assert "US dollars for 1,000 entries" in text(app)
        assert "the lowest" in text(app)
        assert all(cell_len(line) <= 120 for line in lines(app))
        await press(pilot, "x", "up", "enter")
        assert "temperature ↓   model →" in text(app)
        await press(pilot, "d", "down", "enter")
        assert "coaching ↓   model →" in text(app), "no two axes are the same"
        assert "(temperature) the lowest" in text(app)


async def test_what_is_not_complete_says_so(path: Path) -> None:
    async with showing(App(None, path), SweepScreen(path), (120, 30)) as (app, pilot):
        await press(pilot, "right")
        assert "≠ its composite does not compare: not exact_match_rate" in text(app)
        assert "1 running · 1 waiting · 2 complete" in text(app)
        await press(pilot, "down")
        assert "2 waiting · 2 stopped" in text(app)
        assert "401: the key was refused" in text(app)
        row = next(line for line in lines(app) if line.lstrip().startswith("gemma"))
        assert "stopped" in row
        await press(pilot, "down")
        assert "The plan has no run here." in text(app)


async def test_a_cell_opens_its_run_and_of_several_asks_which(path: Path) -> None:
    async with showing(App(None, path), SweepScreen(path), (120, 30)) as (app, pilot):
        await press(pilot, "enter")
        assert "Runs of this cell" in text(app)
        await press(pilot, "enter")
        assert isinstance(app.screen, LiveScreen)
        await press(pilot, "q", "end")
        assert isinstance(app.screen, SweepScreen)
        await press(pilot, "left", "enter")
        assert "The plan has no run here." in text(app)


async def test_one_run_in_a_cell_opens_at_once(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    made_sweep(path, {"model": ("a", "b")}, [MadeCell({"model": "a"}, 0.5), MadeCell({"model": "b"}, state="waiting")])  # fmt: skip
    async with showing(App(None, path), SweepScreen(path), (80, 24)) as (app, pilot):
        assert "all runs" in text(app)
        await press(pilot, "x", "down", "enter")
        assert isinstance(app.screen, SweepScreen), "there is no run to open"
        await press(pilot, "up", "enter")
        assert isinstance(app.screen, LiveScreen)


async def test_sweep_screen_follows_the_store_and_shows_the_newest(path: Path) -> None:
    async with showing(App(None, path), (screen := SweepScreen(path)), (120, 30)) as (app, pilot):
        words = " ".join(text(app).split())
        assert "17 runs (3 waiting, 1 running, 2 stopped, 11 complete)" in words
        with closing(open_store(path)) as store:
            store.execute("UPDATE runs SET run_card = json_set(run_card, '$.scores.composite', 0.9) WHERE run_id = '10000002-made'")  # fmt: skip
        screen.look_again()
        await settle(pilot)
        assert "0.77" in text(app), "(0.9 + 0.645) / 2"
        made_sweep(path, {"model": ("a",)}, [MadeCell({"model": "a"}, 0.5)], name="later")
        app.push_screen(SweepScreen(path))
        await settle(pilot)
        assert "later" in lines(app)[0]
        await press(pilot, "L", "down", "enter")
        assert "matrix" in lines(app)[0]


async def test_more_columns_than_fit_are_walked_to(tmp_path: Path) -> None:
    path, labels = tmp_path / "s.sqlite", [f"prompt number {n}" for n in range(30)]
    models = ("a", "b")
    made_sweep(
        path,
        {"model": models, "prompt": labels},
        [MadeCell({"model": m, "prompt": p}, 0.5 + n / 100) for m in models for n, p in enumerate(labels)],
    )  # fmt: skip
    async with showing(App(None, path), SweepScreen(path), (80, 24)) as (app, pilot):
        assert "prompt → 1–4 of 30" in text(app)
        await press(pilot, "end")
        assert "27–30 of 30" in text(app)
        assert "prompt number 29" in text(app)
        assert "0.79" in text(app)


def test_command_opens_the_sweep_screen(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(path.parent))
    opened: list[object] = []
    monkeypatch.setattr(launch, "open_app", lambda screens: opened.extend(screens(path)))
    assert CliRunner().invoke(rosetta, ["sweep", "show", "matrix", "--screen"]).exit_code == 0
    assert [type(each) for each in opened] == [SweepScreen]
    both = CliRunner().invoke(rosetta, ["sweep", "show", "--screen", "--json"])
    assert both.exit_code != 0
