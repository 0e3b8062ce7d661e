"""The command line, called in this process, and folders that are dear to make, made once for all workers."""

from __future__ import annotations

import os
import pickle
import shlex
import shutil
import sqlite3
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import IO, Any, TypeVar

import click
import filelock
import keyring
import pytest
from click.testing import CliRunner, Result
from keyring.backends.fail import Keyring

from corpora.files.problems import CorpusError
from harness.card.checking.verify_card import seal
from harness.core.failures import HarnessError, RunState
from harness.sealed.keys import Identity, Role
from harness.store.results import read_outcome
from harness.store.run_list import list_runs
from harness.store.runs import find_run
from harness.store.sqlite.database import open_store
from rosetta_tui.commands import rosetta
from rosetta_tui.commands.runs import runs
from tests.harness.card import factory

Made = TypeVar("Made")
CopyOf = Callable[[str, Callable[[Path, pytest.MonkeyPatch], object]], Path]
Program = Callable[..., tuple[int, str, str]]
"""What calls the command line as the program does; gives exit code, standard output and standard error."""


def said(line: str, home: Path | None = None, text: str | None = None) -> Result:
    """Call a command, in a data folder where one is named; ``text`` is what is typed where it asks."""
    env = {} if home is None else {"ROSETTA_HOME": str(home)}
    return CliRunner().invoke(rosetta, shlex.split(line), input=text, env=env)


def ok(line: str, home: Path | None = None, text: str | None = None) -> str:
    done = said(line, home, text)
    assert done.exit_code == 0, f"{done.output}{done.exception!r}"
    return done.output


def refused(line: str, home: Path | None = None, text: str | None = None) -> str:
    done = said(line, home, text)
    assert done.exit_code != 0, done.output
    return f"{done.output}{done.exception}"


def typed(*words: str, text: str | None = None) -> str:
    """Run a command; gives what it printed, or the words of its failure after ``error: ``."""
    result = CliRunner().invoke(rosetta, words, input=text)
    if isinstance(result.exception, HarnessError | CorpusError | click.ClickException):
        return f"error: {result.exception}"
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return f"error: {result.output}" if result.exit_code else result.output


class Computers:
    """Computers with a data folder each, in a folder that they share."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.monkeypatch = folder, monkeypatch
        monkeypatch.chdir(folder)

    def __call__(self, line: str, *more: str, at: str = "office") -> str:
        self.monkeypatch.setenv("ROSETTA_HOME", str(self.folder / at))
        return typed(*line.split(), *more)

    def words_of(self, at: str = "office", role: Role = Role.ORGANISATION) -> str:
        """Return the six words of a key of a computer."""
        return Identity.load(self.folder / at, role).public.phrase


def made_once(
    factory: pytest.TempPathFactory, name: str, make: Callable[[Path, pytest.MonkeyPatch], Made]
) -> tuple[Path, Made]:
    """Have the first worker that asks make a folder, which is only read from then on; gives it and what was made."""
    top = factory.getbasetemp()
    folder = (top.parent if os.environ.get("PYTEST_XDIST_WORKER") else top) / f"made-{name}"
    done = folder / "made.pickle"
    with filelock.FileLock(f"{folder}.lock"), pytest.MonkeyPatch.context() as patch:
        patch.setattr(keyring, "get_keyring", Keyring)
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            found = make(folder, patch)
            done.write_bytes(pickle.dumps(found))
    made: Made = pickle.loads(done.read_bytes())
    return folder, made


@pytest.fixture
def connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[sqlite3.Connection]:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    opened = open_store()
    yield opened
    opened.close()


@pytest.fixture
def number(connection: sqlite3.Connection) -> int:
    """Return a sealed run."""
    number = factory.add_run(connection)
    seal(connection, number)
    return number


def rosetta_runs(*arguments: str, text: str | None = None) -> Result:
    return CliRunner().invoke(runs, arguments, input=text)


def harmless(text: str) -> bool:
    return all(c in "\n\u200c\u200d" or unicodedata.category(c) not in {"Cc", "Cf"} for c in text)


ROOT = Path(__file__).parents[3]


START = "from rosetta_tui.cli import main; main()"


class Rosetta:
    """The command line with a data folder of its own."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.store = home / "rosetta.sqlite"
        self.environment = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")} | {
            "ROSETTA_HOME": str(home),
            "PYTHONWARNINGS": "error",
            "PYTHONIOENCODING": "utf-8",
        }

    def start(self, *arguments: object, **more: Any) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-P", "-c", START, *map(str, arguments)],
            env=self.environment, stdin=subprocess.DEVNULL, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **{"cwd": ROOT, **more},
        )  # fmt: skip

    def __call__(self, *arguments: object, **more: Any) -> tuple[int, str, str]:
        process = self.start(*arguments, **more)
        out, problems = process.communicate(timeout=600)
        return process.returncode, out, problems

    def done(self) -> tuple[RunState, int]:
        with closing(open_store(self.store)) as connection:
            run = find_run(connection, "last")
            return run.state, read_outcome(connection, run.id).done

    def count(self) -> int:
        with closing(open_store(self.store)) as connection:
            return len(list_runs(connection))


def read_until(stream: IO[str] | None, beginning: str, times: int = 1) -> list[str]:
    """Read lines until some begin like this."""
    assert stream is not None
    lines: list[str] = []
    while sum(line.startswith(beginning) for line in lines) < times:
        line = stream.readline()
        assert line, lines
        lines.append(line)
    return lines
