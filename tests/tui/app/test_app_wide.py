"""What holds on every screen: the way, jumping, the palette, the clipboard, chosen keys, colours."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from textual.color import Color
from textual.command import CommandList
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input

from corpora.model.entry import Segment
from harness.run.rescoring import RescorePreview
from harness.store.attachments import change_words
from harness.store.runs import find_run
from harness.store.sqlite.database import opened
from rosetta_tui.commands import rosetta
from rosetta_tui.corpus.open_corpus import OpenCorpusScreen
from rosetta_tui.entry.screen import EntryScreen
from rosetta_tui.home.screen import HomeScreen
from rosetta_tui.live.screen import LiveScreen
from rosetta_tui.live.steering import ConcurrencyScreen
from rosetta_tui.runs import resume
from rosetta_tui.runs.resume import GoOnScreen, ScoreAgainScreen, Stop
from rosetta_tui.settings.actions import AskSettingScreen, PressKeyScreen
from rosetta_tui.show import run_facts
from rosetta_tui.show.clipboard import MOST_BYTES
from rosetta_tui.toolkit.customization import THEME_WORDS
from rosetta_tui.toolkit.dialogs.choose import ConfirmScreen, ExportScreen
from rosetta_tui.toolkit.dialogs.help import HelpScreen, JumpScreen, Letter
from rosetta_tui.toolkit.messages import Copied
from rosetta_tui.toolkit.result_table import ResultTable
from tests.tui.answered import JUDGED, QA, answered, asking, judge
from tests.tui.entry.explained import Known, why
from tests.tui.golden import EVERY_SIZE, SMALL, look, look_in_every_theme
from tests.tui.scenes import PAIRS, Scene, entries_of, scene, sealed
from tests.tui.screens import App, at_rest, drawn, notices, press, press_in_turn, settle, stands, text, until


async def typed(pilot: Pilot[Any], words: str) -> None:
    """Type into the palette and wait until it has looked for it."""
    await pilot.press("ctrl+p")
    await pilot.pause()
    await press(pilot, *words)
    found = pilot.app.screen.query_one(CommandList)
    await until(pilot, lambda: bool(found.option_count))


async def test_top_line_letters_and_mouse_lead_around(tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    async with at_rest(App(made), (120, 30)) as (app, pilot):
        assert "Rosetta › Home" in text(app)
        assert app.focused is not None
        assert app.focused.id == "runs"
        await press(pilot, "ctrl+o")
        assert stands(app, JumpScreen)
        assert [label.target.id for label in app.screen.query(Letter)] == ["waiting", "runs"]
        await press(pilot, "a")
        assert app.focused.id == "waiting"
        await press(pilot, "ctrl+o")
        await pilot.click(app.screen.query(Letter).last())
        await settle(pilot)
        assert app.focused.id == "runs"
        await press(pilot, "ctrl+o", "9")
        assert stands(app, HomeScreen)
        table = app.screen.query_one("#runs", ResultTable)
        await pilot.click(table, offset=(16, 0))
        await settle(pilot)
        assert "by corpus" in text(app) or "by newest" in text(app)
        await pilot.click(table, offset=(6, 1), times=2)
        await settle(pilot)
        await settle(pilot)
        assert stands(app, LiveScreen)
        await press_in_turn(pilot, "q", "b")
        assert "Rosetta › Corpora" in text(app)


@pytest.mark.thorough
async def test_palette_finds_runs_acts_and_themes(tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    change_words(made.store, made.number, add=["flagship"])
    async with at_rest(App(made), (100, 30)) as (app, pilot):
        await typed(pilot, "flagship")
        await press(pilot, "enter")
        await settle(pilot)
        assert stands(app, LiveScreen)
        await press_in_turn(pilot, "q", "delete")
        await typed(pilot, "bring")
        await press(pilot, "enter")
        await until(pilot, lambda: "Brought back" in "\n".join(notices(app)))
        await typed(pilot, "high contrast")
        await press(pilot, "enter")
        assert app.theme == "rosetta-contrast"
        assert set(app.available_themes) == set(THEME_WORDS)
    again = App(made)
    async with at_rest(again, (100, 30)):
        assert again.theme == "rosetta-contrast", "it was kept"


async def test_no_color_turns_cursor_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    made = sealed(tmp_path / "s.sqlite")
    async with at_rest(App(made), (100, 30)) as (app, _):
        no_color = app._filters[-1]  # Textual applies it where it writes to a terminal
        strips = [strip.apply_filter(no_color, Color(0, 0, 0)) for strip in drawn(app)]
        shown = [segment for strip in strips for segment in strip]
        used = {each.style.color for each in shown if each.style}
        used |= {each.style.bgcolor for each in shown if each.style}
        assert all(colour is None or colour.is_default for colour in used)
        turned = "".join(each.text for each in shown if each.style and each.style.reverse)
        assert "emerging" in turned


async def test_copying_says_how_much_and_refuses_too_much(tmp_path: Path) -> None:
    async with at_rest(App(None, tmp_path / "s.sqlite"), (100, 30)) as (app, pilot):
        app.screen.post_message(Copied("a\tb\r\nc\x1b]0;t\x07", "Table"))
        await settle(pilot)
        assert app.clipboard == "a\tb\nc␛]0;t␇"
        assert "Table copied: 2 lines, 12 characters." in "\n".join(notices(app))
        most = "é" * (MOST_BYTES // 2)
        for words in (most, most + "a"):
            app.screen.post_message(Copied(words, "Output"))
            await settle(pilot)
            assert app.clipboard == most
        assert "74,001 bytes" in notices(app)[-1]


async def test_no_selection_takes_a_secret_text_along(tmp_path: Path) -> None:
    entries = [each.model_copy(update={"segment": Segment.GOLD_STANDARD}) for each in entries_of(PAIRS, 3)]
    made = scene(tmp_path / "s.sqlite", total=3, stored=3, entries=entries)
    app = App(made)
    async with app.run_test(size=(100, 30)) as pilot:
        made.queue = app.queue
        made.middle(3)
        await settle(pilot)
        await press(pilot, "enter")
        await press(pilot, "enter")
        assert app.screen.holds_secret  # type: ignore[attr-defined]
        app.copy_to_clipboard("Mi vidas la hundon.")
        await pilot.pause()
        assert app.clipboard == ""
        assert "secret entry" in "\n".join(notices(app))


async def test_chosen_keys_hold_and_are_named_everywhere(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text('[keys]\n"home.demo" = "f5"\nhelp = "f1"\n')
    async with at_rest(App(None, tmp_path / "s.sqlite"), (100, 30)) as (app, pilot):
        assert "f5  Run the demo" in text(app)
        await press(pilot, "question_mark")
        assert stands(app, HomeScreen)
        await press(pilot, "f1")
        assert stands(app, HelpScreen)
        assert "f5  Demo" in text(app)


async def test_filter_by_a_hostile_name_finds_and_is_harmless(tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    made.store.execute(
        "INSERT INTO runs SELECT NULL, 'x' || run_id, "
        + ", ".join(
            f"'{chr(27)}[2J evil'" if name == "dataset_id" else name
            for name in (row[1] for row in made.store.execute("PRAGMA table_info(runs)"))
            if name not in {"id", "run_id"}
        )
        + " FROM runs"
    )
    async with at_rest(App(made), (120, 30)) as (app, pilot):
        await press(pilot, "f", *"corpus", "colon", "down", "enter", "enter")
        assert "\x1b" not in app.screen.query_one("#search", Input).value
        assert "1 of 2" in text(app)


# Reports written from screens: the page of the command, in the file that is asked for


async def asked(app: App, pilot: Pilot[Any]) -> Input:
    """Press the key; gives the field with the path that is proposed."""
    await press(pilot, "E")
    await settle(pilot)
    assert isinstance(app.screen, AskSettingScreen), (text(app), notices(app))
    return app.screen.field


def run_of(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    rows = ["id\tsource\treference", *(f"{n}\tword {n}\tvorto {n}" for n in range(3))]
    (folder / "c.tsv").write_text("\n".join(rows) + "\n", "utf-8")
    monkeypatch.setenv("ROSETTA_HOME", str(folder))
    line = "run c.tsv --source-language en --target-language eo --method copy-source --plain"
    done = CliRunner().invoke(rosetta, line.split())
    assert done.exit_code == 0, done.output
    with opened() as store:
        return find_run(store, "last").run_id


async def test_run_page_replaces_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder := tmp_path)
    run_id = run_of(folder, monkeypatch)
    path = folder / f"run-{run_id[:8]}.html"
    async with at_rest(App(None, folder / "rosetta.sqlite"), (80, 24)) as (app, pilot):
        field = await asked(app, pilot)
        assert field.value == str(path), "Home proposes that of the run under the cursor"
        await press_in_turn(pilot, "escape", "enter")
        assert isinstance(app.screen, LiveScreen)
        field = await asked(app, pilot)
        for wrong, words in (
            (folder / "absent" / "page.html", "There is no such folder"),
            (folder, "Give the name of a file"),
        ):
            field.value = str(wrong)
            await press(pilot, "enter")
            assert words in text(app)
        field.value = str(path)
        await press(pilot, "enter")
        await settle(pilot)
        assert f"Report written: {path}" in notices(app)
        assert run_id in path.read_text("utf-8")

        path.write_text("mine", "utf-8")
        field = await asked(app, pilot)
        assert field.value == str(folder / f"run-{run_id[:8]}-2.html")
        field.value = str(path)
        await press(pilot, "enter")
        assert isinstance(app.screen, ConfirmScreen)
        await press(pilot, "n")
        assert path.read_text("utf-8") == "mine"
    assert list(folder.glob("*.html")) == [path]


# What screens and dialogs look like, in words and in colours: a change is agreed to

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
        await until(pilot, lambda: "the run was imported; only its numbers" in text(app))
        await look_in_every_theme("entry", pilot)
        run = find_run(made.store, made.run_id)
        known = Known(made, why())
        app.push_screen(EntryScreen(made.store, run, run.positions, 1, made.missing, known))
        await settle(pilot)
        await press(pilot, "a")
        if size == SMALL:
            look("analyses", app)


# Home, a run, and what opens from there

PROSPECT = RescorePreview(
    new=("equivalent_match_rate", "length_ratio"), again=("exact_match_rate", "chrf_plus_plus"),
    kept={"comet_score": "its model is not on this computer"},
    off={"fst_acceptance_rate": "the language EO has no analyser here"},
)  # fmt: skip


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """Make a run with a note, in a folder with one corpus file, on a computer with few extras."""
    monkeypatch.setattr(run_facts, "when", lambda _: "2023-11-14 22:13")
    monkeypatch.setattr(resume, "prospect", lambda *_: PROSPECT)
    monkeypatch.setattr(ExportScreen, "folder_of_settings", lambda _: Path("/data/exports"))
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "corpus.tsv").touch()
    monkeypatch.chdir(folder)
    made = sealed(tmp_path / "s.sqlite")
    made.store.execute("UPDATE runs SET plan = ?", ('{"method": "chat", "options": {}}',))
    change_words(made.store, made.number, add=["baseline"])
    change_words(made.store, made.number, note="Before the new prompt.")
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


STOP = Stop("0f3b8c1e", "eo-demo-v1 · chat", 38, 2, 0.05, 0.0184, "The next call could pass the budget.")
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
        lambda made: ScoreAgainScreen(made.path, made.number, "eo-demo-v1 · chat", {"language_card": "eo.toml"}),
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
    judge(path, run, "judge_semantic", said, {"score": None, "reason": "the reply has no JSON object with a score"})
    app = App(None, path, watch=True)
    asking(path, run, app.queue)
    async with at_rest(app, SMALL) as (_, pilot):
        look("qa-live", app)
        await press(pilot, "enter")
        await until(pilot, lambda: "F1: 0 shared" in text(app))
        look("qa-entry", app)


async def test_sealed_run_counts_answers_nobody_judged(folder: Path) -> None:
    records = [*JUDGED, {"source": "The largest lake?", "predicted": "Baikal"}]
    path, _ = await to_thread(answered, folder, "judged", records)
    async with at_rest(App(None, path), SMALL) as (app, pilot):
        await press(pilot, "enter")
        assert "1 entry not judged" in text(app)
