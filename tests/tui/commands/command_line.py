"""The command line, called in this process, and folders that are dear to make, made once for all workers."""

from __future__ import annotations

import os
import pickle
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click
import filelock
import keyring
import pytest
from click.testing import CliRunner, Result
from keyring.backends.fail import Keyring

from corpora.files.problems import CorpusError
from harness.core.failures import HarnessError
from harness.sealed.keys import Identity, Role
from rosetta_tui.commands import rosetta

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
