"""What is loaded, looked at in a process of its own: each library below costs more than all else that a start loads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from harness.method.method_names import SERVICE_NAMES
from harness.shipped_methods.api import SERVICES
from rosetta_tui.front import commands
from tests.harness.ranked import play, ranked_corpus

pytestmark = pytest.mark.every_python

ROOT = Path(__file__).parents[2]
OURS = ("corpora", "scoring", "harness", "rosetta_tui", "review")

TELLS = """
import atexit, sys
before = {*sys.modules}
atexit.register(lambda: print(*sys.modules.keys() - before, file=sys.stderr))
"""
COMMAND = "from rosetta_tui.cli import main; main(sys.argv[1:])"


def loaded(home: Path, code: str, *asked: object) -> tuple[set[str], str]:
    """Run code in a fresh interpreter; gives the modules that it loaded, and what it printed."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", TELLS + code, *map(str, asked)],
        cwd=ROOT, env={**os.environ, "ROSETTA_HOME": str(home)}, check=False,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout, done.stderr
    return set(done.stderr.splitlines()[-1].split()), done.stdout


def packages(modules: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules}


# the app: its first frame waits for nothing that it does not show

HEAVY = {"sacrebleu", "httpx", "keyring", "sqlite_utils", "pydantic", "numpy", "regex", "rapidfuzz"}
"""Libraries of which none may be loaded when home stands on the screen for the first time."""

HOME = """
import asyncio
from pathlib import Path

import pytest
from rosetta_tui.app import launch
from rosetta_tui.app.app import RosettaApp
from rosetta_tui.home.screen import HomeScreen

# what is read after the first frame does not count
HomeScreen.action_read = HomeScreen._look_at_reviews = lambda self: None

async def main():
    app = RosettaApp(Path(sys.argv[1]), launch.follow, lambda: None)
    async with app.run_test(size=(120, 36)):
        print(isinstance(app.screen, HomeScreen))

asyncio.run(main())
"""


def test_home_loads_no_heavy_library(tmp_path: Path) -> None:
    modules, said = loaded(tmp_path, HOME, tmp_path / "s.sqlite")
    assert said == "True\n"
    assert "textual" in modules
    assert modules & HEAVY == set()


LISTS = """
from pathlib import Path

from harness.leaderboard.ranking import leaderboards
from harness.store.sqlite.database import opened
from rosetta_tui.leaderboard.rows import LeaderboardRows, ordered
from rosetta_tui.leaderboard.screen import LeaderboardScreen

with opened(Path(sys.argv[1])) as store:
    (board,) = leaderboards(store)
rows = LeaderboardRows(board, ordered(board, "chrf"), frozenset())
print(len([rows.cells(place) for place in range(rows.count)]))
"""


@pytest.mark.thorough
def test_a_leaderboard_of_own_runs_loads_no_heavy_library(tmp_path: Path) -> None:
    """Its groups do, which are worked out beside it once the ranks stand there."""
    path, corpus = tmp_path / "s.sqlite", ranked_corpus()
    for right, model in ((40, "a"), (30, "b")):
        play(path, corpus, right, model)
    modules, said = loaded(tmp_path, LISTS, path)
    assert said == "2\n"
    assert modules & {*HEAVY, "cryptography"} == set()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal of the system")
def test_it_says_that_it_is_preparing_before_the_first_frame(tmp_path: Path) -> None:
    """What is said stands on the person's own screen until the app takes it over, and is gone when it leaves."""
    from tests.tui.real.pseudo import Pseudo, wait

    with Pseudo(tmp_path) as app:
        wait(app.screen, lambda _: b"\x1b[?1049h" in app.drawn)
        said = bytes(app.drawn)
    before = said.partition(b"\x1b[?1049h")[0].decode()
    assert before.startswith("preparing …\r")
    assert before.removeprefix("preparing …\r").startswith("\x1b[K")


# commands


@pytest.mark.parametrize(("command", "without"), [
    ("submission show", {"numpy", "regex", "asyncio", "cryptography"}),
    ("doctor --json", {"textual", "asyncio", "numpy", "pydantic", "regex", "rapidfuzz", "cryptography", "httpx"}),
])  # fmt: skip
def test_command_loads_only_its_needs(tmp_path: Path, command: str, without: set[str]) -> None:
    modules, _ = loaded(tmp_path, COMMAND, *command.split())
    assert "rosetta_tui.front" in modules
    assert sorted(without & modules) == []


def test_completion_loads_no_library(tmp_path: Path) -> None:
    modules, said = loaded(tmp_path, COMMAND, "completion", "bash", "rosetta runs show ")
    assert said.startswith("last\t")
    without = {"click", "typing", "re", "pathlib", "platformdirs", "json", "importlib.metadata", "rosetta_tui.commands"}
    assert sorted(without & modules) == []


CARDS = {"harness.card.model", "harness.setup.plan", "harness.method.options", "harness.annotators.annotator"}
"""Models of what makes runs and cards: each takes as long to be loaded as all that reads stored numbers."""


