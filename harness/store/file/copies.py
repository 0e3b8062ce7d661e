"""Copies of stores: private ones of those that cannot be written, and one beside a store while it is upgraded.

A program that ends erases its private copies itself. One that was killed cannot; the next one does, and knows by a
lock, which the system takes from a process however it ends, that nobody reads the copy any more.
"""

from __future__ import annotations

import atexit
import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from shutil import copyfile, rmtree
from tempfile import TemporaryDirectory, gettempdir
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from filelock import BaseFileLock

PREFIX = "rosetta-store-"
"""How the folders of copies begin."""

_HELD = "held"
"""File in the folder that its process has locked."""

_READY = "ready"
"""File that is there once the lock is held."""

_OLD_SECONDS = 3600.0
"""A folder so old whose process has not locked it has none any more."""


class Copy(NamedTuple):
    """What this process knows of a copy that it made."""

    folder: TemporaryDirectory[str]
    original: Path
    """The store that was copied."""


@cache
def copies() -> dict[Path, Copy]:
    """Return the copies that this process made, by their paths."""
    return {}


def original_of(path: Path) -> Path:
    """Return the store that a path is a copy of, else the path itself: keys are next to that."""
    copy = copies().get(path)
    return path if copy is None else copy.original


def cannot_be_written(path: Path) -> bool:
    """Return whether a store is there that this person cannot write: the file, or the folder that holds its journal."""
    if not path.is_file():
        return False
    effective = os.access in os.supports_effective_ids
    both = (path, path.parent)
    return path in copies() or not all(
        os.access(place, os.W_OK, effective_ids=effective) for place in both
    )


@cache
def copied(path: Path, journal: Path) -> Path:
    """Copy a store and its journal into a folder that only its owner may enter; once, as nobody can change them."""
    folder = TemporaryDirectory(prefix=PREFIX)
    lock = _locked(Path(folder.name))
    atexit.register(
        _give_up, folder, lock
    )  # before the folder's own end: an open file stays on Windows
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


def _give_up(folder: TemporaryDirectory[str], lock: BaseFileLock) -> None:
    lock.release()
    folder.cleanup()


def erase_left_copies() -> None:
    """Erase the copies of this person whose process is gone."""
    own = {copy.folder.name for copy in copies().values()}
    with suppress(OSError), os.scandir(gettempdir()) as folder_entries:
        for entry in folder_entries:
            if entry.name.startswith(PREFIX) and entry.path not in own:
                with suppress(OSError), _left(entry):
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
def copied_for_upgrade(
    connection: sqlite3.Connection, path: Path, version: int, *, begun: bool
) -> Iterator[Path]:
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
    _overwrite_and_delete(copy)


_BLOCK = 2**20


def _overwrite_and_delete(path: Path) -> None:
    """Delete a file after writing zeros over it, as SQLite does with deleted rows: texts may be open in it."""
    with path.open("r+b") as file:
        for _ in range(-(-path.stat().st_size // _BLOCK)):
            file.write(bytes(_BLOCK))
        file.flush()
        os.fsync(file.fileno())
    path.unlink()
