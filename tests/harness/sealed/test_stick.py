"""A file on a stick is whole or not there, batches are found on sticks, and one zip form shows any change of a byte."""

import errno
import io
import os
import random
import signal
import struct
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.storage import StorageProblem
from harness.sealed import archive, carried_files, stick
from harness.sealed.archive import pack, unpack
from harness.sealed.carried_files import ReviewFile, find_files
from harness.sealed.stick import StickError, copy_file, mounted_sticks, read_file, write_file
from harness.sealed.strict_records import FileError, FileProblem
from tests.desktop.trouble.causes import mounted, pulled
from tests.harness.sealed.refusals import refuses
from tests.review.thorough import examples, times

unprivileged = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")


def trouble(path: Path, data: bytes = b"new") -> StorageProblem:
    error = refuses(StickError, r"[.)]$", write_file, path, data)
    assert str(path) in str(error)
    return StorageProblem(error.problem)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_file_is_written_replaced_and_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / ".a.part").write_bytes(b"half")  # what a pulled stick left
    write_file(tmp_path / "a", b"one")
    write_file(tmp_path / "a", b"two")
    assert read_file(tmp_path / "a") == b"two"
    assert names(tmp_path) == ["a"]
    (tmp_path / "a").unlink()
    precious = tmp_path / "precious"
    precious.write_bytes(b"mine")
    for name in (".a.part", "a"):
        (tmp_path / name).symlink_to(precious)
    write_file(tmp_path / "a", b"new")
    assert precious.read_bytes() == b"mine"
    assert not (tmp_path / "a").is_symlink()


FULL = """
import resource, sys
from pathlib import Path
from harness.sealed.stick import StickError, write_file
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_file(Path(sys.argv[1]), bytes(5000))
except StickError as error:
    print(error.problem)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no limits on files here")
def test_a_full_place_leaves_the_older_file_whole(tmp_path: Path) -> None:
    file = tmp_path / "a"
    write_file(file, b"older")
    said = subprocess.run([sys.executable, "-c", FULL, file], capture_output=True, check=True)
    assert said.stdout.decode().strip() == "disk_full"
    assert (names(tmp_path), file.read_bytes()) == (["a"], b"older")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real disk of 64 KB, where this user may mount one."""
    disk = tmp_path / "stick"
    disk.mkdir()
    mounted(disk, 64)
    yield disk
    pulled(disk)


def test_a_stick_that_fills_up_and_is_emptied_takes_it_after_all(small_disk: Path) -> None:
    write_file(small_disk / "a", b"older")
    (small_disk / "photographs").write_bytes(bytes(40_000))
    assert trouble(small_disk / "a", bytes(30_000)) is StorageProblem.DISK_FULL
    assert (small_disk / "a").read_bytes() == b"older"
    assert names(small_disk) == ["a", "photographs"]
    (small_disk / "photographs").unlink()
    write_file(small_disk / "a", bytes(30_000))
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    assert trouble(small_disk / "a") is StorageProblem.READ_ONLY


@unprivileged
def test_a_folder_of_somebody_else_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    assert trouble(tmp_path / "a") is StorageProblem.READ_ONLY


@pytest.mark.parametrize("number", [errno.EIO, errno.ENODEV, errno.ENXIO])
def test_stick_that_is_pulled_or_lies_while_flushed_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    write_file(tmp_path / "a", b"older")

    def pulled(_: int) -> None:
        raise OSError(number, os.strerror(number))

    def lies(descriptor: int) -> None:
        os.pwrite(descriptor, b"N", 0)

    for flush, words in ((pulled, "It is not there"), (lies, "")):
        monkeypatch.setattr(stick, "flush", flush)
        refuses(StickError, words, write_file, tmp_path / "a", b"new")
        assert (names(tmp_path), read_file(tmp_path / "a")) == (["a"], b"older")
    assert trouble(tmp_path / "a") is StorageProblem.CHANGED