@pytest.mark.thorough
@pytest.mark.parametrize(("command", "without"), [
    ("runs list", {*HEAVY, *CARDS, "asyncio", "cryptography", "dataclasses", "filelock", "shutil", "tempfile"}),
    ("runs list --json", {*HEAVY, *CARDS, "asyncio", "cryptography", "filelock", "shutil", "tempfile"}),
    ("leaderboard", {*CARDS, "sacrebleu", "asyncio"}),
    ("gate last --min chrf=1", {*CARDS, "sacrebleu", "asyncio", "numpy", "regex", "rapidfuzz"}),
    ("gate last --not-worse-than last~1", {*CARDS, "sacrebleu", "asyncio"}),
])  # fmt: skip
def test_command_on_stored_runs_loads_only_its_needs(tmp_path: Path, command: str, without: set[str]) -> None:
    corpus = ranked_corpus()
    for right, model in ((40, "a"), (30, "b")):
        play(tmp_path / "rosetta.sqlite", corpus, right, model)
    loaded(tmp_path, COMMAND, "runs", "list")  # makes and keeps the lines of its runs
    modules, _ = loaded(tmp_path, COMMAND, *command.split())
    assert "harness.store.run_list" in modules or "harness.store.runs" in modules
    assert sorted(without & modules) == []


HELP = """
import io, json
from contextlib import redirect_stdout
from rosetta_tui.cli import main
from rosetta_tui.front import commands
heavy, guilty, said = set(sys.argv[1:]), {}, 0
groups = ("", "runs", "review", "vault", "community", "submission")
for call in [[*group.split(), name] for group in groups for name in commands(group)]:
    try:
        with redirect_stdout(io.StringIO()) as page:
            main([*call, "--help"])
    except SystemExit:
        said += page.getvalue().startswith("Usage: rosetta")
    if loaded := sorted(heavy & set(sys.modules)):
        guilty[" ".join(call)] = loaded
        break
print(json.dumps([said, guilty]))
"""


def test_help_loads_next_to_nothing_and_no_page_more(tmp_path: Path) -> None:
    """Time is not looked at: each of these costs as much as the most that a page may take, or half of it."""
    modules, said = loaded(tmp_path, COMMAND, "--help")
    assert said.startswith("Usage: rosetta")
    assert packages(modules) - set(sys.stdlib_module_names) == {"rosetta_tui"}
    assert {name for name in modules if name.startswith(OURS)} == {
        "rosetta_tui", "rosetta_tui.cli", "rosetta_tui.front",
    }  # fmt: skip
    slow = {"asyncio", "sqlite3", "ssl", "socket", "subprocess", "dataclasses", "inspect"}
    assert packages(modules).isdisjoint(slow | {"typing", "json", "importlib"})
    heavy = [
        "numpy", "pydantic", "textual", "rich", "sacrebleu", "cryptography", "asyncio", "ssl", "httpx",
        "keyring", "regex", "lxml", "importlib.metadata", "PySide6",
    ]  # fmt: skip
    pages, guilty = json.loads(loaded(tmp_path, HELP, *heavy)[1])
    assert guilty == {}
    groups = ("", "runs", "review", "vault", "community", "submission")
    assert pages == sum(len(commands(group)) for group in groups)


@pytest.mark.thorough
@pytest.mark.parametrize("style", ["--plain", "--json-lines"])
def test_headless_run_loads_neither_terminal_client_nor_keyring(tmp_path: Path, style: str) -> None:
    modules, said = loaded(tmp_path, COMMAND, "demo", style)
    assert "harness.run.running" in modules
    assert "chrf" in said.lower()
    assert packages(modules).isdisjoint({"textual", "rich", "PySide6", "review"})
    assert packages(modules).isdisjoint({"keyring", "aiohttp", "httpx"})


def test_the_names_of_services_are_those_that_there_are() -> None:
    assert list(SERVICE_NAMES) == list(SERVICES)


# modules


def imported(home: Path, files: Iterable[Path], without: Iterable[str] = ()) -> set[str]:
    """Return all that modules of ours load in a fresh interpreter, which has not the packages ``without``."""
    paths = (path.relative_to(ROOT).with_suffix("").parts for path in files)
    names = sorted(".".join(parts).removesuffix(".__init__") for parts in paths)
    code = f"import importlib\nsys.modules |= dict.fromkeys({[*without]})\n"
    code += "for name in sys.argv[1:]: importlib.import_module(name)\nprint(1)"
    return loaded(home, code, *names)[0]


@pytest.mark.thorough
def test_every_module_below_the_terminal_loads_without_it(tmp_path: Path) -> None:
    """The contract of imports says so of what is written; this of what is done. httpx takes rich only where it is installed."""
    found = imported(
        tmp_path,
        (
            path
            for package in ("corpora", "scoring", "harness", "review")
            for path in (ROOT / package).rglob("*.py")
            if "desktop" not in path.parts  # its own test is the next one
        ),
        without=("textual", "rich", "rosetta_tui", "PySide6"),
    )
    assert {"corpora", "scoring", "harness", "review"} <= packages(found)


def test_the_reviewers_window_loads_no_terminal_and_no_network(tmp_path: Path) -> None:
    pytest.importorskip("PySide6.QtWidgets", reason="Qt is not installed, or not all it needs")
    found = imported(tmp_path, (ROOT / "review/desktop").rglob("[a-z]*.py"))
    assert "PySide6.QtWidgets" in found
    assert packages(found).isdisjoint({"textual", "rich", "rosetta_tui", "click", "httpx", "numpy"})
    assert found.isdisjoint({"ssl", "_ssl", "asyncio", "http.client", "PySide6.QtNetwork"})
