"""A stick on Linux: a double click puts the program on the computer and opens it, whatever the stick is called."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.desktop.real.waiting import until
from tests.packaging.doing import around, do
from tests.packaging.parts import REVIEWER

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the files are those of Linux")

ARCHIVE = "Review-Linux.tar.xz"


@pytest.fixture
def stick(unpacked: Path, tmp_path: Path) -> Path:
    """What a build lays out of it; nothing on it may be run, as on FAT."""
    folder = tmp_path / "media" / 'Ana\'s stick $HOME & "more"'
    folder.mkdir(parents=True)
    for path in (REVIEWER / "linux_stick").iterdir():
        shutil.copyfile(path, folder / path.name)
    packed(unpacked, folder)
    return folder


def packed(program: Path, stick: Path) -> None:
    with tarfile.open(stick / ARCHIVE, "w:xz") as archive:
        archive.add(program, "rosetta-review")


def start(stick: Path, home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", stick / "Start-Linux.sh"],
        env=around(home),
        check=False,
        capture_output=True,
        text=True,
    )


def installed(home: Path) -> Path:
    return home / ".local" / "lib" / "rosetta-review"


def test_a_desktop_that_says_where_the_file_lies_installs_and_opens_the_program(
    stick: Path, home: Path
) -> None:
    """Many programs of desktops give the place as a path."""
    entry = (stick / "Start-Linux.desktop").read_text("utf-8")
    [line] = re.findall("^Exec=(.*)$", entry, re.MULTILINE)
    command = line.replace("\\\\", "\\")  # what a value writes twice
    program, option, script, *rest = [
        re.sub(r"\\(.)", r"\1", quoted or plain)
        for quoted, plain in re.findall(r'"((?:\\.|[^"\\])*)"|([^ "]+)', command)
    ]
    places = [str(stick / "Start-Linux.desktop") if each == "%k" else each for each in rest]
    do(home, program, option, script, *places)
    assert (home / "given").exists()
    assert (installed(home) / "_internal" / "libQt6Core.so.6").is_symlink()
    assert sorted(each.name for each in installed(home).parent.iterdir()) == ["rosetta-review"]


def test_a_desktop_that_does_not_say_it_starts_beside_the_file(stick: Path, home: Path) -> None:
    if shutil.which("gio") is None:
        pytest.skip("gio is not installed")
    subprocess.run(
        ["gio", "launch", "Start-Linux.desktop"], cwd=stick, env=around(home), check=True
    )
    until((home / "given").exists, "the program was started")


def test_the_program_is_unpacked_once_and_again_where_another_comes(
    stick: Path, unpacked: Path, home: Path
) -> None:
    assert start(stick, home).returncode == 0
    mark = installed(home) / "mark"
    mark.touch()
    assert start(stick, home).returncode == 0
    assert mark.exists()
    (unpacked / "newer").touch()
    packed(unpacked, stick)
    assert start(stick, home).returncode == 0
    assert (installed(home) / "newer").exists()
    assert not mark.exists()


@pytest.mark.parametrize(
    ("content", "said"), [(None, "is not beside"), (b"half", "could not be unpacked")]
)
def test_what_is_missing_or_damaged_is_said_and_nothing_is_left(
    stick: Path, home: Path, content: bytes | None, said: str
) -> None:
    (stick / ARCHIVE).unlink()
    if content is not None:
        (stick / ARCHIVE).write_bytes(content)
    done = start(stick, home)
    assert (done.returncode, said in done.stderr) == (1, True)
    programs = installed(home).parent
    assert not programs.exists() or list(programs.iterdir()) == []
