"""What is added from outside the tree, and all that follows from it: a metric, a command, an annotator, a screen."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
import tomllib
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import rosetta_tui
import rosetta_tui.commands
from corpora.files.installed import installed
from harness.annotators import ANNOTATORS, AnnotatorRow
from harness.card.model import card_schema
from harness.leaderboard.ranking import leaderboards
from harness.setup.scoring_options import ScoringOptions
from harness.setup.scoring_tools import stored_scorer
from harness.store.corpora.entries import read_entries
from harness.store.results import read_results
from harness.store.run_list import list_runs
from harness.store.runs import find_run, read_run
from harness.store.sqlite.database import open_store
from rosetta_tui.entry.table import EntryTable
from rosetta_tui.leaderboard.rows import columns, entrant_record
from rosetta_tui.runs.table import run_record
from scoring.core.specification import specification, table_row
from tests.extending.demo_pack import Shown, said
from tests.harness.ranked import play, ranked_corpus
from tests.tui.screens import App, settle, text

# a metric, and an annotator that another one asks: one file and rows of the tables; cards, lists and pages follow

FILE = """
from pydantic import BaseModel

from harness.annotators.annotator import Find
from harness.core.failures import HarnessError
from scoring.core.metric import RateMetric
from scoring.core.specification import metric_info
from scoring.metrics.maker import Maker


class VowelLoss(RateMetric):
    info = metric_info("vowel_loss")
    signature = "vowels:aeiou"
    why_missing = "the references have no vowel"

    def stats(self, translation):
        there = sum(translation.entry.reference.count(vowel) for vowel in "aeiou")
        kept = sum(translation.output.count(vowel) for vowel in "aeiou")
        return (max(0, there - kept), there) if there else None


class Heard(RateMetric):
    info = metric_info("words_heard")
    signature = "ear:1"
    why_missing = "nothing is heard"

    def stats(self, translation):
        heard = translation.annotations.get("hearing")
        return None if heard is None else (min(heard, 4), 4)


METRICS = {"vowel_loss": Maker(lambda _: VowelLoss()), "words_heard": Maker(lambda _: Heard())}


class Facts(BaseModel):
    version: str = "1"
    language: str


class Hearing:
    id = "hearing"
    slow = True

    def __init__(self, step):
        self._step = step
        self.facts = Facts(language="eo")

    def annotate(self, translations):
        self._step(1, len(translations))
        if BROKEN:
            raise HarnessError("the ear is deaf")
        return [len(each.output.split()) for each in translations]

    def close(self):
        pass


BROKEN = False


def find(search):
    if search.resources.setup.target_language != "eo":
        return None
    made = Hearing(search.step)
    return Find(made, made.facts)
"""

ROWS = """
[vowel_loss]
title = "Loss of Vowels"
short = "vowels"
category = "surface"
section = "§2.1"
better = "lower"
what = "Share of the reference's vowels that the output lacks."
needs = ["reference"]
digits = 1

[words_heard]
title = "Words Heard"
short = "heard"
annotators = ["hearing"]
category = "semantic"
section = "§2.3"
better = "higher"
what = "Share of four words that are heard."
needs = ["nothing"]
"""
BOTH = {
    "module": "from_outside", "low": 0.0, "high": 1.0, "level": "both", "status": "implemented",
    "library": "own code", "interval": True, "excluded": "It is made for a test.",
}  # fmt: skip


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of its own, with the metrics and the annotator in their tables."""
    (tmp_path / "from_outside.py").write_text(FILE, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    for id_, row in tomllib.loads(ROWS).items():
        monkeypatch.setitem(specification().metrics, id_, table_row(id_, BOTH | row))
    hearing = AnnotatorRow("from_outside", progress="texts heard", package="click", use="hears")
    monkeypatch.setitem(ANNOTATORS, "hearing", hearing)
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "data"))
    (tmp_path / "data").mkdir(mode=0o700)
    return tmp_path / "data"


