"""The only way by which text from outside reaches a terminal.

Outputs of models and corpora of strangers may hold markup, escape sequences, direction overrides or
invisible characters. Here every character that would act instead of showing becomes one that shows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from corpora.text.visible import plain

__all__ = ["WIDEST", "json_text", "plain", "stacked", "table"]


CHECK_SIGNS = {True: "✓", False: "✗", None: "–"}  # right, wrong, nobody can tell


def json_text(value: object, *, indent: int | None = 2, default: Callable[[Any], object] | None = None) -> str:
    """Write a value as ASCII-only JSON, which any terminal shows and readers get back; ``default`` as in ``json.dumps``."""
    return json.dumps(value, indent=indent, default=default).replace("\x7f", "\\u007f")


# Tables

_GAP = 2
WIDEST = 60  # cells of the widest column; a longer text is cut


def table(rows: Sequence[Sequence[str]], whole: Collection[str] = ()) -> Iterator[str]:
    """Yield harmless cells in columns as wide as their widest cell; nothing is cut in columns headed in ``whole``."""
    from rich.cells import cell_len, set_cell_size

    shown = [[plain(cell) for cell in row] for row in rows]
    needed = [max(map(cell_len, column)) for column in zip(*shown, strict=True)]
    widths = [
        width if head in whole else min(WIDEST, width)
        for head, width in zip(rows[0] if rows else (), needed, strict=True)
    ]
    for row in shown:
        cells = [
            set_cell_size(cell if cell_len(cell) <= width else f"{_cut(cell, width - 1)}…", width)
            for cell, width in zip(row, widths, strict=True)
        ]
        yield "  ".join(cells).rstrip()


def _cut(text: str, width: int) -> str:
    from rich.cells import set_cell_size

    return set_cell_size(text, width).rstrip()


def stacked(rows: Sequence[Sequence[str]], width: int | None, whole: Collection[str] = ()) -> Iterator[str]:
    """Yield cells as tables side by side within ``width`` cells (None: any), each beginning with the first column."""
    for columns in _groups(rows, width, whole):
        yield from table([[row[place] for place in columns] for row in rows], whole)


def _groups(rows: Sequence[Sequence[str]], width: int | None, whole: Collection[str]) -> list[list[int]]:
    """Share the columns out, by place; one that alone is too wide stands alone with the first."""
    from rich.cells import cell_len

    columns = list(zip(*rows, strict=True))
    needs = [max(cell_len(plain(cell)) for cell in column) for column in columns]
    first, *others = [
        need if column[0] in whole else min(WIDEST, need) for column, need in zip(columns, needs, strict=True)
    ]
    groups, used = [[0]], first
    for place, needed in enumerate(others, 1):
        if width is not None and used + _GAP + needed > width and len(groups[-1]) > 1:
            groups.append([0])
            used = first
        groups[-1].append(place)
        used += _GAP + needed
    return groups
