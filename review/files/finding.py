"""Looking for files of a review on sticks and in folders, quickly and without leaving them."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

BATCH_SUFFIX: Final = ".rosetta-batch"
RATINGS_SUFFIX: Final = ".rosetta-ratings"

_MOUNT_POINTS = (Path("/media"), Path("/run/media"), Path("/mnt"))
"""Where Linux shows sticks, in the first two mostly in a folder of the user's."""

_DEPTH = 3
"""Folders below the place that is searched."""

_MOST_ENTRIES = 20_000
_SECONDS = 2.0
"""An old stick with a thousand photographs must not keep anybody waiting."""


@dataclass(frozen=True, slots=True)
class FoundBatch:
    """A file that bears the name of a batch; whether it is one, opening it tells."""

    path: Path
    size: int
    """Bytes."""
    modified: float
    """Seconds since 1970, by the clock of whoever wrote it."""


def find_batches(
    places: Iterable[Path], suffix: str = BATCH_SUFFIX, *, seconds: float = _SECONDS
) -> list[FoundBatch]:
    """Find files by their suffix in folders and those below, newest first; never follows a link.

    A place that cannot be read holds nothing. One file that is reached twice is given once.
    """
    deadline = time.monotonic() + seconds
    found: dict[tuple[int, int], FoundBatch] = {}
    for place in places:
        for entry in _entries(place, deadline):
            if entry.name.lower().endswith(suffix) and not entry.name.startswith("."):
                _add(found, Path(entry.path))
    return sorted(found.values(), key=lambda each: (-each.modified, str(each.path)))


def mounted_sticks() -> list[Path]:
    """List the places at which the system shows sticks; those that are plugged in now."""
    if sys.platform == "win32":
        return _drives()
    if sys.platform == "darwin":
        return _folders_in(Path("/Volumes"))
    shown = [each for above in _MOUNT_POINTS for each in _folders_in(above)]
    of_users = [each for folder in shown if not _is_mounted(folder) for each in _folders_in(folder)]
    return [each for each in (*of_users, *shown) if _is_mounted(each)]


def _entries(place: Path, deadline: float) -> Iterator[os.DirEntry[str]]:
    """Walk breadth first over the files of a place, so that what lies on top is found in any case."""
    folders = [(place, 0)]
    seen = 0
    while folders:
        folder, depth = folders.pop(0)
        for entry in _listed(folder):
            seen += 1
            if seen > _MOST_ENTRIES or time.monotonic() > deadline:
                return
            if _is_folder(entry):
                if depth < _DEPTH and not entry.name.startswith("."):
                    folders.append((Path(entry.path), depth + 1))
            else:
                yield entry


def _listed(folder: Path) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from entries
    except OSError:
        return  # pulled, locked, or no folder: there is nothing to find in it


def _add(found: dict[tuple[int, int], FoundBatch], path: Path) -> None:
    try:
        facts = path.lstat()
    except OSError:
        return  # pulled meanwhile
    if stat.S_ISREG(facts.st_mode):
        file = FoundBatch(path, facts.st_size, facts.st_mtime)
        found.setdefault((facts.st_dev, facts.st_ino), file)


def _folders_in(place: Path) -> list[Path]:
    return sorted(Path(entry.path) for entry in _listed(place) if _is_folder(entry))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False  # a failing stick


def _is_mounted(folder: Path) -> bool:
    try:
        return folder.is_mount()
    except OSError:
        return False  # another user's, or pulled meanwhile


def _drives() -> list[Path]:
    letters = (Path(f"{letter}:\\") for letter in "DEFGHIJKLMNOPQRSTUVWXYZ")
    return [drive for drive in letters if drive.is_dir()]
