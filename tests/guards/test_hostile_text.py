"""No text of a corpus, a model or a card acts on the terminal, on any screen, and none names a folder of the user's machine."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing
from importlib.resources import files
from pathlib import Path

import pytest
from textual.widgets import Input

from corpora.samples import DEMO_COACHING, DEMO_CORPUS, DEMO_WEAK, sample_path
from harness.core.query import Query, QueryTerm
from harness.run.events import Failed, Waiting
from harness.store.runs import find_run, seal_run
from rosetta_tui.app.app import RosettaApp
from rosetta_tui.entry.screen import EntryScreen
from rosetta_tui.live.screen import LiveScreen
from tests.tui.commands.command_line import Rosetta
from tests.tui.entry.explained import Known, hostile_why
from tests.tui.real import pseudo
from tests.tui.scenes import HOSTILE, Scene, acting, card_of, hostile
from tests.tui.screens import App, settle, text

SIZE = (80, 24)


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Scene]:
    with closing(hostile(tmp_path / "s.sqlite")) as scene:
        yield scene


def assert_harmless(app: RosettaApp) -> None:
    screen = text(app)
    assert acting(screen.replace("\n", "")) == []
    assert app.is_running


async def test_the_live_screen(made: Scene) -> None:
    app = App(made, watch=True)
    async with app.run_test(size=SIZE, notifications=True, tooltips=True) as pilot:
        waiting = (Waiting(2, 2, 6, 1.0, HOSTILE[3]),)
        made.play([made.started(), *made.scored(len(HOSTILE)), made.progress(5, waiting=waiting)])
        await settle(pilot)
        assert_harmless(app)
        assert "[/foo]" in text(app)
        for _ in HOSTILE:
            await pilot.press("down")
        await settle(pilot)
        assert_harmless(app)
        await pilot.press("m")
        await settle(pilot)
        assert_harmless(app)
        await pilot.press("escape")
        made.play([Failed(made.run_id, "".join(HOSTILE[:7]))])
        await settle(pilot)
        assert_harmless(app)


async def test_clicks_on_markup_do_nothing(made: Scene) -> None:
    app = App(made, watch=True)
    async with app.run_test(size=(160, 48)) as pilot:
        made.play([made.started(), *made.scored(len(HOSTILE)), made.progress(5)])
        await settle(pilot)
        row = next(i for i, line in enumerate(text(app).split("\n")) if "@click" in line)
        for column in range(0, 160, 7):
            await pilot.click(offset=(column, row))
        await settle(pilot)
        assert app.is_running


@pytest.mark.thorough
async def test_the_entry_screen(made: Scene) -> None:
    app = App(made)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        run = find_run(made.store, made.run_id)
        missing = {"x[/]\x1b": HOSTILE[3]}
        explaining = Known(made, hostile_why())
        app.push_screen(EntryScreen(made.store, run, run.positions, 0, missing, explaining))
        await settle(pilot)
        await pilot.press("p", "r", "a")
        for _ in HOSTILE:
            await settle(pilot)
            assert_harmless(app)
            await pilot.press("home")
            await settle(pilot)
            assert_harmless(app)
            await pilot.press("y", "right")


async def test_home(made: Scene) -> None:
    card = card_of(made)
    card["claimable_tier"] = HOSTILE[3]
    card["scores"] = {**card["scores"], "reasons": {HOSTILE[3]: HOSTILE[4]}}  # type: ignore[dict-item]
    seal_run(made.store, made.number, json.dumps(card))
    app = App(made)
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await settle(pilot)
        assert_harmless(app)
        await pilot.press("x")
        await settle(pilot)
        assert_harmless(app)
        await pilot.press("escape", "enter")
        await settle(pilot)
        assert_harmless(app)


async def test_a_search_for_hostile_text(made: Scene) -> None:
    app = App(made, watch=True)
    async with app.run_test(size=(120, 36)) as pilot:
        made.play([made.started(), *made.scored(len(HOSTILE)), made.progress(5)])
        await settle(pilot)
        assert isinstance(app.screen, LiveScreen)
        for hostile_text in HOSTILE[:9]:
            app.screen.filter_by(Query((QueryTerm("", ":", hostile_text),)))
            await settle(pilot)
            app.screen.query_one("#search", Input).value = f"{hostile_text}<3"
            await settle(pilot)
            assert_harmless(app)


# on a real terminal

CHILD = """
import sys
from pathlib import Path
from tests.tui.scenes import HOSTILE, hostile
from tests.tui.screens import App

