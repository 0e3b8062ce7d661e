"""Copies of stores: private ones of those that cannot be written, and one beside a store while it is upgraded.

A program that ends erases its private copies itself. One that was killed cannot; the next one does, and knows by a
lock, which the system takes from a process however it ends, that nobody reads the copy any more.
"""

from __future__ import annotations

import atexit
import os
import sqlite3
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from enum import StrEnum
from errno import ENOENT
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from harness.core.storage import StorageProblem, storage_problem

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

    from filelock import BaseFileLock


PREFIX = "rosetta-store-"  # How the folders of copies begin
_HELD = "held"  # File in the folder that its process has locked
_READY = "ready"  # File that is there once the lock is held
_OLD_SECONDS = 3600.0  # A folder so old whose process has not locked it has none any more


class Copy(NamedTuple):
    """What this process knows of a copy that it made."""

    folder: TemporaryDirectory[str]
    original: Path  # The store that was copied


@cache
def copies() -> dict[Path, Copy]:
    """Return the copies that this process made, by their paths."""
    return {}


def original_of(path: Path) -> Path:
    """Return the store that a path is a copy of, else the path itself: keys are next to that."""
    copy = copies().get(path)
    return path if copy is None else copy.original


@cache
def copied(path: Path, journal: Path) -> Path:
    """Copy a store and its journal into a folder that only its owner may enter; once, as nobody can change them."""
    from shutil import copyfile
    from tempfile import TemporaryDirectory

    folder = TemporaryDirectory(prefix=PREFIX, dir=_copies_folder())
    lock = _locked(Path(folder.name))
    atexit.register(folder.cleanup)
    atexit.register(lock.release)  # before the folder's end: an open file stays on Windows
    (Path(folder.name) / _READY).touch()
    copy = Path(folder.name) / path.name
    for file in (path, journal):
        copyfile(file, copy.with_name(file.name))
    copies()[copy] = Copy(folder, path)
    return copy


def file_lock(path: Path, seconds: float = -1) -> BaseFileLock:
    """Return a lock in a file of its owner alone; ``seconds``: how long one waits for it, without end below 0."""
    import filelock

    return filelock.FileLock(path, timeout=seconds, mode=0o600)


def _locked(folder: Path) -> BaseFileLock:
    """Lock the file of a folder until this process ends or gives it up; OSError where another one has it."""
    lock = file_lock(folder / _HELD, 0)
    lock.acquire()
    return lock