@dataclass(frozen=True)
class Runs:
    """A good run and a bad one of the same corpus, scored by the metrics too."""

    path: Path
    good: str
    bad: str


@pytest.fixture
def runs(home: Path) -> Runs:
    path, corpus = home / "rosetta.sqlite", ranked_corpus(20)
    return Runs(path, play(path, corpus, 19, "alpha"), play(path, corpus, 0, "beta"))


def test_entries_cards_and_lists_have_it(runs: Runs, capsys: Shown) -> None:
    with closing(open_store(runs.path)) as store:
        run = read_run(store, find_run(store, runs.bad).id)
        entries = read_entries(store, run.corpus, run.positions)
        results = read_results(store, run.id)
        scorer = stored_scorer(run, "eo", list(entries.values()))
        kept = [scorer.entry_values(scorer.unpack(each.statistics)).values for each in results]
        for board in leaderboards(store):
            assert "vowels" in [column.key for column in columns()]
            worst = entrant_record(board, board.entrants[-1])
        [bad] = [run_record(each) for each in list_runs(store) if each.run_id == runs.bad]
    assert [each["vowel_loss"] for each in kept][:2] == [1 / 6, 3 / 8]  # counted by hand
    assert bad["vowel_loss"] == worst["vowel_loss"] == pytest.approx(12 / 36)
    card = json.loads(said(capsys, "runs", "show", runs.bad, "--json"))
    scores = card.get("card", card)["scores"]
    assert scores["vowel_loss"] == pytest.approx(12 / 36)  # of each five references
    assert scores["signatures"]["vowel_loss"] == "vowels:aeiou"
    assert scores["confidence_intervals"]["vowel_loss"]["ci_upper"] > 1 / 3
    assert "Loss of Vowels" in said(capsys, "runs", "show", runs.bad)
    assert "Loss of Vowels" in said(capsys, "language", "check", "eo")


@pytest.mark.thorough
async def test_screens_of_scores_and_entries_show_it(runs: Runs) -> None:
    app = App(None, runs.path)
    async with app.run_test(size=(420, 30)) as pilot:
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        table = app.screen.query_one("#entries", EntryTable)
        assert " vowels " in text(app)
        cells = dict(zip(table.entries.further, table.entries.cells(0)[8:], strict=False))
        assert cells["vowel_loss"].text == "0.2"
        assert table.records.record(0)["vowel_loss"] == 1 / 6
        await pilot.press("m")
        await settle(pilot)
        assert "Loss of Vowels" in text(app)


@pytest.mark.usefixtures("home")
def test_options_pages_and_the_schema_follow_from_the_row() -> None:
    assert ScoringOptions(metrics=("Vowels",)).asked_for == {"vowel_loss"}
    assert "vowel_loss" in ScoringOptions().wanted
    docs = Path(__file__).parents[2] / "docs" / "make_metrics.py"
    assert "| `vowel_loss` | 0–1 | lower | both |" in runpy.run_path(str(docs))["page"]()
    schema: Any = card_schema()
    there = schema["$defs"]["Scores"]["properties"]["vowel_loss"]
    assert there["title"] == "Loss of Vowels"


