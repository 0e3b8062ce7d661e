"""What is loaded, looked at in a running process: a static graph cannot see deferred imports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from rosetta_tui.front import commands

ROOT = Path(__file__).parents[2]
OURS = ("corpora", "scoring", "harness", "rosetta_tui", "review")

CHILD = """
import io, json, sys
before = set(sys.modules)
from contextlib import redirect_stdout
from rosetta_tui.cli import main
said = io.StringIO()
try:
    with redirect_stdout(said):
        main(json.loads(sys.argv[1]))
except SystemExit as end:
    code = end.code or 0
print(json.dumps({"code": code, "said": said.getvalue(), "loaded": sorted(set(sys.modules) - before)}))
"""


def loaded(home: Path, *arguments: str) -> tuple[set[str], str]:
    """Run a command in a fresh interpreter; gives the modules that it loaded, and what it printed."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", CHILD, json.dumps(arguments)],
        cwd=ROOT, env={**os.environ, "ROSETTA_HOME": str(home)}, check=True,
        capture_output=True, text=True,
    )  # fmt: skip
    told = json.loads(done.stdout)
    assert told["code"] == 0, done.stderr
    return set(told["loaded"]), told["said"]


def imported(files: Iterable[Path]) -> set[str]:
    """Import modules of ours in a fresh interpreter; gives all that it loaded."""
    names = sorted(
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in files
    )
    code = (
        "import importlib, sys\n"
        f"for name in {names!r}: importlib.import_module(name)\n"
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return set(done.stdout.split())


def packages(modules: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules}


@pytest.mark.thorough
@pytest.mark.parametrize("style", ["--plain", "--json-lines"])
def test_a_headless_run_loads_no_terminal_library(tmp_path: Path, style: str) -> None:
    modules, said = loaded(tmp_path, "demo", style)
    assert "harness.run.running" in modules
    assert "chrf" in said.lower()
    assert packages(modules).isdisjoint({"textual", "rich", "PySide6", "review"})


@pytest.mark.thorough
def test_a_run_without_network_or_key_loads_neither_client_nor_keyring(tmp_path: Path) -> None:
    modules, _ = loaded(tmp_path, "demo", "--plain")
    assert packages(modules).isdisjoint({"keyring", "aiohttp", "httpx"})


@pytest.mark.every_python
def test_help_loads_next_to_nothing(tmp_path: Path) -> None:
    modules, said = loaded(tmp_path, "--help")
    assert said.startswith("Usage: rosetta")
    foreign = {name for name in packages(modules) if name not in sys.stdlib_module_names}
    assert foreign == {"rosetta_tui"}
    assert {name for name in modules if name.startswith(OURS)} == {
        "rosetta_tui", "rosetta_tui.cli", "rosetta_tui.front",
    }  # fmt: skip
    heavy = {
        "asyncio", "sqlite3", "ssl", "socket", "subprocess", "dataclasses", "inspect", "typing",
    }  # fmt: skip
    assert packages(modules).isdisjoint(heavy - {"typing"})


HELP = """
import io, json, sys
from contextlib import redirect_stdout
from rosetta_tui.cli import main
from rosetta_tui.front import commands
heavy, guilty, said = set(json.loads(sys.argv[1])), {}, 0
for call in [[*group.split(), name] for group in ("", "runs", "review", "vault") for name in commands(group)]:
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


def test_no_help_page_loads_a_library_of_the_work(tmp_path: Path) -> None:
    """Time is not looked at: each of these costs as much as the most that a page may take, or half of it."""
    heavy = [
        "numpy", "pydantic", "textual", "rich", "sacrebleu", "cryptography", "asyncio", "ssl", "httpx",
        "keyring", "regex", "lxml", "importlib.metadata", "PySide6",
    ]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-P", "-c", HELP, json.dumps(heavy)],
        cwd=ROOT, env={**os.environ, "ROSETTA_HOME": str(tmp_path)}, check=True,
        capture_output=True, text=True,
    )  # fmt: skip
    pages, guilty = json.loads(done.stdout)
    assert guilty == {}
    assert pages == sum(len(commands(group)) for group in ("", "runs", "review", "vault"))


@pytest.mark.costly("imports every module below the terminal in a fresh interpreter")
@pytest.mark.every_python
def test_every_module_below_the_terminal_loads_without_it() -> None:
    found = imported(
        path
        for package in ("corpora", "scoring", "harness", "review")
        for path in (ROOT / package).rglob("*.py")
        if "desktop" not in path.parts  # its own test is the next one
    )
    assert {"corpora", "scoring", "harness", "review"} <= packages(found)
    assert packages(found).isdisjoint({"textual", "rich", "rosetta_tui", "PySide6"})


def test_the_reviewers_window_loads_no_terminal_and_no_network() -> None:
    pytest.importorskip("PySide6.QtWidgets", reason="Qt is not installed, or not all it needs")
    found = imported((ROOT / "review/desktop").rglob("[a-z]*.py"))
    assert "PySide6.QtWidgets" in found
    assert packages(found).isdisjoint({"textual", "rich", "rosetta_tui", "click", "httpx", "numpy"})
    assert found.isdisjoint({"ssl", "_ssl", "asyncio", "http.client", "PySide6.QtNetwork"})