WRITE_FOR_EVER = """
import itertools, sys
from pathlib import Path
from harness.sealed.stick import write_file
for number in itertools.count(1):
    write_file(Path(sys.argv[1]), number.to_bytes(4, "big") * 20_000)
    print(number, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal here")
def test_a_kill_at_any_moment_leaves_a_whole_file(tmp_path: Path) -> None:
    file = tmp_path / "a"
    for round_number in range(times(3, 200)):
        program = [sys.executable, "-c", WRITE_FOR_EVER, str(file)]
        writing = subprocess.Popen(program, stdout=subprocess.PIPE)
        for _ in range(random.Random(round_number).randrange(1, 40)):
            said = int(writing.stdout.readline())
        writing.send_signal(signal.SIGKILL)
        said = int((writing.communicate()[0].split() or [said])[-1])  # type: ignore[list-item]
        content = file.read_bytes()
        assert content == content[:4] * 20_000
        assert int.from_bytes(content[:4], "big") >= said


def test_only_regular_files_of_bounded_size_are_read(tmp_path: Path) -> None:
    assert trouble(tmp_path / "gone" / "a") is StorageProblem.GONE
    (tmp_path / "file").write_bytes(b"")
    assert trouble(tmp_path / "file" / "a") is StorageProblem.GONE
    assert refuses(StickError, "", read_file, tmp_path / "gone").problem is StorageProblem.GONE
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "terminal").symlink_to("/dev/ptmx")
    (tmp_path / "large").write_bytes(bytes(101))
    assert read_file(tmp_path / "large", most_bytes=101) == bytes(101)
    error = refuses(StickError, "", read_file, tmp_path / "large", most_bytes=100)
    assert error.problem is StorageProblem.TOO_LARGE
    for path in (Path("/dev/zero"), tmp_path / "pipe", tmp_path / "terminal"):
        refuses(StickError, "a pipe or a device, not a file", read_file, path)
        refuses(StickError, "a pipe or a device, not a file", copy_file, path, tmp_path / "copy", 0o600, len)
    refuses(StickError, "Is a directory", read_file, tmp_path)


def put(path: Path, modified: int = 1_000) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x")
    os.utime(path, (modified, modified))
    return path


def found(*places: Path, **options: object) -> list[Path]:
    return [each.path for each in find_files(places, ReviewFile.BATCH, **options).files]  # type: ignore[arg-type]


def test_newest_first_in_folders_below(tmp_path: Path) -> None:
    old = put(tmp_path / "a" / "old.rosetta-batch", 1_000)
    new = put(tmp_path / "a" / "b" / "c" / "NEW.ROSETTA-BATCH", 3_000)
    middle = put(tmp_path / "middle.rosetta-batch", 2_000)
    put(tmp_path / "a" / "b" / "c" / "d" / "deep.rosetta-batch")
    put(tmp_path / "other.zip")
    put(tmp_path / ".half.rosetta-batch")
    put(tmp_path / ".Trash" / "gone.rosetta-batch")
    assert found(tmp_path) == [new, middle, old]
    assert [each.size for each in find_files([tmp_path], ReviewFile.BATCH).files] == [1, 1, 1]

    ratings = put(tmp_path / "a.rosetta-ratings")
    assert [each.path for each in find_files([tmp_path], ReviewFile.RATINGS).files] == [ratings]


def test_links_are_not_found_and_one_file_once(tmp_path: Path) -> None:
    put(tmp_path / "elsewhere" / "a.rosetta-batch")
    stick = tmp_path / "stick"
    stick.mkdir()
    (stick / "link.rosetta-batch").symlink_to(tmp_path / "elsewhere" / "a.rosetta-batch")
    (stick / "folder").symlink_to(tmp_path / "elsewhere")
    (stick / "loop").symlink_to(stick)
    (stick / "folder.rosetta-batch").mkdir()
    os.mkfifo(stick / "pipe.rosetta-batch")
    assert found(stick, tmp_path / "not there") == []
    file = put(stick / "a" / "x.rosetta-batch")
    assert found(stick / "a", stick, stick / "a") == [file]


def test_a_huge_place_is_left_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = put(tmp_path / "a.rosetta-batch")
    for number in range(300):
        put(tmp_path / "many" / f"{number}.jpg")
    monkeypatch.setattr(carried_files, "MOST_ENTRIES", 100)
    assert found(tmp_path) == [first]
    assert found(tmp_path, seconds=0.0) == []


@pytest.mark.skipif(sys.platform != "linux", reason="other systems show sticks elsewhere")
def test_sticks_are_what_is_mounted_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    media = tmp_path / "media"
    sticks = [media / "STICK", media / "user" / "RED STICK"]
    for folder in (*sticks, media / "user" / "left over"):
        folder.mkdir(parents=True)
    monkeypatch.setattr(stick, "MOUNT_POINTS", (media, tmp_path / "not there"))
    monkeypatch.setattr(Path, "is_mount", lambda path: path in sticks)
    assert sorted(mounted_sticks()) == sorted(sticks)


SMALL = {"a.txt": b"alpha", "b.jsonl": b"", "manifest.json": b"{}"}
NAMES = st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,20}", fullmatch=True)


@examples(25, 100)
@given(st.dictionaries(NAMES, st.binary(max_size=200), min_size=1, max_size=8))
def test_what_is_packed_comes_back_whatever_its_order(members: dict[str, bytes]) -> None:
    packed = pack(members)
    assert unpack(packed, members) == members
    assert pack(dict(reversed(members.items()))) == packed


def test_form_is_pinned_and_any_zip_program_reads_it() -> None:
    packed = pack(SMALL)
    assert len(packed) == 307
    assert sha256(packed).hexdigest() == "e934b1cc8365621f0378c932da9b9799b16a68bd1a3c9b2d86adace1da382581"
    with zipfile.ZipFile(io.BytesIO(packed)) as read:
        assert read.testzip() is None
        assert {name: read.read(name) for name in read.namelist()} == SMALL


def test_every_single_changed_byte_is_refused() -> None:
    packed = pack(SMALL)
    for place, byte in enumerate(packed):
        for value in random.Random(place).sample(range(1, 256), times(4, 255)):
            changed = packed[:place] + bytes([byte ^ value]) + packed[place + 1 :]
            refuses(FileError, r"\. |\.$", unpack, changed, SMALL)
    packed = pack(SMALL)
    for length in range(len(packed)):
        error = refuses(FileError, "", unpack, packed[:length], SMALL)
        assert error.problem is FileProblem.CUT_SHORT, length
    refuses(FileError, "", unpack, packed + b"\0", SMALL)


def zipped(*members: tuple[zipfile.ZipInfo | str, bytes], how: int = zipfile.ZIP_STORED, double: bool = False) -> bytes:
    """A zip by another hand; ``double``: the first name is in no list."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", how) as other:
        for name, content in members:
            other.writestr(name, content)
            if double:
                other.filelist.clear()
                other.NameToInfo.clear()
                double = False
    return data.getvalue()