def _copies_folder() -> str:
    """Return the first folder for temporary files that can be written; as ``tempfile`` does, without loading it."""
    named = [os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP")]
    places = [place for place in (*named, "/tmp", "/var/tmp") if place and os.access(place, os.W_OK | os.X_OK)]  # noqa: S108
    if not places:
        raise FileNotFoundError(ENOENT, "no folder for temporary files can be written")
    return places[0]


def erase_left_copies() -> None:
    """Erase the copies of this person whose process is gone."""
    own = {copy.folder.name for copy in copies().values()}
    with suppress(OSError), os.scandir(_copies_folder()) as folder_entries:
        for entry in folder_entries:
            if entry.name.startswith(PREFIX) and entry.path not in own:
                with suppress(OSError), _left(entry):
                    from shutil import rmtree

                    rmtree(entry.path, ignore_errors=True)


@contextmanager
def _left(found: os.DirEntry[str]) -> Iterator[None]:
    """Lock a folder of this person that its process left; OSError where it is another's, or is read still."""
    what = found.stat(follow_symlinks=False)
    others = os.name == "posix" and (what.st_uid != os.geteuid() or what.st_mode & 0o077)
    held, ready = Path(found.path, _HELD), Path(found.path, _READY)
    began = ready.exists() or time.time() - what.st_mtime > _OLD_SECONDS
    if not stat.S_ISDIR(what.st_mode) or others or not (held.is_file() and began):
        raise PermissionError
    lock = _locked(Path(found.path))
    try:
        if os.name != "posix":
            lock.release()  # there an open file keeps its folder
        yield
    finally:
        lock.release()


# The copy beside a store while it is upgraded


def upgrade_copy(path: Path, version: int) -> Path:
    """Return where the copy of a store of a version lies while it is upgraded, and after that failed."""
    return path.with_name(f"{path.stem}.version-{version}{path.suffix}")


@contextmanager
def copied_for_upgrade(connection: sqlite3.Connection, path: Path, version: int, *, begun: bool) -> Iterator[Path]:
    """Copy a store before the block and erase the copy after it; where the block fails, the copy stays.

    ``begun``: an earlier upgrade was stopped after its first step. Then its copy is used, which is the store as it was.
    """
    copy = upgrade_copy(path, version)
    if not (begun and copy.is_file()):
        part = copy.with_name(f"{copy.name}.part")
        try:
            os.close(os.open(part, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600))
            with closing(sqlite3.connect(part)) as target:
                connection.backup(target)
            part.replace(copy)
        finally:
            part.unlink(missing_ok=True)
    yield copy
    # Delete a file after writing zeros over it, as SQLite does with deleted rows: texts may be
    # open in it.
    with copy.open("r+b") as file:
        for _ in range(-(-copy.stat().st_size // _BLOCK)):
            file.write(bytes(_BLOCK))
        file.flush()
        os.fsync(file.fileno())
    copy.unlink()


_BLOCK = 2**20


# ---- Whether locks work in a folder: tried with SQLite on an empty file, where it helps from a
# second process.
#
# On storage without locks SQLite says that a file is busy, as if another program had it. On
# storage that grants every lock two programs write at once and damage a store.

_SECONDS = 30.0  # How long the second process may take to start and answer
_IS_BUSY = 3
SECOND_PROCESS = f"""
import sqlite3, sys
store = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)
try:
    store.execute("BEGIN EXCLUSIVE")
except sqlite3.OperationalError:
    sys.exit({_IS_BUSY})
"""
"""What the second process does with the file that the first has locked."""


class Locks(StrEnum):
    """What became of a lock in a folder."""

    WORK = "work"
    MISSING = "missing"
    """The storage refuses every lock."""
    IGNORED = "ignored"
    """Two processes have one lock at once."""
    UNKNOWN = "unknown"
    """No file can be made there, or no second process."""


def locks_are_missing(folder: Path) -> bool:
    """Return whether the storage refuses a lock on a file that nobody else has; False where none can be made."""
    try:
        with _locked_file(folder):
            return False
    except OSError:
        return False
    except sqlite3.Error as error:
        return storage_problem(error) is StorageProblem.BUSY


def examine_locks(folder: Path) -> Locks:
    """Lock a new file in a folder and try to lock it again from a second process; nothing stays there."""
    import subprocess

    if locks_are_missing(folder):
        return Locks.MISSING
    if getattr(sys, "frozen", False) or not sys.executable:
        return Locks.UNKNOWN
    try:
        with _locked_file(folder) as path:
            command = [sys.executable, "-I", "-S", "-c", SECOND_PROCESS, str(path)]
            done = subprocess.run(  # noqa: S603  our own program
                command, capture_output=True, timeout=_SECONDS, check=False
            )
    except (OSError, sqlite3.Error, subprocess.SubprocessError):
        return Locks.UNKNOWN
    return {0: Locks.IGNORED, _IS_BUSY: Locks.WORK}.get(done.returncode, Locks.UNKNOWN)


@contextmanager
def _locked_file(folder: Path) -> Iterator[Path]:
    """Lock a new empty file, which is deleted after the block; OSError or sqlite3.Error where it fails."""
    path = folder / f".locks-{os.urandom(8).hex()}"
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as file:
            file.execute("BEGIN EXCLUSIVE")
            yield path
    finally:
        path.unlink(missing_ok=True)