def test_annotator_is_asked_told_and_may_fail(home: Path, capsys: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    def exported(right: int, model: str) -> dict[str, Any]:
        run = play(home / "rosetta.sqlite", ranked_corpus(20), right, model)
        said(capsys, "runs", "export", run, "-o", str(home / f"{model}.json"))
        assert "Words Heard" in said(capsys, "runs", "show", run)
        card: dict[str, Any] = json.loads((home / f"{model}.json").read_text("utf-8"))
        return card

    told = exported(20, "alpha")
    assert told["scoring"]["annotators"] == {"hearing": {"version": "1", "language": "eo"}}
    assert told["scores"]["words_heard"] == 1.0
    assert told["scores"]["signatures"]["words_heard"] == "ear:1"
    examined = said(capsys, "doctor", code=None)
    assert f"hearing: click {installed('click')}: hears" in examined
    monkeypatch.setattr("from_outside.BROKEN", True)
    told = exported(19, "beta")
    assert told["scores"]["words_heard"] is None
    assert told["scores"]["reasons"]["words_heard"] == "the ear is deaf"
    assert "annotators" not in told["scoring"]


# a command is one file, a screen one folder

GREET = '''"""``rosetta greet``: Say hello to somebody."""

import click


@click.command()
@click.argument("name")
def greet(name: str) -> None:
    """Say hello to NAME."""
    click.echo(f"Hello, {name}.")
'''


def test_one_file_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Shown) -> None:
    folder = tmp_path / "commands"
    folder.mkdir()
    (folder / "greet.py").write_text(GREET, "utf-8")
    (folder / "parts.py").write_text('"""What commands share."""\n', "utf-8")
    (folder / "other.py").write_text(GREET, "utf-8")  # its first line names another command
    (folder / "broken.py").write_bytes(b"\xff")
    said(capsys, "greet", "Ana", code=2)
    monkeypatch.setattr(rosetta_tui, "__path__", [*rosetta_tui.__path__, str(tmp_path)])
    monkeypatch.setattr(rosetta_tui.commands, "__path__", [*rosetta_tui.commands.__path__, str(folder)])
    assert said(capsys, "greet", "Ana") == "Hello, Ana.\n"
    page = said(capsys, "--help").splitlines()
    [line] = (each for each in page if each.endswith(" Say hello to somebody."))
    assert line.split()[0] == "greet"
    place = page.index(line)
    assert page[place - 1 : place + 2] == ["Further:", line, ""]
    assert "Say hello to NAME." in said(capsys, "help", "greet")
    assert "Did you mean 'greet'?" in said(capsys, "gret", code=2)
    assert "There is no command 'parts'." in said(capsys, "parts", code=2)


ROOM = '''"""A garden."""

from rosetta_tui.toolkit.places import Place

PLACE = Place("garden", "Garden", "Rest a while", "rosetta_tui.garden.screen", "Garden", key="f9")
'''

SCREEN = '''"""The garden."""

from textual.binding import Binding
from textual.screen import Screen
from textual.widgets import Static


class Garden(Screen[None]):
    TITLE = "Garden"
    CSS_PATH = "garden.tcss"
    BINDINGS = [Binding("q", "app.home", "Back", id="back")]

    def __init__(self, store_path):
        super().__init__()
        self._store_path = store_path

    def compose(self):
        yield Static(f"Here grows {self._store_path.name}")
'''

PROGRAM = """
import asyncio
import sys
from pathlib import Path

import rosetta_tui

rosetta_tui.__path__.append(sys.argv[1])

from harness.store.sqlite.database import open_store
from tests.tui.screens import App, settle, text

path = Path(sys.argv[2])
open_store(path).close()


async def look():
    app = App(None, path)
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await pilot.press("f9")
        await settle(pilot)
        print("by key:", "Here grows rosetta.sqlite" in text(app), app.screen.styles.padding.top)
        await pilot.press("q")
        await settle(pilot)
        print("away:", "Here grows" not in text(app))
        [row] = (each for each in app.get_system_commands(app.screen) if each.title == "Go to: Garden")
        print("in the palette:", row.help)
        app.call_later(row.callback)
        await settle(pilot)
        print("by name:", "Here grows rosetta.sqlite" in text(app))


asyncio.run(look())
"""


@pytest.mark.thorough
def test_one_folder_is_enough(tmp_path: Path) -> None:
    """In a process of its own: keys are read when the app is imported."""
    garden = tmp_path / "garden"
    garden.mkdir()
    (garden / "__init__.py").write_text(ROOM, "utf-8")
    (garden / "screen.py").write_text(SCREEN, "utf-8")
    (garden / "garden.tcss").write_text("Garden { padding: 3; }", "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path), str(tmp_path / "rosetta.sqlite")],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "ROSETTA_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == [
        "by key: True 3", "away: True", "in the palette: Rest a while", "by name: True"
    ], done.stderr  # fmt: skip