def ours(name: str) -> zipfile.ZipInfo:
    return archive._entry(name)  # all but the name is as the program writes it


def link() -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo("a.txt", (1980, 1, 1, 0, 0, 0))
    entry.external_attr = 0o120777 << 16
    return entry


def lying_size() -> bytes:
    """A header that claims four gigabytes."""
    packed = bytearray(pack({"a.txt": b"alpha"}))
    packed[18:26] = struct.pack("<2I", 0xFFFFFFFF, 0xFFFFFFFF)
    return bytes(packed)


OTHERS = [(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), each) for name, each in SMALL.items()]
HOSTILE: dict[str, tuple[Callable[[], bytes], FileProblem]] = {
    "another program's zip": (lambda: zipped(*OTHERS), FileProblem.REPACKED),
    "compressed": (lambda: zipped(("a.txt", bytes(10**7)), how=zipfile.ZIP_DEFLATED), FileProblem.REPACKED),
    "a path upward": (lambda: zipped(("../a.txt", b"x")), FileProblem.REPACKED),
    "an absolute path": (lambda: zipped(("/etc/a.txt", b"x")), FileProblem.REPACKED),
    "a Windows path": (lambda: zipped(("C:\\a.txt", b"x")), FileProblem.REPACKED),
    "our form with a path": (lambda: zipped((ours("../a.txt"), b"x")), FileProblem.DAMAGED),
    "a folder": (lambda: zipped(("a/", b"x")), FileProblem.REPACKED),
    "a name in another script": (lambda: zipped(("\u1401.txt", b"x")), FileProblem.REPACKED),
    "a link": (lambda: zipped((link(), b"/etc/passwd")), FileProblem.DAMAGED),
    "one name twice": (
        lambda: zipped((ours("a.txt"), b"one"), (ours("a.txt"), b"two"), double=True),
        FileProblem.REPACKED,
    ),
    "one member too many": (
        lambda: zipped(*((ours(str(n)), b"") for n in range(archive.FLAT.most_members + 1))),
        FileProblem.REPACKED,
    ),
    "a size that lies": (lying_size, FileProblem.CUT_SHORT),
    "something before it": (lambda: b"#!/bin/sh\n" + pack(SMALL), FileProblem.NOT_OURS),
    "nothing": (lambda: b"", FileProblem.CUT_SHORT),
    "a zip without members": (lambda: b"PK\5\6" + bytes(18), FileProblem.NOT_OURS),
    "a picture": (lambda: b"\x89PNG\r\n\x1a\n" + bytes(100), FileProblem.NOT_OURS),
    "deflated by hand": (lambda: zlib.compress(pack(SMALL)), FileProblem.NOT_OURS),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_files_are_refused_in_words(kind: str) -> None:
    make, problem = HOSTILE[kind]
    error = refuses(FileError, "", unpack, make(), {"a.txt"}, optional=SMALL)
    assert error.problem is problem
    assert str(error).endswith(".")
    assert len(str(error).split()) > 5


def test_names_are_exactly_those_that_are_expected() -> None:
    packed = pack(SMALL)
    assert unpack(packed, {"a.txt", "b.jsonl"}, optional={"manifest.json", "c"}) == SMALL
    refuses(FileError, "holds no events", unpack, packed, {"events.jsonl"})
    refuses(FileError, "holds manifest.json, which does not", unpack, packed, {"a.txt", "b.jsonl"})
    for name in ("", "../a", "a/b", ".hidden", "a\0", "x" * 81, "\u00e9"):
        refuses(FileError, "name", pack, {name: b""})
    refuses(FileError, r"too much in a\.txt \(4 bytes", unpack, pack(SMALL), SMALL, most={"a.txt": 4})  # fmt: skip
    assert unpack(pack(SMALL), SMALL, most={"a.txt": 5}) == SMALL
    small = replace(archive.FLAT, most_bytes=4)
    for act in (lambda: pack(SMALL, small), lambda: archive.unpack_all(b"PK\3\4" + bytes(2**17), small)):
        assert refuses(FileError, "", act).problem is FileProblem.TOO_LARGE


@examples(25, 100)
@given(st.binary(max_size=300))
def test_any_bytes_are_taken_or_refused_in_words(noise: bytes) -> None:
    refuses(FileError, "", unpack, b"PK\3\4" + noise, SMALL)
