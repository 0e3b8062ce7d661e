"""A folder that a build fills: it may take the place of an earlier one, and of nothing else."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CHECKSUMS = "CHECKSUMS.txt"
"""Every folder that a build fills holds it; so it tells one from a folder of somebody else."""


def make(folder: Path) -> Path:
    """Return the folder with nothing but an empty list; ends the program with words where it holds what no build has put there."""
    refuse_others(folder)
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    (folder / CHECKSUMS).touch()  # a build that was stopped is ours, too
    return folder


def refuse_others(folder: Path) -> None:
    """End the program with words where a folder holds what no build has put there."""
    if folder.exists() and (not folder.is_dir() or (any(folder.iterdir()) and not (folder / CHECKSUMS).is_file())):
        sys.exit(f"{folder} holds other things. Name a folder that is new or empty.")


@contextmanager
def filling(folder: Path) -> Iterator[Path]:
    """Yield a folder to fill; only when that is done it takes the place of the one that is meant, as a whole.

    Where anything fails, what lay there before stays as it was, or nothing is there.
    """
    refuse_others(folder)
    beside = folder.with_name(f"{folder.name}.part")
    yield make(beside)
    if folder.exists():
        shutil.rmtree(folder)
    beside.rename(folder)
