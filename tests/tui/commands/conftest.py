"""What tests of commands share. What is dear is made once for all workers, read by tests, and copied where one writes."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import keyring
import pytest
from keyring.backends.fail import Keyring

from rosetta_tui.cli import main
from tests.tui.commands.certified_gold import TwoSides, two_sides
from tests.tui.commands.command_line import CopyOf, Program, connection, made_once, number
from tests.tui.commands.every_file import EveryFile, every_file
from tests.tui.commands.submission_desk import Desk, packed

__all__ = ["connection", "number"]


@pytest.fixture
def no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let keys lie in files of the data folder, which may be copied."""
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    monkeypatch.setattr(keyring, "get_keyring", Keyring)


@pytest.fixture
def program(capsys: pytest.CaptureFixture[str]) -> Program:
    """The command line as the program calls it; gives exit code, standard output and standard error."""

    def called(*words: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main([str(each) for each in words])
        return int(ended.value.code or 0), *capsys.readouterr()

    return called


@pytest.fixture
def copy_of(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_keyring: None
) -> CopyOf:
    """What copies a folder that was made once, and goes there; the data folder in use is ``home`` in it."""

    def copied(name: str, make: Callable[[Path, pytest.MonkeyPatch], object]) -> Path:
        folder, _ = made_once(tmp_path_factory, name, make)
        shutil.copytree(folder, tmp_path / name, symlinks=True)
        monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / name / "home"))
        monkeypatch.chdir(tmp_path / name)
        return tmp_path / name

    return copied


@pytest.fixture
def sides(tmp_path_factory: pytest.TempPathFactory, copy_of: CopyOf, monkeypatch: pytest.MonkeyPatch) -> TwoSides:
    """A copy of an organisation's and a developer's computer; the first one's data folder is in use."""
    folder, made = made_once(tmp_path_factory, "sides", two_sides)
    copy, names = copy_of("sides", two_sides), ("organisation", "developer", "stick", "certificate")
    monkeypatch.setenv("ROSETTA_HOME", str(copy / made.organisation.name))
    return replace(made, **{n: copy / getattr(made, n).relative_to(folder) for n in names})


@pytest.fixture
def every(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> EveryFile:
    """One file of each kind, and the computers on which they were written, which are only read."""
    _, made = made_once(tmp_path_factory, "every", every_file)
    monkeypatch.setenv("ROSETTA_HOME", str(made.sides.organisation))
    return made


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_keyring: None) -> Desk:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return Desk(tmp_path)


@pytest.fixture
def desk(copy_of: CopyOf) -> Desk:
    """A desk with the packed demo and a vault of secret entries."""
    return Desk(copy_of("desk", packed))


@pytest.fixture
def bundle(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The packed demo."""
    folder, _ = made_once(tmp_path_factory, "desk", packed)
    return (folder / "tiny.rosetta-submission").read_bytes()
