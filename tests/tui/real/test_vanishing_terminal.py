"""A terminal that is taken away: the program ends by itself, and everything that was done is there."""

from __future__ import annotations

import signal
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from harness.store.file.database import open_store
from harness.store.run_list import list_runs
from tests.review.session.scenes import batch_of, items_of
from tests.tui.real.pseudo import Pseudo
from tests.tui.review.terminal import Terminal as Review
from tests.tui.review.terminal import prepare

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals are of Unix")

HUNG_UP = 128 + signal.SIGHUP


def drafts(folder: Path) -> str:
    file = f"file:{folder}/home/review.sqlite?mode=ro"
    with closing(sqlite3.connect(file, uri=True)) as connection:
        return str(connection.execute("SELECT * FROM draft").fetchall())


def states(home: Path) -> list[str]:
    with closing(open_store(home / "rosetta.sqlite")) as store:
        return [run.state for run in list_runs(store)]


@pytest.mark.thorough
@pytest.mark.parametrize("ignored", [True, False], ids=["hang-up ignored", "hang-up sent"])
def test_home_ends_with_its_terminal(tmp_path: Path, ignored: bool) -> None:
    with Pseudo(tmp_path / "h", ignore_hang_up=ignored) as app:
        app.wait_for("Run the demo", "Help")
        assert app.vanish() == HUNG_UP


@pytest.mark.thorough
def test_a_run_is_stopped_or_done_when_its_terminal_vanishes(tmp_path: Path) -> None:
    with Pseudo(tmp_path / "h", ignore_hang_up=True) as app:
        app.wait_for("Run the demo", "Help")
        app.press("D")
        app.wait_for("chrF++", "Metrics")
        assert app.vanish() == HUNG_UP
    assert states(tmp_path / "h") in (["stopped"], ["complete"])


@pytest.mark.thorough
def test_the_end_that_the_system_asks_for_gives_the_terminal_back(tmp_path: Path) -> None:
    with Pseudo(tmp_path / "h") as app:
        app.wait_for("Run the demo", "Help")
        app.process.terminate()
        assert app.process.wait(600) == 128 + signal.SIGTERM
        app.screen()
        assert b"\x1b[?1049l" in app.drawn


@pytest.mark.thorough
def test_what_a_reviewer_was_typing_outlives_the_terminal(tmp_path: Path) -> None:
    prepare(tmp_path, batch_of(items_of(3)))
    with Review(tmp_path) as terminal:
        terminal.see("Which code is on your card?")
        terminal.press("\r", "Candidate 1.")
        terminal.press("c", "Your comment")
        terminal.press("half a thought", "half a thought")
        terminal.child.ptyproc.fileobj.close()
        assert terminal.child.ptyproc.wait() == HUNG_UP
    assert "half a thought" in drafts(tmp_path)
