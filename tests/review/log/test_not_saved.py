"""What goes wrong with disks, files and programs is said, loses nothing, and the same again works."""

import errno
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import IO, Any

import pytest

from harness.core.storage import StorageProblem
from harness.sealed.chain import check_chain
from review.log.laptop import FILE_NAME, Laptop
from review.log.table import NotSaved, not_saved
from review.rating import Rating
from tests.harness.process import ROOT
from tests.review.log.material import BATCH, comment, rate
from tests.review.thorough import times

GIST = Rating.GIST


NO_RIGHT = (StorageProblem.READ_ONLY, StorageProblem.NOT_OPENED)
"""Told in the same words: SQLITE_CANTOPEN does not say that a right is missing."""


@contextmanager
def problem(*expected: StorageProblem) -> Iterator[None]:
    with pytest.raises(NotSaved) as caught:
        yield
    assert caught.value.problem in expected
    assert caught.value.detail.startswith(("SQLITE_", "E"))
    assert str(caught.value).startswith("Not saved to ")


def seqs(laptop: Laptop) -> list[int]:
    assert check_chain(laptop.events()).whole
    return [event.seq for event in laptop.events()]


def fill(laptop: Laptop) -> int:
    """Append until the disk is full; gives how many events were acknowledged."""
    done = 0
    with problem(StorageProblem.DISK_FULL):
        while done < 10_000:
            laptop.append(comment(0, "x" * 4000))
            done += 1
    return done


def test_the_same_rating_is_saved_once_there_is_space_again(tmp_path: Path) -> None:
    with Laptop.open(tmp_path) as laptop:
        laptop.append(rate(0, GIST))
        pages = laptop.connection.execute("PRAGMA page_count").fetchone()[0]
        laptop.connection.execute(f"PRAGMA max_page_count = {pages + 20}")
        done = fill(laptop)
        with problem(StorageProblem.DISK_FULL):
            laptop.add_batch(b'{"batch":"%s"}' % BATCH.encode(), bytes(100_000), False)
        assert seqs(laptop) == list(range(done + 1))
        laptop.connection.execute("PRAGMA max_page_count = 100000")
        assert laptop.append(rate(1, GIST)).seq == done + 1
        assert seqs(laptop) == list(range(done + 2))


def test_a_small_disk_that_is_really_full(tmp_path: Path) -> None:
    if os.name != "posix" or os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("only the system's administrator can mount a small disk")
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(tmp_path)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this machine does not let a small disk be mounted")
    try:
        ballast = tmp_path / "ballast"
        ballast.write_bytes(bytes(600_000))
        with Laptop.open(tmp_path) as laptop:
            done = fill(laptop)
            assert done > 0
            with Laptop.open(tmp_path) as second:  # to hand the ratings over
                assert seqs(second) == list(range(done))
            ballast.unlink()
            assert laptop.append(rate(1, GIST)).seq == done
        with Laptop.open(tmp_path) as laptop:
            assert seqs(laptop) == list(range(done + 1))
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps open files in their place")
def test_file_that_was_moved_while_open(tmp_path: Path) -> None:
    home, away = tmp_path / "home", tmp_path / "away"
    with Laptop.open(home) as laptop:
        for number, (here, there) in enumerate(((home / FILE_NAME, away), (home, away))):
            laptop.append(rate(0, GIST))
            shutil.move(here, there)
            with problem(StorageProblem.GONE):
                laptop.append(rate(1, GIST))
            shutil.move(there, here)
            assert laptop.append(rate(1, GIST)).seq == 2 * number + 1
        assert seqs(laptop) == [0, 1, 2, 3]


@contextmanager
def ordinary_person() -> Iterator[None]:
    """Yield up the administrator's rights for a while, for whom no file is read-only."""
    if os.name != "posix" or os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def anybodys() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


@pytest.mark.skipif(sys.platform == "win32", reason="needs the modes of POSIX")
def test_a_read_only_file_is_noticed_at_opening(anybodys: Path) -> None:
    with Laptop.open(anybodys) as laptop:
        laptop.append(rate(0, GIST))
    (anybodys / FILE_NAME).chmod(0o444)
    anybodys.chmod(0o555)
    with ordinary_person():
        with problem(*NO_RIGHT):
            Laptop.open(anybodys)
        with problem(*NO_RIGHT):
            Laptop.open(anybodys / "new")
    for each in anybodys.iterdir():
        each.chmod(0o666)
    with ordinary_person(), problem(*NO_RIGHT):
        Laptop.open(anybodys)  # it cannot have a journal beside it
    anybodys.chmod(0o777)
    with ordinary_person(), Laptop.open(anybodys) as laptop:
        assert seqs(laptop) == [0]
    with Laptop.open(anybodys) as laptop:
        assert seqs(laptop) == [0]


