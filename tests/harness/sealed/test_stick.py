"""A file on a stick is whole or not there; batches are found on sticks, newest first, without wandering off."""

import errno
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.core.storage_problems import StorageProblem
from harness.sealed import stick
from harness.sealed.stick import StickError, find_batches, mounted_sticks, read_file, write_file
from tests.harness.sealed.refusals import refuses
from tests.review.thorough import times

unprivileged = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere"
)


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
    mount = shutil.which("mount")
    options = ["-t", "tmpfs", "-o", "size=64k", "none", str(disk)]
    if not mount or subprocess.run([mount, *options], check=False, capture_output=True).returncode:
        pytest.skip("this user may not mount a disk")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_stick_that_fills_up_and_is_emptied_takes_it_after_all(small_disk: Path) -> None:
    write_file(small_disk / "a", b"older")
    (small_disk / "photographs").write_bytes(bytes(40_000))
    assert trouble(small_disk / "a", bytes(30_000)) is StorageProblem.DISK_FULL
    assert (small_disk / "a").read_bytes() == b"older"
    assert names(small_disk) == ["a", "photographs"]
    (small_disk / "photographs").unlink()
    write_file(small_disk / "a", bytes(30_000))


def test_a_write_protected_stick_is_told(small_disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    assert trouble(small_disk / "a") is StorageProblem.READ_ONLY


def test_a_stick_that_is_gone_is_told(tmp_path: Path) -> None:
    assert trouble(tmp_path / "gone" / "a") is StorageProblem.GONE
    (tmp_path / "file").write_bytes(b"")
    assert trouble(tmp_path / "file" / "a") is StorageProblem.GONE
    assert refuses(StickError, "", read_file, tmp_path / "gone").problem is StorageProblem.GONE


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
    os.mkfifo(tmp_path / "pipe")
    assert read_file(tmp_path / "pipe") == b""
    (tmp_path / "large").write_bytes(bytes(101))
    assert read_file(tmp_path / "large", most_bytes=101) == bytes(101)
    error = refuses(StickError, "", read_file, tmp_path / "large", most_bytes=100)
    assert error.problem is StorageProblem.TOO_LARGE
    refuses(StickError, "", read_file, Path("/dev/zero"))
    refuses(StickError, "", read_file, tmp_path)


def put(path: Path, modified: int = 1_000) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x")
    os.utime(path, (modified, modified))
    return path


def found(*places: Path, **options: object) -> list[Path]:
    return [each.path for each in find_batches(places, **options)]  # type: ignore[arg-type]


def test_newest_first_in_folders_below(tmp_path: Path) -> None:
    old = put(tmp_path / "a" / "old.rosetta-batch", 1_000)
    new = put(tmp_path / "a" / "b" / "c" / "NEW.ROSETTA-BATCH", 3_000)
    middle = put(tmp_path / "middle.rosetta-batch", 2_000)
    put(tmp_path / "a" / "b" / "c" / "d" / "deep.rosetta-batch")
    put(tmp_path / "other.zip")
    put(tmp_path / ".half.rosetta-batch")
    put(tmp_path / ".Trash" / "gone.rosetta-batch")
    assert found(tmp_path) == [new, middle, old]
    assert [each.size for each in find_batches([tmp_path])] == [1, 1, 1]

    ratings = put(tmp_path / "a.rosetta-ratings")
    assert found(tmp_path, suffix=".rosetta-ratings") == [ratings]


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
    monkeypatch.setattr(stick, "MOST_ENTRIES", 100)
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
