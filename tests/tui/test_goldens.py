"""What screens and dialogs look like, as plain text and in their colours: a change is agreed to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.screen import Screen

from harness.run.rescoring import Prospect
from harness.store.runs import find_run
from rosetta_tui.corpus.open_corpus import OpenCorpusScreen
from rosetta_tui.entry.screen import EntryScreen
from rosetta_tui.live.steering import ConcurrencyScreen
from rosetta_tui.runs import score_again
from rosetta_tui.runs import table as run_rows
from rosetta_tui.runs.go_on import GoOnScreen, Stop
from rosetta_tui.runs.score_again import ScoreAgainScreen
from rosetta_tui.settings.ask_setting import AskSettingScreen, PressKeyScreen
from tests.tui.entry.explained import Known, why
from tests.tui.golden import SIZES, compare
from tests.tui.golden_colours import THEMES, compare_colours
from tests.tui.scenes import Scene, scene, sealed
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


@pytest.mark.parametrize("size", SIZES)
async def test_metrics(size: tuple[int, int], tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    async with at_rest(App(made), size) as (app, pilot):
        await press(pilot, "enter")
        await press(pilot, "m")
        compare("metrics", size, app)


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


PROSPECT = Prospect(
    new=("equivalent_match_rate", "length_ratio"),
    again=("exact_match_rate", "chrf_plus_plus"),
    kept={"comet_score": "its model is not on this computer"},
    off={"fst_acceptance_rate": "the language EO has no analyser here"},
)
STOP = Stop(
    "0f3b8c1e", "eo-demo-v1 · chat", 38, 2, 0.05, 0.0184, "The next call could pass the budget."
)
DIALOGS: dict[str, tuple[Callable[[Scene], Screen[Any]], tuple[str, ...]]] = {
    "ask-setting": (
        lambda _: AskSettingScreen(
            "Default model", "Its exact id at the default endpoint.", lambda _: "This is blank."
        ),
        ("m", "enter"),
    ),
    "concurrency": (lambda _: ConcurrencyScreen(8), ("up",)),
    "go-on": (lambda _: GoOnScreen(STOP), ("a", "enter")),
    "open-corpus": (lambda _: OpenCorpusScreen(), ("enter",)),
    "press-key": (
        lambda _: PressKeyScreen("New run", "n", lambda _: "Checks (Corpus)"),
        ("c",),
    ),
    "score-again": (
        lambda made: ScoreAgainScreen(
            made.path, made.number, "eo-demo-v1 · chat", {"language_card": "eo.toml"}
        ),
        (),
    ),
}
"""Name → how it is made, and keys that bring out what it says."""


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """Make a run, in a folder with one corpus file, on a computer with few extras."""
    monkeypatch.setattr(run_rows, "when", lambda _: "2023-11-14 22:13")
    monkeypatch.setattr(score_again, "prospect", lambda *_: PROSPECT)
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "corpus.tsv").touch()
    monkeypatch.chdir(folder)
    return sealed(tmp_path / "s.sqlite")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", DIALOGS)
async def test_dialog(name: str, size: tuple[int, int], made: Scene) -> None:
    async with at_rest(App(made), size) as (app, pilot):
        await shown(name, pilot, made)
        compare(name, size, app)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", DIALOGS)
async def test_colours_of_a_dialog(name: str, theme: str, made: Scene) -> None:
    async with at_rest(App(made), (100, 30)) as (app, pilot):
        app.theme = theme
        await shown(name, pilot, made)
        compare_colours(name, app)


async def shown(name: str, pilot: Any, made: Scene) -> None:
    dialog, keys = DIALOGS[name]
    pilot.app.push_screen(dialog(made))
    await settle(pilot)
    for key in keys:
        await press(pilot, key)
