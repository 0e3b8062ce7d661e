"""Private copies of stores that cannot be written: made, held while they are read, and never left lying about.

A program that ends erases its copies itself. One that was killed cannot; the next one does, and knows by a lock, which
the system takes from a process however it ends, that nobody reads the copy any more.
"""

from __future__ import annotations

import atexit
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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
    """Return the store that a path is a copy of, else the path itself: keys lie beside that."""
    copy = copies().get(path)
    return path if copy is None else copy.original


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
    for each in (path, journal):
        copyfile(each, copy.with_name(each.name))
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
    with suppress(OSError), os.scandir(gettempdir()) as found:
        for each in found:
            if each.name.startswith(PREFIX) and each.path not in own:
                with suppress(OSError), _left(each):
                    rmtree(each.path, ignore_errors=True)


@contextmanager
def _left(found: os.DirEntry[str]) -> Iterator[None]:
    """Hold a folder of this person that its process left; OSError where it is another's, or is read still."""
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
