"""What installed packages offer, found without reading all their metadata."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def offered(group: str) -> list[EntryPoint]:
    """Return the entry points of a group; nothing of theirs is imported."""
    if next(files_naming(group), None) is None:
        return []
    from importlib.metadata import entry_points  # noqa: PLC0415  most computers have nothing of a group

    return list(entry_points(group=group))


def files_naming(group: str) -> Iterator[Path]:
    """Yield the files in which installed packages may offer something, those included that cannot be read.

    Reading all metadata as ``importlib.metadata`` does costs more than the rest of ``rosetta run --help``.
    """
    for place in map(Path, sys.path):
        if place.is_file():  # an archive
            yield place
        for file in place.glob("*.*-info/entry_points.txt"):
            try:
                named = group in file.read_text(encoding="utf-8", errors="replace")
            except OSError:
                named = True
            if named:
                yield file
