"""The developer from nothing: the demo, a corpus and method of one's own, a run watched from two terminals, compared."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from harness.store.file.database import open_store
from harness.store.run_list import list_runs
from tests.tui.commands.command_line import ok
from tests.walks.shell import Terminal

METHOD = """
import asyncio
import pathlib

from harness.method.method import MethodClass, Output, Setup

HERE = pathlib.Path(__file__).parent


class Mine:
    endpoint = None

    def __init__(self, options):
        self.setup = Setup(
            method="mine", method_class=MethodClass.CUSTOM_PLUGIN, method_version="1",
            model_slug="mine", condition="x",
        )
        self.asked = 0

    async def translate(self, entries, calls):
        self.asked += 1
        while self.asked > 3 and not (HERE / "go").exists():
            await asyncio.sleep(0.01)
        return [Output(entry.source) for entry in entries]
"""
"""Answers three entries, and the others when the file ``go`` lies beside it."""


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    with closing(Terminal(tmp_path)) as opened:
        yield opened


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")
def test_from_an_empty_home_to_two_runs_of_ones_own_corpus_compared(terminal: Terminal, tmp_path: Path) -> None:  # fmt: skip
    home, corpus, method = tmp_path / "home", tmp_path / "mine.tsv", tmp_path / "method.py"
    rows = (f"{n}\tThe dog number {n} sleeps.\tLa hundo {n} dormas." for n in range(1, 13))
    corpus.write_text("\n".join(["id\tsource\treference", *rows, ""]), "utf-8")
    method.write_text(METHOD, "utf-8")
    terminal.wait_for("D  Run the demo")
    terminal.press("D")
    terminal.wait_for("chrF++", "complete")
    terminal.press("q")
    terminal.wait_for("› Home   1 run")
    terminal.press("Down", "Enter")  # the cursor is on the run
    terminal.wait_for("eo-demo-v1", "complete")
    terminal.press("q")
    terminal.wait_for("› Home   1 run")

    terminal.press("n")  # all that follows is typed ahead, with no look at the screen
    for typed, tabs in ((corpus, 1), ("en", 1), ("eo", 3), (f"{method}:Mine", 0)):
        terminal.type(str(typed))
        terminal.press(*["Tab"] * tabs)
    terminal.press("C-s")
    terminal.wait_for("mine · EN→EO", "running", "3 done")
    with closing(Terminal(tmp_path, "watch")) as second:
        second.wait_for("mine · EN→EO", "3 done")
        terminal.press("d")
        second.wait_for("draining")
        (tmp_path / "go").touch()
        second.wait_for("stopped", "11 done", "1 waiting")
        terminal.wait_for("stopped", "R continues here")
        terminal.press("R")
        terminal.wait_for("complete", "12 done")
        second.wait_for("complete", "12 done")
        second.press("q")
        second.wait_until_gone()
    terminal.press("q")
    terminal.wait_for("› Home   2 runs")
    terminal.press("N")
    terminal.wait_for("New run", "12 of 12 entries")
    terminal.press("C-s")
    terminal.wait_for("mine · EN→EO", "complete", "12 done")
    terminal.press("q")
    terminal.wait_for("› Home   3 runs")
    terminal.press("c")
    terminal.wait_for("› Compare", "12")
    terminal.press("q")
    terminal.wait_for("› Home")
    terminal.press("q")
    terminal.wait_until_gone()
    with closing(open_store(home / "rosetta.sqlite")) as store:
        assert [run.state for run in list_runs(store)] == ["complete"] * 3
    assert "chrF++" in ok("compare last last~1", home)


@pytest.mark.every_python
@pytest.mark.costly("two runs of the demo, from the empty folder to their comparison")
def test_commands_from_an_empty_home_to_two_runs_compared(tmp_path: Path) -> None:
    for _ in range(2):
        ok("demo --plain", tmp_path)
    with closing(open_store(tmp_path / "rosetta.sqlite")) as store:
        assert [run.state for run in list_runs(store)] == ["complete"] * 2
    assert "chrF++" in ok("compare last last~1", tmp_path)
