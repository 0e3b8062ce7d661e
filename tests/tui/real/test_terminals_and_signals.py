"""Terminals that are taken away, methods that never come back, Ctrl-C: the program ends, and what was done is there."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from corpora.samples import DEMO_CORPUS, sample_path
from harness.store.results import stored_positions
from harness.store.run_list import list_runs
from harness.store.runs import find_run
from harness.store.sqlite.database import open_store
from rosetta_tui.cli import main
from rosetta_tui.session.engine import INTERRUPTED
from tests.harness.scripted import completion, json_answer, serving
from tests.review.session.scenes import batch_of, items_of
from tests.review.thorough import times
from tests.tui.commands.command_line import Rosetta, read_until
from tests.tui.real.pseudo import PATIENCE_SECONDS, Pseudo, wait
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
def test_a_run_is_stopped_or_done_when_its_terminal_vanishes(tmp_path: Path) -> None:
    with Pseudo(tmp_path / "h", ignore_hang_up=True) as app:
        app.wait_for("Run the demo", "Help")
        app.press("D")
        app.wait_for("chrF++", "Metrics")
        assert app.vanish() == HUNG_UP
    assert states(tmp_path / "h") in (["stopped"], ["complete"])


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


# A method that never comes back can be ended, on the screen and without one, and nothing is lost

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
def test_leaving_the_app_ends_it_too(tmp_path: Path, plugin: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
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


# At the first secret run a person on a terminal answers for the local server; nothing is sent before

QUESTION = b"Does it keep all texts on this machine?"


@pytest.mark.thorough
@pytest.mark.parametrize(("answer", "sent"), [("n\n", False), ("y\n", True)])
def test_question_comes_before_anything_is_sent(tmp_path: Path, answer: str, sent: bool) -> None:
    corpus, home = tmp_path / "corpus.json", tmp_path / "home"
    dataset = {"id": "made", "source_language": "en", "target_language": "eo"}
    entry = {"source": "kanario", "reference": "r", "segment": "gold_standard"}
    rows = [{"id": n, **entry} for n in range(6)]
    corpus.write_text(json.dumps({"dataset": dataset, "entries": rows}))
    with serving(lambda _: json_answer(completion("x"))) as server:
        words = ("run", corpus, "-m", "chat", "--model", "m", "--endpoint", server.url, "--plain")
        with Pseudo(home, *words) as terminal:
            wait(lambda: terminal.screen() and bytes(terminal.drawn), lambda drawn: QUESTION in drawn)
            assert server.asked == []
            terminal.press(answer)
            assert terminal.ended() == (0 if sent else 130)
            assert b"may forward" in terminal.drawn
            assert b"kanario" not in terminal.drawn
        assert bool(server.asked) is sent
        if sent:
            with Pseudo(home, *words) as again:
                assert again.ended() == 0
                assert QUESTION not in again.drawn


# Ctrl-C at the start of a real process: it ends with 130 and one word, and no traceback

PROGRAM = """
import os, signal, sys
place, seen = int(sys.argv.pop(1)), 0

class Counting:  # sends Ctrl-C while the module of this place is looked for
    @staticmethod
    def find_spec(name, path=None, target=None):
        global seen
        seen += 1
        if seen == place:
            os.kill(os.getpid(), signal.SIGINT)

from rosetta_tui.cli import main
sys.meta_path.insert(0, Counting)
try:
    main()
finally:
    print(f"imports: {seen}", file=sys.stderr)
"""

SWALLOWED = """
import os, signal, sys

class Swallowing:  # as extensions in C do: whatever goes wrong in them is an ImportError
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "click":
            try:
                os.kill(os.getpid(), signal.SIGINT)
            except BaseException:
                raise ImportError("failed to import") from None

from rosetta_tui.cli import main
sys.meta_path.insert(0, Swallowing)
main()
"""

LATER = """
import os, signal, sys
from rosetta_tui import cli

done = cli._run  # the work, which is interrupted outside of any import
def interrupted(arguments):
    os.kill(os.getpid(), signal.SIGINT)
    return done(arguments)
cli._run = interrupted
cli.main()
"""


def run(program: str, *arguments: str, home: Path) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, *arguments], capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL, env=os.environ | {"ROSETTA_HOME": str(home)},
    )  # fmt: skip
    return done.returncode, done.stderr


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT that a process sends itself")
@pytest.mark.costly("starts the program again and again")
def test_ctrl_c_while_anything_is_imported_is_one_word(tmp_path: Path) -> None:
    for command in ("leaderboard", "verify README.md")[: times(1, 2)]:
        words = command.split()
        run(PROGRAM, "0", *words, home=tmp_path)  # makes the store, with libraries of its own
        code, said = run(PROGRAM, "0", *words, home=tmp_path)
        count = int(said.rpartition("imports: ")[2])
        assert code != 130
        assert count > 50
        tries = times(2, thorough=12)
        for place in sorted({1, *(max(1, count * each // tries) for each in range(tries))}):
            code, said = run(PROGRAM, str(place), *words, home=tmp_path)
            assert (code, "Traceback" in said) == (130, False), (place, code, said)
            assert said.lstrip().startswith("Interrupted.\n"), (place, said)
    for program in (SWALLOWED, LATER):
        code, said = run(program, "leaderboard", home=tmp_path)
        assert (code, said.strip()) == (130, "Interrupted.")


def test_the_handler_is_python_s_own_where_another_program_calls_in() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(SystemExit):
        main(["--help"])
    assert signal.getsignal(signal.SIGINT) is before