def test_a_second_program_that_holds_the_file(tmp_path: Path) -> None:
    with Laptop.open(tmp_path, busy_seconds=0.05) as laptop:
        laptop.append(rate(0, GIST))
        other = subprocess.Popen(
            [sys.executable, "-m", "tests.review.log.processes", "hold", str(tmp_path)],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with problem(StorageProblem.BUSY):
            laptop.append(rate(1, GIST))
        with problem(StorageProblem.BUSY):
            Laptop.open(tmp_path, busy_seconds=0.05)
        other.communicate()
        assert (laptop.append(rate(1, GIST)).seq, seqs(laptop)) == (1, [0, 1])


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (lambda content: b"not a database at all" * 100, StorageProblem.NOT_OURS),
        (lambda content: content[: len(content) // 2], StorageProblem.DAMAGED),
        (lambda content: content[:4096] + b"\xff" * (len(content) - 4096), StorageProblem.DAMAGED),
    ],
    ids=["other", "truncated", "overwritten"],
)
def test_damaged_file_is_noticed(tmp_path: Path, damage: Any, expected: StorageProblem) -> None:
    with Laptop.open(tmp_path) as laptop:
        for number in range(50):
            laptop.append(comment(number % 6, "x" * 500))
    path = tmp_path / FILE_NAME
    path.write_bytes(damage(path.read_bytes()))
    with problem(expected), Laptop.open(tmp_path) as laptop:
        laptop.append(rate(0, GIST))


def test_words_of_the_file_system_are_understood(tmp_path: Path) -> None:
    for number, expected in (
        (errno.ENOSPC, StorageProblem.DISK_FULL), (errno.EROFS, StorageProblem.READ_ONLY),
        (errno.EACCES, StorageProblem.READ_ONLY), (errno.EIO, StorageProblem.DISK_FAILS),
    ):  # fmt: skip
        said = not_saved(OSError(number, "words of the system"), tmp_path)
        assert (said.problem, said.detail) == (expected, errno.errorcode[number])
    said = not_saved(sqlite3.ProgrammingError("Cannot operate on a closed database."), tmp_path)
    assert (said.problem, said.detail) == (StorageProblem.OTHER, "ProgrammingError")


def appending(folder: Path, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.review.log.processes", "append", str(folder), str(count)],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def acknowledged(stream: IO[str]) -> list[str]:
    """Read the ids of whole lines; a killed program may leave half a line."""
    return [line.split()[0] for line in stream.read().splitlines(keepends=True) if line[-1] == "\n"]


def test_killed_program_loses_nothing_acknowledged(tmp_path: Path) -> None:
    """SIGKILL at any moment: after some acknowledgements, and some milliseconds of the next writing."""
    random = Random(4)
    known: list[str] = []
    kills = times(2, 200)
    for _ in range(kills):
        program = appending(tmp_path, 10_000)
        assert program.stdout is not None
        said = [program.stdout.readline() for _ in range(random.randint(1, 60))]
        known += [line.split()[0] for line in said]
        for _ in range(random.randrange(20_000)):
            pass  # so that the signal falls into any part of a commit
        program.kill()
        known += acknowledged(program.stdout)
        program.communicate()
        with Laptop.open(tmp_path) as laptop:
            kept = [event.id for event in laptop.events()]
            report = check_chain(laptop.events())
        assert [event for event in kept if event in set(known)] == known
        assert (report.whole, [chain.forked for chain in report.chains]) == (True, [()])
    print(f"{kills} kills, {len(known)} acknowledged, {len(kept)} kept")


def test_programs_that_start_at_once_write_one_chain(tmp_path: Path) -> None:
    for number in range(times(1, 25)):
        folder = tmp_path / str(number)
        said = [each.communicate(timeout=120) for each in [appending(folder, 20) for _ in range(2)]]
        assert [errors for _, errors in said] == [""] * 2
        numbers = [int(line.split()[1]) for out, _ in said for line in out.splitlines()]
        assert sorted(numbers) == list(range(40))
        with Laptop.open(folder) as laptop:
            [chain] = check_chain(laptop.events()).chains
        assert (chain.events, chain.whole, chain.forked) == (40, True, ())
