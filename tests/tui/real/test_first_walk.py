"""The ways of a first session in a real terminal: two runs, side by side, ranked; settings, palette, the form."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from harness.settings import read_settings
from harness.store.file.database import open_store
from harness.store.run_list import list_runs
from tests.tui.commands.processes import Rosetta
from tests.tui.home.terminal import Terminal

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")

EMPTY = ("D  Run the demo", "n  New run")


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    with closing(Terminal(tmp_path)) as opened:
        yield opened


def states(home: Path) -> list[str]:
    with closing(open_store(home / "rosetta.sqlite")) as store:
        return [run.state for run in list_runs(store)]


@pytest.mark.thorough
def test_from_nothing_to_two_runs_side_by_side(terminal: Terminal, tmp_path: Path) -> None:
    terminal.wait_for(*EMPTY)
    terminal.press("D")
    terminal.wait_for("chrF++", "complete")
    terminal.press("Down", "Enter")
    terminal.wait_for("Reference", "Output")
    terminal.press("q")
    terminal.wait_for("complete")
    terminal.press("q")
    terminal.wait_for("› Home   1 run")
    assert Rosetta(tmp_path / "home")("demo", "--system", "griza", "--plain")[0] == 0
    terminal.wait_for("› Home   2 runs")  # seen by itself
    terminal.press("c")
    terminal.wait_for("› Compare", "is better than")
    terminal.press("q")
    terminal.wait_for("› Home")
    terminal.press("l")
    terminal.wait_for("› Leaderboard", "2 runs")
    terminal.press("q")
    terminal.wait_for("› Home")
    terminal.press(",")
    terminal.wait_for("› Settings", "Colours", "rosetta-light")
    terminal.press("Enter")
    terminal.wait_for("Open", "rosetta-light")  # the lines have the keys now
    terminal.press("Down", "Enter")
    terminal.wait_for("saved ✓")
    terminal.press("q")
    terminal.wait_for("› Home")
    terminal.press("?")
    terminal.wait_for("Home: keys", "Compare")
    terminal.press("Escape")
    terminal.press("C-p")
    terminal.wait_for("Search for commands")
    terminal.press("Q", "u", "i", "t")
    terminal.wait_for("Leave Rosetta")
    terminal.press("Enter")
    terminal.press("Enter")
    terminal.wait_until_gone()
    assert states(tmp_path / "home") == ["complete", "complete"]
    assert read_settings(tmp_path / "home").theme == "rosetta-light"


@pytest.mark.thorough
def test_the_form_leads_to_a_finished_run(terminal: Terminal, tmp_path: Path) -> None:
    terminal.wait_for(*EMPTY)
    terminal.press("n")
    terminal.wait_for("The corpus", "nothing to choose from")
    terminal.press("Escape")
    terminal.wait_for(*EMPTY)
    terminal.press("D")
    terminal.wait_for("chrF++", "complete")
    terminal.press("q")
    terminal.wait_for("› Home   1 run")
    terminal.press("N")
    terminal.wait_for("The corpus", "96 of 96 entries", "time about")
    terminal.press("C-s")
    terminal.wait_for("complete", "chrF++")
    terminal.press("q")
    terminal.wait_for("› Home   2 runs")
    terminal.press("q")
    terminal.wait_until_gone()
    assert states(tmp_path / "home") == ["complete", "complete"]
