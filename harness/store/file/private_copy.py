"""Private copies of stores that cannot be written: made, held while they are read, and never left lying about.

A program that ends erases its copies itself. One that was killed cannot; the next one does, and knows by a lock,
which the system takes from a process however it ends, that nobody reads the copy any more.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from shutil import copyfile, rmtree
from tempfile import TemporaryDirectory, gettempdir

_LOCKS = os.name == "posix"
"""False where a process cannot lock a file by its descriptor (Windows)."""

PREFIX = "rosetta-store-"
"""How the folders of copies begin."""

_HELD = "held"
"""File in the folder that its process has locked."""


@cache
def copies() -> dict[Path, tuple[TemporaryDirectory[str], int | None]]:
    """Return the copies that this process made, each with its folder and its lock."""
    return {}


@cache
def copied(path: Path, journal: Path) -> Path:
    """Copy a store and its journal into a folder that only its owner may enter; once, as nobody can change them."""
    folder = TemporaryDirectory(prefix=PREFIX)
    lock = _hold(Path(folder.name))
    copy = Path(folder.name) / path.name
    for each in (path, journal):
        copyfile(each, copy.with_name(each.name))
    copies()[copy] = folder, lock
    return copy


def _hold(folder: Path) -> int | None:
    """Lock a file in a folder until this process ends; it has its name only once it is locked."""
    if not _LOCKS:
        return None
    import fcntl  # not on Windows

    new = folder / "new"
    lock = os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    new.rename(folder / _HELD)
    return lock


def erase_left_copies() -> None:
    """Erase the copies of this person whose process is gone; nothing where locks cannot tell that."""
    if not _LOCKS:
        return
    with suppress(OSError), os.scandir(gettempdir()) as found:
        for each in found:
            if each.name.startswith(PREFIX):
                with suppress(OSError), _left(each):
                    rmtree(each.path, ignore_errors=True)


@contextmanager
def _left(found: os.DirEntry[str]) -> Iterator[None]:
    """Hold a folder of this person that its process left; OSError where it is another's, or is read still."""
    import fcntl  # not on Windows

    what = found.stat(follow_symlinks=False)
    if not stat.S_ISDIR(what.st_mode) or what.st_uid != os.geteuid() or what.st_mode & 0o077:
        raise PermissionError
    lock = os.open(Path(found.path, _HELD), os.O_RDWR | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(lock)
