"""A table that is wider than the terminal, as several under each other: nothing of it is cut away."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from rosetta_tui.report.card import WIDEST, table
from rosetta_tui.show.text import plain

_GAP = 2
"""Cells between two columns of a table."""


def stacked(
    rows: Sequence[Sequence[str]], width: int | None, whole: Collection[str] = ()
) -> Iterator[str]:
    """Lay cells out in columns, in as many tables as fit; each begins with the first column.

    ``width`` is in cells; None for a pipe, in which all columns stand side by side.
    Of columns under the headings ``whole`` nothing is cut.
    """
    for columns in _groups(rows, width, whole):
        yield from table([[row[place] for place in columns] for row in rows], whole)


def _groups(
    rows: Sequence[Sequence[str]], width: int | None, whole: Collection[str]
) -> list[list[int]]:
    """Share the columns out, by place; one that alone is too wide stands alone with the first."""
    from rich.cells import cell_len

    columns = list(zip(*rows, strict=True))
    needs = [max(cell_len(plain(cell)) for cell in column) for column in columns]
    first, *others = [
        each if column[0] in whole else min(WIDEST, each)
        for column, each in zip(columns, needs, strict=True)
    ]
    groups, used = [[0]], first
    for place, needed in enumerate(others, 1):
        if width is not None and used + _GAP + needed > width and len(groups[-1]) > 1:
            groups.append([0])
            used = first
        groups[-1].append(place)
        used += _GAP + needed
    return groups