made = hostile(Path(sys.argv[2]))
made.play([made.started(), *made.scored(len(HOSTILE)), made.progress(5)])
App(made, watch=True).run()
"""

RAW = [b"\x1b]52;", b"\x1b]0;title", b"\x1b[2J\x1b[Hgone", b"\xc2\x9b2J", b"\xe2\x80\xae", b"\x00"]
"""What the hostile texts would send if they were not made harmless."""


@pytest.mark.thorough
def test_no_escape_of_the_data_reaches_a_real_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pseudo, "PROGRAM", CHILD)
    with pseudo.Pseudo(tmp_path, tmp_path / "s.sqlite") as app:
        for shown, key in (("clip", "\r"), ("Reference", "q"), ("Quality", "q"), ("Stop and", "y")):
            app.wait_for(shown)
            app.press(key)
        assert app.ended() == 0
        assert [raw for raw in RAW if raw in app.drawn] == []


# no folder of the user's machine is on a card or in what a run prints: cards are passed on

TELLTALE = "Zaubertrank-7f3a"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with everything that a run of the demo can be told to use."""
    folder = tmp_path / TELLTALE / "home"
    folder.mkdir(parents=True)
    for sample in (DEMO_CORPUS, DEMO_WEAK, DEMO_COACHING):
        shutil.copy(sample_path(sample), folder / sample)
    shipped = Path(str(files("corpora"))) / "languages" / "shipped"
    shutil.copy(shipped / "epo" / "epo.hfstol", folder / "own.hfstol")
    shutil.copy(shipped / "eo.toml", folder / "own.toml")
    entries = json.loads((folder / DEMO_CORPUS).read_text("utf-8"))["entries"]
    scores = "".join(f"{entry['id']}\t0.5\n" for entry in entries)
    (folder / "scores.tsv").write_text(scores, "utf-8")
    (folder / "few.tsv").write_text("1\t0.5\n", "utf-8")
    (folder / "glosses.tsv").write_text("hundo\tdog\n", "utf-8")
    return folder


@pytest.fixture
def rosetta(folder: Path) -> Rosetta:
    return Rosetta(folder / "data")


def replay(folder: Path, *more: object) -> list[object]:
    return [
        "run", folder / DEMO_CORPUS, "-m", "replay", "--outputs", folder / DEMO_WEAK,
        "--terms", folder / DEMO_COACHING, "--analyser", folder / "own.hfstol",
        "--language-card", folder / "own.toml", "--gloss-dictionary", folder / "glosses.tsv", *more,
    ]  # fmt: skip


def printed(rosetta: Rosetta, arguments: Sequence[object]) -> str:
    """Return all that a run prints, in lines and in JSON lines, and all that is exported of it."""
    said = []
    for style in ("--plain", "--json-lines"):
        code, out, problems = rosetta(*arguments, style)
        assert code == 0, problems
        assert out
        said += [out, problems]
    for form in ("card", "jsonl", "csv"):
        code, out, problems = rosetta("runs", "export", "last", "--form", form, "-o", "-")
        assert code == 0, problems
        said += [out, problems]
    for words in (["show", "last"], ["show", "last", "--json"], ["list"], ["verify", "last"]):
        said += rosetta("runs", *words)[1:]
    return "\n".join(said)


@pytest.mark.thorough
def test_files_of_ones_own_are_named_without_their_folder(rosetta: Rosetta, folder: Path) -> None:
    for scores, told in (
        ("scores.tsv", r"scores\.tsv"),
        ("few.tsv", r"few\.tsv: \d+ of the run's 96 entries have no score"),
    ):
        said = printed(rosetta, replay(folder, "--comet", folder / scores))
        assert re.search(told, said)
        assert "own.hfstol" in said
        assert TELLTALE not in said
    code, _, problems = rosetta(*replay(folder), "--plain")
    assert code == 0, problems
    for scores in ("scores.tsv", "few.tsv"):
        again = ["score", "--rescore", "last", "--comet", folder / scores, "--json"]
        code, out, problems = rosetta(*again)
        assert code == 0, problems
        assert scores in out
        assert TELLTALE not in out + problems


@pytest.mark.thorough
def test_damaged_analyser_is_named_without_its_folder(rosetta: Rosetta, folder: Path) -> None:
    languages = rosetta.home / "languages" / "eo"
    languages.mkdir(parents=True)
    (languages / "epo.hfstol").write_bytes(b"damaged")
    chosen = ["run", folder / DEMO_CORPUS, "-m", "copy-source"]
    said = printed(rosetta, chosen)
    assert "epo.hfstol" in said
    assert TELLTALE not in said


@pytest.mark.thorough
def test_the_telltale_is_found_where_there_is_one(rosetta: Rosetta, folder: Path) -> None:
    code, _, problems = rosetta("run", folder / "missing.json", "-m", "copy-source", "--plain")
    assert code == 2
    assert TELLTALE in problems
