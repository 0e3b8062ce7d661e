"""The program among a person's own programs: installed, opened by a double click, and taken away again."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.desktop.real.waiting import until
from tests.packaging.doing import do

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="the desktop files are those of Linux"
)

NEEDED = ("gio", "update-mime-database", "update-desktop-database", "dbus-run-session")


def test_a_double_click_opens_the_file_and_uninstalling_leaves_only_the_answers(
    unpacked: Path, home: Path, tmp_path: Path
) -> None:
    for name in NEEDED:
        if shutil.which(name) is None:
            pytest.skip(f"{name} is not installed")
    answers = home / ".local" / "share" / "rosetta-tui" / "review.sqlite"
    answers.parent.mkdir(parents=True)
    answers.write_bytes(b"answers")

    assert "Done." in do(home, unpacked / "install.sh")
    shutil.rmtree(unpacked)
    program = home / ".local" / "lib" / "rosetta-review"
    assert (program / "_internal" / "libQt6Core.so.6").is_symlink()

    review = tmp_path / "stick" / "Spring & more.rosetta-batch"
    review.parent.mkdir()
    review.write_bytes(b"PK\x03\x04 it looks like a zip")
    assert "content-type: application/vnd.rosetta-batch" in do(home, "gio", "info", review)
    assert "rosetta-review.desktop" in do(home, "gio", "mime", "application/vnd.rosetta-batch")
    do(home, "dbus-run-session", "gio", "open", review)
    until((home / "given").exists, "the program was given the file")
    assert (home / "given").read_text() == f"{review}\n"

    do(home, program / "install.sh")  # once more, from where it was put
    assert (program / "rosetta-review").exists()
    assert "Done." in do(home, program / "uninstall.sh")
    assert not program.exists()
    assert "rosetta-review.desktop" not in do(home, "gio", "mime", "application/vnd.rosetta-batch")
    assert [each for each in home.rglob("*rosetta*") if each.is_file()] == []
    assert answers.read_bytes() == b"answers"


def test_the_entry_of_the_menu_is_one_that_desktops_accept(unpacked: Path, tmp_path: Path) -> None:
    tool = shutil.which("desktop-file-validate")
    if tool is None:
        pytest.skip("desktop-file-validate is not installed")
    do(tmp_path, unpacked / "install.sh")
    entry = tmp_path / ".local" / "share" / "applications" / "rosetta-review.desktop"
    assert do(tmp_path, tool, entry) == ""


def test_a_person_without_the_programs_of_a_desktop_still_gets_the_program(
    unpacked: Path, home: Path
) -> None:
    tools = home / "tools"
    tools.mkdir()
    for name in ("sh", "sed", "cp", "mv", "rm", "mkdir", "dirname"):
        (tools / name).symlink_to(shutil.which(name) or pytest.skip(f"{name} is not here"))
    subprocess.run(
        ["/bin/sh", unpacked / "install.sh"],
        env={"HOME": str(home), "PATH": str(tools)},
        check=True,
    )
    assert (home / ".local" / "lib" / "rosetta-review" / "rosetta-review").exists()
    assert (home / ".local" / "share" / "applications" / "rosetta-review.desktop").exists()
