"""A table that is wider than the terminal, as several under each other: nothing of it is cut away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rosetta_tui.report.card import WIDEST, table
from rosetta_tui.show.text import plain

_GAP = 2
"""Cells between two columns of a table."""


def stacked(rows: Sequence[Sequence[str]], width: int | None) -> Iterator[str]:
    """Lay cells out in columns, in as many tables as fit; each begins with the first column.

    ``width`` is in cells; None for a pipe, in which all columns stand side by side.
    """
    for columns in _groups(rows, width):
        yield from table([[row[place] for place in columns] for row in rows])


def _groups(rows: Sequence[Sequence[str]], width: int | None) -> list[list[int]]:
    """Share the columns out, by place; one that alone is too wide stands alone with the first."""
    from rich.cells import cell_len

    first, *others = [
        min(WIDEST, max(cell_len(plain(cell)) for cell in column))
        for column in zip(*rows, strict=True)
    ]
    groups, used = [[0]], first
    for place, needed in enumerate(others, 1):
        if width is not None and used + _GAP + needed > width and len(groups[-1]) > 1:
            groups.append([0])
            used = first
        groups[-1].append(place)
        used += _GAP + needed
    return groups
