"""The wheel holds our packages, their data, and nothing else; a card of its version says so."""

from __future__ import annotations

import email
import subprocess
import tomllib
import zipfile
from pathlib import Path

import pytest

from harness.core.version import VERSION
from tests.wheels import build_wheel

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
SHIPPED = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    return zipfile.ZipFile(build_wheel(tmp_path_factory.mktemp("wheel")))


def test_the_top_level_names_are_exactly_our_packages(wheel: zipfile.ZipFile) -> None:
    tops = {name.partition("/")[0] for name in wheel.namelist()}
    assert tops == {*SHIPPED, f"rosetta_tui-{VERSION}.dist-info"}


def test_every_file_of_the_packages_is_in_it(wheel: zipfile.ZipFile) -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "-z", *SHIPPED], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    names = {name for name in tracked.split("\0") if name and (ROOT / name).exists()}
    assert names <= set(wheel.namelist())
    kinds = {Path(name).suffix for name in names}
    assert kinds >= {".json", ".jsonl", ".tsv", ".toml", ".txt", ".tcss", ".typed"}


def test_its_words_about_itself_are_true(wheel: zipfile.ZipFile) -> None:
    folder = f"rosetta_tui-{VERSION}.dist-info"
    about = email.message_from_bytes(wheel.read(f"{folder}/METADATA"))
    assert about["Version"] == VERSION
    assert about["License-Expression"] == "Apache-2.0"
    assert f"{folder}/licenses/LICENSE" in wheel.namelist()
    scripts = wheel.read(f"{folder}/entry_points.txt").decode()
    assert "rosetta = rosetta_tui.cli:main" in scripts


def test_nothing_in_it_was_made_by_running_it(wheel: zipfile.ZipFile) -> None:
    assert not [name for name in wheel.namelist() if name.endswith((".pyc", ".sqlite", ".log"))]
