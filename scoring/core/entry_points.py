"""What installed packages offer under a group of entry points, found without reading all metadata."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def offered(group: str) -> list[EntryPoint]:
    """Return the entry points of a group; nothing of theirs is imported."""
    if not _named_anywhere(group):
        return []
    from importlib.metadata import entry_points

    return list(entry_points(group=group))


def _named_anywhere(group: str) -> bool:
    """Return whether a package may offer something; True where that cannot be seen from the files.

    Reading all metadata as ``importlib.metadata`` does costs more than the rest of ``rosetta run --help``.
    """
    for place in map(Path, sys.path):
        if place.is_file():  # an archive
            return True
        for file in place.glob("*.*-info/entry_points.txt"):
            try:
                if group in file.read_text(encoding="utf-8", errors="replace"):
                    return True
            except OSError:
                return True
    return False
