"""A new command is one file, a new annotator one file and one row, a new screen one folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import rosetta_tui
import rosetta_tui.commands
from harness.core.installation import installed
from harness.setup.annotator_table import ANNOTATORS, AnnotatorRow
from rosetta_tui.cli import main
from scoring.core.specification import specification, table_row
from tests.harness.ranked import play, ranked_corpus

FILE = '''"""``rosetta greet``: Say hello to somebody."""

import click


@click.command()
@click.argument("name")
def greet(name: str) -> None:
    """Say hello to NAME."""
    click.echo(f"Hello, {name}.")
'''


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return ended.value.code, *capsys.readouterr()


def test_one_file_is_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "commands"
    folder.mkdir()
    (folder / "greet.py").write_text(FILE, "utf-8")
    (folder / "parts.py").write_text('"""What commands share."""\n', "utf-8")
    (folder / "other.py").write_text(FILE, "utf-8")  # its first line names another command
    (folder / "broken.py").write_bytes(b"\xff")
    assert said(capsys, "greet", "Ana")[0] == 2
    monkeypatch.setattr(rosetta_tui, "__path__", [*rosetta_tui.__path__, str(tmp_path)])
    monkeypatch.setattr(
        rosetta_tui.commands, "__path__", [*rosetta_tui.commands.__path__, str(folder)]
    )
    assert said(capsys, "greet", "Ana") == (0, "Hello, Ana.\n", "")
    page = said(capsys, "--help")[1].splitlines()
    [line] = (each for each in page if each.endswith(" Say hello to somebody."))
    assert line.split()[0] == "greet"
    place = page.index(line)
    assert page[place - 1].startswith("  doctor ")
    assert page[place + 1] == ""
    assert "Say hello to NAME." in said(capsys, "help", "greet")[1]
    assert "Did you mean 'greet'?" in said(capsys, "gret")[2]
    assert "There is no command 'parts'." in said(capsys, "parts")[2]


ANNOTATOR_FILE = """
from pydantic import BaseModel

from harness.annotators.annotator import Find
from harness.core.failures import HarnessError
from scoring.core.metric import Statistics
from scoring.core.metric import RateMetric
from scoring.core.specification import metric_info
from scoring.metrics.maker import Maker


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


class Heard(RateMetric):
    info = metric_info("words_heard")
    signature = "ear:1"
    why_missing = "nothing is heard"

    def stats(self, translation):
        heard = translation.annotations.get("hearing")
        return None if heard is None else (min(heard, 4), 4)


METRICS = {"words_heard": Maker(lambda _: Heard())}
"""

ROW = """
title = "Words Heard"
short = "heard"
module = "annotator_from_outside"
annotators = ["hearing"]
category = "semantic"
section = "§2.3"
low = 0.0
high = 1.0
better = "higher"
level = "both"
what = "Share of four words that are heard."
status = "implemented"
needs = ["nothing"]
library = "own code"
interval = true
excluded = "It is made for a test."
"""


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store of its own, with the annotator in its table and a metric that asks it."""
    (tmp_path / "annotator_from_outside.py").write_text(ANNOTATOR_FILE, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(
        specification().metrics, "words_heard", table_row("words_heard", tomllib.loads(ROW))
    )
    row = AnnotatorRow(
        "annotator_from_outside", progress="texts heard", package="click", use="hears words"
    )
    monkeypatch.setitem(ANNOTATORS, "hearing", row)
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "data"))
    (tmp_path / "data").mkdir(mode=0o700)
    return tmp_path / "data" / "rosetta.sqlite"


def annotator_said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit):
        main(arguments)
    return capsys.readouterr().out


def test_one_file_and_one_row_are_enough(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = play(path, ranked_corpus(20), 20, "alpha")
    card = path.with_name("card.json")
    annotator_said(capsys, "runs", "export", run, "-o", str(card))
    told = json.loads(card.read_text("utf-8"))
    assert told["scoring"]["annotators"] == {"hearing": {"version": "1", "language": "eo"}}
    assert told["scores"]["words_heard"] == 1.0
    assert told["scores"]["signatures"]["words_heard"] == "ear:1"
    assert "Words Heard" in annotator_said(capsys, "runs", "show", run)
    assert f"hearing: click {installed('click')}: hears words" in annotator_said(capsys, "doctor")

    monkeypatch.setattr("annotator_from_outside.BROKEN", True)
    deaf = play(path, ranked_corpus(19), 19, "beta")
    card = path.with_name("deaf.json")
    annotator_said(capsys, "runs", "export", deaf, "-o", str(card))
    told = json.loads(card.read_text("utf-8"))
    assert told["scores"]["words_heard"] is None
    assert told["scores"]["reasons"]["words_heard"] == "the ear is deaf"
    assert "annotators" not in told["scoring"]


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

from harness.store.file.database import open_store
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


@pytest.mark.costly("an app in a process of its own")
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
