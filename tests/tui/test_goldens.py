"""What screens and dialogs look like, in words and in colours: a change is agreed to."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.screen import Screen

from harness.run.rescoring import Prospect
from harness.store.notes import change_tags, set_note
from harness.store.runs import find_run
from rosetta_tui.corpus.open_corpus import OpenCorpusScreen
from rosetta_tui.entry.screen import EntryScreen
from rosetta_tui.live.steering import ConcurrencyScreen
from rosetta_tui.runs import score_again
from rosetta_tui.runs import table as run_rows
from rosetta_tui.runs.go_on import GoOnScreen, Stop
from rosetta_tui.runs.score_again import ScoreAgainScreen
from rosetta_tui.settings.ask_setting import AskSettingScreen, PressKeyScreen
from rosetta_tui.toolkit.dialogs.export import ExportScreen
from scoring.statistics.spread import ValueSpread
from tests.tui.answered import (
    INSTRUCTIONS,
    JUDGED,
    QA,
    RESPONSE,
    answered,
    asking,
    judge,
    text2sql,
)
from tests.tui.entry.explained import Known, why
from tests.tui.golden import EVERY_SIZE, SIZES, SMALL, look, look_in_every_theme
from tests.tui.scenes import Scene, scene, sealed
from tests.tui.screens import App, at_rest, lines, press, press_in_turn, settle, text

# The screens with the hardest layout, and a third in tests/tui/compare: every size and every theme


@pytest.mark.parametrize("size", EVERY_SIZE)
async def test_live_screen_in_every_size_and_theme(size: tuple[int, int], tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite")
    made.middle(84)
    async with at_rest(App(made, watch=True), size) as (app, pilot):
        app.screen.query_one("#entries").move_to_place(95)  # type: ignore[attr-defined]
        await settle(pilot)
        await look_in_every_theme("live", pilot)


@pytest.mark.parametrize("size", EVERY_SIZE)
async def test_entry_screen_in_every_size_and_theme(size: tuple[int, int], tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    async with at_rest(App(made), size) as (app, pilot):
        await press_in_turn(pilot, "enter", "down", "enter")
        await look_in_every_theme("entry", pilot)
        run = find_run(made.store, made.run_id)
        known = Known(made, why())
        app.push_screen(EntryScreen(made.store, run, run.positions, 1, made.missing, known))
        await settle(pilot)
        await press(pilot, "a")
        if size == SMALL:
            look("analyses", app)


# Home, a run, and what opens from there

PROSPECT = Prospect(
    new=("equivalent_match_rate", "length_ratio"),
    again=("exact_match_rate", "chrf_plus_plus"),
    kept={"comet_score": "its model is not on this computer"},
    off={"fst_acceptance_rate": "the language EO has no analyser here"},
)


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """Make a run with a note, in a folder with one corpus file, on a computer with few extras."""
    monkeypatch.setattr(run_rows, "when", lambda _: "2023-11-14 22:13")
    monkeypatch.setattr(score_again, "prospect", lambda *_: PROSPECT)
    monkeypatch.setattr(ExportScreen, "folder_of_settings", lambda _: Path("/data/exports"))
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "corpus.tsv").touch()
    monkeypatch.chdir(folder)
    made = sealed(tmp_path / "s.sqlite")
    made.store.execute("UPDATE runs SET plan = ?", ('{"method": "chat", "options": {}}',))
    change_tags(made.store, made.number, ["baseline"])
    set_note(made.store, made.number, "Before the new prompt.")
    return made


WALKS: list[dict[str, tuple[str, ...]]] = [
    {"home": (), "jump": ("ctrl+o",), "sort": ("escape", "s"), "export": ("escape", "e")},
    {"retry": ("R",), "notes": ("escape", "t"), "confirm": ("x", "escape"), "help": ("y", "question_mark")},
    {"run": ("enter",), "metrics": ("m",), "palette": ("escape", "ctrl+p")},
]  # fmt: skip
"""Each from Home: picture → keys from the one before."""


@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: next(iter(walk)))
async def test_walk_from_home_looks_as_kept(walk: dict[str, tuple[str, ...]], made: Scene) -> None:
    async with at_rest(App(made), SMALL) as (app, pilot):
        for name, keys in walk.items():
            await press_in_turn(pilot, *keys)
            look(name, app)


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
    "press-key": (lambda _: PressKeyScreen("New run", "n", lambda _: "Checks (Corpus)"), ("c",)),
    "score-again": (
        lambda made: ScoreAgainScreen(
            made.path, made.number, "eo-demo-v1 · chat", {"language_card": "eo.toml"}
        ),
        (),
    ),
}
"""Name → how it is made, and keys that bring out what it says."""


async def test_dialogs_look_as_kept(made: Scene) -> None:
    async with at_rest(App(made), SMALL) as (app, pilot):
        for name, (dialog, keys) in DIALOGS.items():
            app.push_screen(dialog(made))
            await settle(pilot)
            await press_in_turn(pilot, *keys)
            look(name, app)
            await app.pop_screen()


# Tasks that are no translations


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "data"))
    return tmp_path


async def test_judged_run_shows_what_the_judge_said(folder: Path) -> None:
    said = {"score": 0.5, "explanation": "It leaves out the article.\nThe place is right."}
    path, run = await to_thread(answered, folder, "qa", QA, metrics=("lbrag",))
    judge(path, run, "judge_semantic", said, {"score": None, "reason": "the reply has no JSON object with a score"})  # fmt: skip
    await _look_at_live_run(App(None, path, watch=True), "qa-live", "enter", "qa-entry", path, run)


async def test_run_of_instructions_shows_which_shares_are_kept(folder: Path) -> None:
    path, run = await to_thread(answered, folder, "ifeval", [INSTRUCTIONS])
    id_ = "au.instruction_following"
    ends = ("strict_prompt", "loose_prompt", "strict_instruction", "loose_instruction")
    shares = {f"{id_}_{end}": 0.2 + n / 10 for n, end in enumerate(ends)}
    told = {"values": {id_: 0.35, **shares}, "intervals": {id_: (0.1, 0.6)}, "cost_usd": None}
    now = told | {"scoring": None, "doing": None, "spread": ValueSpread(0.35, 0.2, 1)}
    app = App(None, path, watch=True)
    await _look_at_live_run(app, "ifeval-live", "m", "ifeval-metrics", path, run, **now)


async def test_query_is_shown_with_its_rows(folder: Path) -> None:
    metrics = ("au.text2sql_score",)
    path, run = await to_thread(answered, folder, "text2sql", text2sql(folder), metrics=metrics)
    app = App(None, path, watch=True)
    await _look_at_live_run(app, "", "enter", "sql-entry", path, run)


async def _look_at_live_run(
    app: App, first: str, key: str, then: str, path: Path, run: Any, **now: Any
) -> None:
    asking(path, run, app.queue, **now)
    async with at_rest(app, SMALL) as (_, pilot):
        if first:
            look(first, app)
        await press(pilot, key)
        look(then, app)


async def test_list_has_whole_names_and_a_dash_for_unknown_cost(folder: Path) -> None:
    path, _ = await to_thread(answered, folder, "response", [RESPONSE])
    async with at_rest(App(None, path), SIZES[1]) as (app, pilot):
        for size in reversed(SIZES):
            await pilot.resize_terminal(*size)
            await settle(pilot)
            row = next(line.split() for line in lines(app) if "✓" in line)
            assert "response-v1" in row
            assert ("–" in row) == (size[0] > 80)
            assert "unknown" not in row


async def test_sealed_run_counts_answers_nobody_judged(folder: Path) -> None:
    records = [*JUDGED, {"source": "The largest lake?", "predicted": "Baikal"}]
    path, _ = await to_thread(answered, folder, "judged", records)
    async with at_rest(App(None, path), SMALL) as (app, pilot):
        await press(pilot, "enter")
        assert "1 entry not judged" in text(app)
