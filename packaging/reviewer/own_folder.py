"""A folder that a build fills: it may take the place of an earlier one, and of nothing else."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

CHECKSUMS = "CHECKSUMS.txt"
"""Every folder that a build fills holds it; so it tells one from a folder of somebody else."""


def make(folder: Path) -> Path:
    """Give the folder with nothing but an empty list; ends the program with words where it holds what no build has put there."""
    if folder.exists():
        if not folder.is_dir() or (any(folder.iterdir()) and not (folder / CHECKSUMS).is_file()):
            sys.exit(f"{folder} holds other things. Name a folder that is new or empty.")
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    (folder / CHECKSUMS).touch()  # a build that was stopped is ours, too
    return folder
