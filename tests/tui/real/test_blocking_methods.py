"""A method that never comes back can be ended, on the screen and without one, and nothing is lost."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import closing
from pathlib import Path

import pytest

from corpora.samples import DEMO_CORPUS, sample_path
from harness.store.file.database import open_store
from harness.store.results import stored_positions
from harness.store.runs import find_run
from rosetta_tui.session.engine import INTERRUPTED
from tests.tui.commands.processes import Rosetta, read_until
from tests.tui.real.pseudo import PATIENCE_SECONDS, Pseudo

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and terminals of Unix")

SLEEPER = """
import asyncio, os, time
from harness.method.method import MethodClass, Output, Setup


class Sleeper:
    endpoint = None

    def __init__(self, options):
        self.left = 5
        self.setup = Setup(
            method="sleeper", method_class=MethodClass.CUSTOM_PLUGIN, method_version="1",
            model_slug="sleeper", condition="x",
        )

    async def translate(self, entries, calls):
        if os.environ.get("BLOCKS") and self.left == 0:
            open(os.environ["BLOCKS"], "w").close()
            time.sleep(100_000)
        self.left -= 1
        return [Output(entry.source) for entry in entries]
"""


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "sleeper.py"
    path.write_text(SLEEPER, "utf-8")
    monkeypatch.setenv("BLOCKS", str(tmp_path / "blocked"))
    return path


def words(plugin: Path) -> list[object]:
    return ["run", sample_path(DEMO_CORPUS), "-m", f"{plugin}:Sleeper", "--concurrency", 1]


def stored(home: Path) -> tuple[str, int]:
    with closing(open_store(home / "rosetta.sqlite")) as connection:
        run = find_run(connection, "last")
        return run.state, len(stored_positions(connection, run.id))


def goes_on(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was stored when the method blocked is kept, and the run comes to its end later."""
    assert stored(home) == ("stopped", 5)
    monkeypatch.delenv("BLOCKS")
    code, _, problems = Rosetta(home)("resume", "last")
    assert code == 0, problems
    assert stored(home) == ("complete", 96)


@pytest.mark.thorough
@pytest.mark.parametrize("signals", [[signal.SIGINT, signal.SIGINT], [signal.SIGTERM]])
def test_the_second_ctrl_c_ends_it_and_so_does_a_polite_kill(
    tmp_path: Path, plugin: Path, monkeypatch: pytest.MonkeyPatch, signals: list[signal.Signals]
) -> None:
    rosetta = Rosetta(tmp_path / "home")
    process = rosetta.start(*words(plugin))
    read_until(process.stdout, "done", 5)
    for number, each in enumerate(signals):
        process.send_signal(each)
        read_until(process.stderr, "Stopping" if number == len(signals) - 1 else "Finishing")
    _, problems = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == INTERRUPTED
    assert "5 of 96 entries are stored" in problems
    assert "rosetta resume" in problems
    assert "Traceback" not in problems
    goes_on(rosetta.home, monkeypatch)


@pytest.mark.thorough
@pytest.mark.parametrize("how", ["quit", "terminate"])
def test_leaving_the_app_ends_it_too(
    tmp_path: Path, plugin: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    home = tmp_path / "home"
    with Pseudo(home, *words(plugin)) as app:
        app.wait_for("5 done", "90 waiting")
        if how == "quit":
            app.press("\x11")
            app.wait_for("Stop and leave")
            app.press("y")
        else:
            os.kill(app.process.pid, signal.SIGTERM)
        assert app.ended() == INTERRUPTED
        assert b"5 of 96 entries are stored" in app.drawn
        assert b"\x1b[?1049l" in app.drawn, "the terminal was given back"
    goes_on(home, monkeypatch)
