"""A run that outlives its terminal, watched from another; what a run writes around its screen."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from corpora.samples import DEMO_CORPUS, sample_path
from tests.harness.scripted import serving
from tests.tui.commands.command_line import Rosetta
from tests.tui.real.pseudo import Pseudo, wait

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals are of Unix")

WAITING = """
import asyncio, os
from harness.method.method import MethodClass, Output, Setup

class Waiting:
    endpoint = None

    def __init__(self, options):
        self.setup = Setup(method="waiting", method_class=MethodClass.CUSTOM_PLUGIN, method_version="1", model_slug="w", condition="x")

    async def translate(self, entries, calls):
        open(os.environ["PLACE"] + "/pid", "w").write(str(os.getpid()))
        print("printed by the method:", entries[0].source)
        while entries[0].id != 1 and not os.path.exists(os.environ["PLACE"] + "/go"):
            await asyncio.sleep(0.02)
        return [Output(entry.source) for entry in entries]
"""
"""Answers the first entry, and the others once there is a file ``go``; notes its process."""


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[object]]:
    """The words of a run that waits; its process is gone after the test."""
    (tmp_path / "waiting.py").write_text(WAITING, "utf-8")
    monkeypatch.setenv("PLACE", str(tmp_path))
    yield [
        "run",
        sample_path(DEMO_CORPUS),
        "-m",
        f"{tmp_path / 'waiting.py'}:Waiting",
        "--limit",
        12,
        "--concurrency",
        2,
    ]
    (tmp_path / "go").touch()


def begun(home: Path, words: list[object]) -> str:
    """Begin a run on a terminal that is gone at once, while the run waits; gives its id."""
    with Pseudo(home, *words, "--detach") as terminal:
        assert terminal.ended() == 0
        found = re.search(rb"[0-9a-f]{8}-[0-9a-f-]{27}", terminal.drawn)
        assert found
        terminal.vanish()
    wait(Rosetta(home).done, lambda seen: seen[1] == 1)
    return found[0].decode()


@pytest.mark.costly("four programs")
def test_detached_run_outlives_its_terminal(tmp_path: Path, words: list[object]) -> None:
    home = tmp_path / "home"
    run_id = begun(home, words)
    pid = int((tmp_path / "pid").read_text())
    os.kill(pid, signal.SIGHUP)
    with Pseudo(home, "watch", run_id[:8]) as watched:
        watched.wait_for("1 done", "Pause")
        watched.press(" ")
        watched.wait_for("space Continue")
        watched.press(" ")
        watched.wait_for("space Pause")
        watched.press("q")
        assert watched.ended() == 0
        assert b"\x1b]2;8 % \xc2\xb7 Rosetta" in watched.drawn
        assert watched.drawn.endswith(b"\x1b[23;0t"), "the title that was there is back"
    (tmp_path / "go").touch()
    code, out, problems = Rosetta(home)("watch", run_id, "--plain")
    assert (code, Rosetta(home).done()) == (0, ("complete", 12)), problems
    assert "complete: 12 entries" in out
    log = home / "logs" / f"{run_id}.log"
    assert log.stat().st_mode & 0o777 == 0o600
    assert "complete: 12 entries" in log.read_text("utf-8")


@pytest.mark.costly("four programs")
def test_watch_says_that_a_detached_run_was_killed(tmp_path: Path, words: list[object]) -> None:
    home = tmp_path / "home"
    run_id = begun(home, words)
    rosetta = Rosetta(home)
    watching = rosetta.start("watch", run_id, "--plain")
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
    _, problems = watching.communicate(timeout=600)
    assert watching.returncode == 1
    for part in ("1 of 12 entries are stored", "is gone", f"{home}/logs/{run_id}.log", "rosetta resume"):
        assert part in problems
    (tmp_path / "go").touch()
    assert rosetta("resume", "last", "--detach")[1].strip() == run_id
    wait(Rosetta(home).done, lambda seen: seen == ("complete", 12))


@pytest.mark.costly("two programs")
@pytest.mark.parametrize(("setting", "called"), [("", True), ('notices = "off"\n', False)])
def test_title_and_call_of_a_run_on_the_screen(tmp_path: Path, words: list[object], setting: str, called: bool) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "settings.toml").write_text(setting, "utf-8")
    with Pseudo(home, *words) as app:
        app.wait_for("1 done", "Pause")
        (tmp_path / "go").touch()
        app.wait_for("Complete.")
        app.press("q")
        assert app.ended() == 0
        pieces = (
            b"\x1b[22;0t\x1b]2;",
            b" % \xc2\xb7 Rosetta",
            b"\x1b]9;Rosetta: run complete, 12 of 12 entries, 0 failed\x1b\\\a",
            b"\x1b[23;0t",
        )
        assert [piece in app.drawn for piece in pieces] == [called] * 4


@pytest.mark.costly("five programs")
def test_detach_refuses_what_a_person_would_be_asked(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.json"
    dataset = {"id": "made", "source_language": "en", "target_language": "eo"}
    rows = [{"id": n, "source": "kanario", "reference": "r", "segment": "gold_standard"} for n in range(6)]
    corpus.write_text(json.dumps({"dataset": dataset, "entries": rows}))
    rosetta = Rosetta(tmp_path / "home")
    chat = ("-m", "chat", "--model", "m", "--detach")
    with serving() as server:
        refused = {
            "--trust-local-server": (corpus, *chat, "--endpoint", server.url),
            "rosetta publish": (sample_path(DEMO_CORPUS), *chat, "--endpoint", server.url, "--submit"),
            "leave --detach out": (corpus, *chat, "--endpoint", server.url, "--vault", tmp_path),
            "OPENAI_API_KEY": (sample_path(DEMO_CORPUS), *chat, "--endpoint", "openai"),
        }
        for mend, given in refused.items():
            with Pseudo(rosetta.home, "run", *given) as terminal:
                assert terminal.ended() == 2
                assert mend.encode() in b" ".join(terminal.drawn.split())
        assert server.asked == []
        code, out, problems = rosetta("run", corpus, *chat, "--endpoint", server.url, "--trust-local-server")
        assert code == 0, problems
        assert "No log is kept" in problems
        wait(rosetta.done, lambda seen: seen == ("complete", 6))
        assert len(out.split()) == 1
    assert not (rosetta.home / "logs").exists()
