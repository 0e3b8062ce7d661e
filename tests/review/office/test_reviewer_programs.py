"""Archives of the program for reviewers: recognised by what is in them, kept in the data folder, copied to sticks."""

import io
import lzma
import os
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random

import pytest

from harness.core.failures import UsageError
from harness.sealed import stick
from harness.sealed.stick import ARCHIVES, READABLE, StickError
from review.office.making import reviewer_programs
from review.office.making.reviewer_programs import (
    add_program,
    copy_program,
    list_programs,
    programs_to_copy,
    recognise_archive,
    systems_on,
    write_starters,
)
from tests.desktop.trouble.causes import mounted, pulled
from tests.harness.sealed.refusals import refuses

PROGRAM = Random(1).randbytes(3_000_000)
WINDOWS = {"rosetta-review/rosetta-review.exe": PROGRAM, "rosetta-review/register.cmd": b"reg"}
MAC = {"Rosetta Review.app/Contents/MacOS/rosetta-review": PROGRAM}
LINUX = {"rosetta-review/rosetta-review": PROGRAM, "rosetta-review/install.sh": b"#!/bin/sh"}


def zipped(path: Path, files: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def tarred(path: Path, files: Mapping[str, bytes]) -> Path:
    with tarfile.open(path, "w:xz", preset=0) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def test_archives_are_kept_by_system_and_copied(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "stick"
    folder.mkdir()
    made = {
        "windows": zipped(tmp_path / "a.bin", WINDOWS),
        "macos": zipped(tmp_path / "b.bin", MAC),
        "linux": tarred(tmp_path / "c.bin", LINUX),
    }
    for system, path in made.items():
        assert recognise_archive(path) == system
        pieces: list[int] = []
        program = add_program(path, system, home, pieces.append)
        assert (sum(pieces), program.size) == (path.stat().st_size, path.stat().st_size)
        assert (program.path.name, program.path.read_bytes()) == (ARCHIVES[system], path.read_bytes())
    assert [each.system for each in list_programs(home)] == list(made)
    (folder / ARCHIVES["macos"]).write_bytes(b"older")
    (folder / ARCHIVES["linux"]).write_bytes(made["linux"].read_bytes())
    lacking = programs_to_copy(home, folder)
    assert [each.system for each in lacking] == ["windows", "macos"], "what is there stays"
    for each in lacking:
        copy_program(each, folder, lambda _: None)
    starters = write_starters(folder)
    assert systems_on(folder) == list(made)
    assert sorted(folder.iterdir()) == sorted([*starters, *(folder / name for name in ARCHIVES.values())])
    for system, path in made.items():
        assert (folder / ARCHIVES[system]).read_bytes() == path.read_bytes()
    assert not programs_to_copy(home, folder)


BOMB = {**LINUX, "rosetta-review/data": bytes(50_000_000)}


@pytest.mark.parametrize(
    ("name", "files", "words"),
    [
        ("a.zip", LINUX, "Review-Linux.tar.xz"),
        ("a.tar.xz", WINDOWS, "Review-Windows.zip"),
        ("a.zip", {"dist/stick/Review-Windows.zip": b"PK"}, "rosetta-review is not in it"),
        ("a.zip", {**WINDOWS, "notes.txt": b"x"}, "notes.txt"),
        ("a.zip", {**WINDOWS, "rosetta-review/../../.bashrc": b"x"}, "bashrc"),
        ("a.zip", {**MAC, "\x1b[2J": b"x"}, "x1b"),
        ("a.tar.xz", {**LINUX, "/etc/passwd": b"x"}, "passwd"),
        ("a.tar.xz", BOMB, "damaged"),
        ("a.zip", {**WINDOWS, "rosetta-review/data": bytes(50_000_000)}, "damaged"),
    ],
)
def test_other_archives_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, files: dict[str, bytes], words: str
) -> None:
    monkeypatch.setattr(reviewer_programs, "MOST_UNPACKED", 40_000_000)
    write = zipped if name.endswith("zip") else tarred
    refuses(UsageError, words, recognise_archive, write(tmp_path / name, files))


def damaged(data: bytes) -> Iterator[bytes]:
    yield data[: len(data) // 2]
    yield data[:-1]
    draw = Random(2)
    for _ in range(3):
        at = draw.randrange(100, len(data) - 100)
        yield data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :]


def test_damaged_or_foreign_files_are_refused(tmp_path: Path) -> None:
    small = {name: content[:20_000] for name, content in LINUX.items()}
    archives = [
        zipped(tmp_path / "a.zip", {name: content[:20_000] for name, content in WINDOWS.items()}),
        tarred(tmp_path / "a.tar.xz", small),
    ]
    file = tmp_path / "file"
    for data in [each for path in archives for each in damaged(path.read_bytes())]:
        file.write_bytes(data)
        refuses(UsageError, "damaged", recognise_archive, file)
    for content in (b"", b"PK\x03\x04", b"MZ", lzma.compress(b"no tar")):
        file.write_bytes(content)
        refuses(UsageError, r"damaged|neither", recognise_archive, file)
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", tmp_path / "gone"):
        refuses(UsageError, "no such file", recognise_archive, path)
    with file.open("wb") as large:
        large.truncate(reviewer_programs.MOST_BYTES + 1)
    refuses(UsageError, r"536\.9 MB", recognise_archive, file)


def test_a_copy_that_breaks_off_leaves_no_half_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive, target = zipped(tmp_path / "a.zip", WINDOWS), tmp_path / "b.zip"
    target.write_bytes(b"older")

    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    def lies(descriptor: int) -> None:
        os.pwrite(descriptor, b"N", 2_500_000)

    refuses(KeyboardInterrupt, "", stick.copy_file, archive, target, READABLE, interrupted)
    monkeypatch.setattr(stick, "flush", lies)
    with pytest.raises(StickError, match="did not keep"):
        stick.copy_file(archive, target, READABLE, lambda _: None)
    with pytest.raises(StickError, match=r"gone\.zip: It is not there"):
        stick.copy_file(tmp_path / "gone.zip", target, READABLE, lambda _: None)
    assert target.read_bytes() == b"older"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.zip", "b.zip"]


def test_a_full_or_read_only_stick_is_told_before(tmp_path: Path) -> None:
    disk = tmp_path / "stick"
    disk.mkdir()
    mounted(disk, 2_000)
    try:
        add_program(zipped(tmp_path / "a.zip", WINDOWS), "windows", tmp_path, lambda _: None)
        refuses(UsageError, r"3\.0 MB are needed and 2\.0 MB are free", programs_to_copy, tmp_path, disk)
        [program] = list_programs(tmp_path)
        with pytest.raises(StickError, match="too little room"):
            copy_program(program, disk, lambda _: None)
        assert not list(disk.iterdir())
    finally:
        pulled(disk)
