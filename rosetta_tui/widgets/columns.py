"""How the columns of a table share the width that there is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

GAP = 2
"""Empty cells between two columns."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    key: str
    title: str
    width: int
    """Cells it takes; the least it takes where it has a share."""
    share: int = 0
    """Its part of the width that is left over; 0: its width is fixed."""
    right: bool = False
    """Numbers stand at the right."""
    drop: int = 0
    """Where the width is short, the column with the highest goes first; 0 always stays."""
    exported: bool = True
    """False where it stays on this computer, or is drawn and not written."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A column that is shown, and how wide."""

    index: int
    """Place among all columns."""
    width: int


def fit(columns: Sequence[Column], width: int) -> list[Placed]:
    """Choose the columns that fit into a width and share out what is left over.

    The sum of widths and gaps exceeds ``width`` only where the columns that always stay do.
    """
    kept = list(range(len(columns)))
    while _needed(columns, kept) > width:
        last = max(kept, key=lambda index: (columns[index].drop, index))
        if columns[last].drop == 0:
            break
        kept.remove(last)
    left = max(0, width - _needed(columns, kept))
    shares = sum(columns[index].share for index in kept)
    placed = []
    for index in kept:
        column = columns[index]
        extra = left * column.share // shares if shares else 0
        left, shares = left - extra, shares - column.share
        placed.append(Placed(index, column.width + extra))
    return placed


def _needed(columns: Sequence[Column], kept: Sequence[int]) -> int:
    return sum(columns[index].width for index in kept) + GAP * max(0, len(kept) - 1)
