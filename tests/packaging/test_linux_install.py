"""The program among a person's own programs on Linux: installed, started from a stick, and taken away again."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.desktop.real.display import program
from tests.desktop.real.waiting import until
from tests.packaging.parts import REVIEWER

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="the desktop files are those of Linux"
)


def around(home: Path) -> dict[str, str]:
    """Return what stands around a command of the installer."""
    return {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}


def do(home: Path, *command: str | Path) -> str:
    done = subprocess.run(command, env=around(home), check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def unpacked(tmp_path: Path) -> Path:
    """A bundle as a person unpacks it; instead of the program a script that notes what it was given."""
    folder = tmp_path / "Téléchargements" / "rosetta-review"
    share = folder / "share"
    share.mkdir(parents=True)
    for path in (REVIEWER / "linux").iterdir():
        shutil.copy(path, folder if path.suffix == ".sh" else share)
    shutil.copy(REVIEWER / "icon.svg", share / "rosetta-review.svg")
    for size in (32, 48, 64, 128, 256):
        (share / f"rosetta-review-{size}.png").write_bytes(b"png")
    (folder / "_internal").mkdir()
    (folder / "_internal" / "libQt6Core.so.6").symlink_to("elsewhere")
    program = folder / "rosetta-review"
    program.write_text(
        '#!/bin/sh\nprintf "%s\\n" "$@" >"$HOME/given.part"\nmv "$HOME/given.part" "$HOME/given"\n'
    )
    program.chmod(0o755)
    return folder


@pytest.fixture(params=["ana", 'Ana $HOME "the 2nd" `é` \\ &'], ids=["plain", "hostile"])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    folder = tmp_path / str(request.param)
    folder.mkdir()
    return folder


NEEDED = ("gio", "update-mime-database", "update-desktop-database", "dbus-run-session")


def test_double_click_opens_and_answers_stay(unpacked: Path, home: Path, tmp_path: Path) -> None:
    for name in NEEDED:
        program(name)
    answers = home / ".local" / "share" / "rosetta-tui" / "review.sqlite"
    answers.parent.mkdir(parents=True)
    answers.write_bytes(b"answers")

    assert "Done." in do(home, unpacked / "install.sh")
    shutil.rmtree(unpacked)
    installed = home / ".local" / "lib" / "rosetta-review"
    assert (installed / "_internal" / "libQt6Core.so.6").is_symlink()

    review = tmp_path / "stick" / "Spring & more.rosetta-batch"
    review.parent.mkdir()
    review.write_bytes(b"PK\x03\x04 it looks like a zip")
    assert "content-type: application/vnd.rosetta-batch" in do(home, "gio", "info", review)
    assert "rosetta-review.desktop" in do(home, "gio", "mime", "application/vnd.rosetta-batch")
    do(home, "dbus-run-session", "gio", "open", review)
    until((home / "given").exists, "the program was given the file")
    assert (home / "given").read_text() == f"{review}\n"

    do(home, installed / "install.sh")  # once more, from where it was put
    assert (installed / "rosetta-review").exists()
    assert "Done." in do(home, installed / "uninstall.sh")
    assert not installed.exists()
    assert "rosetta-review.desktop" not in do(home, "gio", "mime", "application/vnd.rosetta-batch")
    assert [each for each in home.rglob("*rosetta*") if each.is_file()] == []
    assert answers.read_bytes() == b"answers"


def test_the_entry_of_the_menu_is_one_that_desktops_accept(unpacked: Path, tmp_path: Path) -> None:
    tool = program("desktop-file-validate")
    do(tmp_path, unpacked / "install.sh")
    entry = tmp_path / ".local" / "share" / "applications" / "rosetta-review.desktop"
    assert do(tmp_path, tool, entry) == ""


def test_program_is_installed_without_a_desktop(unpacked: Path, home: Path) -> None:
    tools = home / "tools"
    tools.mkdir()
    for name in ("sh", "sed", "cp", "mv", "rm", "mkdir", "dirname"):
        (tools / name).symlink_to(program(name))
    subprocess.run(
        ["/bin/sh", unpacked / "install.sh"],
        env={"HOME": str(home), "PATH": str(tools)},
        check=True,
    )
    assert (home / ".local" / "lib" / "rosetta-review" / "rosetta-review").exists()
    assert (home / ".local" / "share" / "applications" / "rosetta-review.desktop").exists()


# a stick: a double click puts the program on the computer and opens it


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


def packed(unpacked: Path, stick: Path) -> None:
    with tarfile.open(stick / ARCHIVE, "w:xz") as archive:
        archive.add(unpacked, "rosetta-review")


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


def test_desktop_entry_installs_and_opens_the_program(stick: Path, home: Path) -> None:
    """Many programs of desktops give the place as a path."""
    entry = (stick / "Start-Linux.desktop").read_text("utf-8")
    [line] = re.findall("^Exec=(.*)$", entry, re.MULTILINE)
    command = line.replace("\\\\", "\\")  # what a value writes twice
    shell, option, script, *rest = [
        re.sub(r"\\(.)", r"\1", quoted or plain)
        for quoted, plain in re.findall(r'"((?:\\.|[^"\\])*)"|([^ "]+)', command)
    ]
    places = [str(stick / "Start-Linux.desktop") if each == "%k" else each for each in rest]
    do(home, shell, option, script, *places)
    assert (home / "given").exists()
    assert (installed(home) / "_internal" / "libQt6Core.so.6").is_symlink()
    assert sorted(each.name for each in installed(home).parent.iterdir()) == ["rosetta-review"]


def test_a_desktop_that_does_not_say_it_starts_beside_the_file(stick: Path, home: Path) -> None:
    launch = [program("gio"), "launch", "Start-Linux.desktop"]
    subprocess.run(launch, cwd=stick, env=around(home), check=True)
    until((home / "given").exists, "the program was started")


def test_program_is_unpacked_once_and_if_changed(stick: Path, unpacked: Path, home: Path) -> None:
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
def test_bad_archive_leaves_none(stick: Path, home: Path, content: bytes | None, said: str) -> None:
    (stick / ARCHIVE).unlink()
    if content is not None:
        (stick / ARCHIVE).write_bytes(content)
    done = start(stick, home)
    assert (done.returncode, said in done.stderr) == (1, True)
    programs = installed(home).parent
    assert not programs.exists() or list(programs.iterdir()) == []
