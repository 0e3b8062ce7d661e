"""The only way by which text from outside reaches a terminal.

Outputs of models and corpora of strangers may hold markup, escape sequences, direction overrides or
invisible characters. Here every character that would act instead of showing becomes one that shows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
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
    return stacked(rows, None, whole)


def stacked(rows: Sequence[Sequence[str]], width: int | None, whole: Collection[str] = ()) -> Iterator[str]:
    """Yield cells as tables side by side within ``width`` cells (None: any), each beginning with the first column."""
    from rich.cells import cell_len

    filled, widths = list[list[str]](), list[int]()
    for cells in zip(*rows, strict=True):
        text = "".join(cells)
        column = cells if plain(text) == text else tuple(map(plain, cells))  # mostly one look for a column
        needs = {cell: len(cell) if cell.isascii() else cell_len(cell) for cell in set(column)}
        need = max(needs.values())
        widths.append(need if cells[0] in whole else min(WIDEST, need))
        filled.append(_filled(column, needs, widths[-1]))
    for places in _groups(widths, width):
        for line in zip(*(filled[place] for place in places), strict=True):
            yield "  ".join(line).rstrip()


def _filled(column: Sequence[str], needs: Mapping[str, int], width: int) -> list[str]:
    """Return the cells of a column as wide as it is, those that are wider cut; ``needs``: how wide each text is."""
    from rich.cells import set_cell_size

    shown = {
        cell: f"{cell}{' ' * (width - need)}"
        if need <= width
        else set_cell_size(f"{set_cell_size(cell, width - 1).rstrip()}…", width)
        for cell, need in needs.items()
    }
    return [shown[cell] for cell in column]


def _groups(widths: Sequence[int], width: int | None) -> list[list[int]]:
    """Share the columns out, by place; one that alone is too wide stands alone with the first."""
    if not widths:
        return []
    groups, used = [[0]], widths[0]
    for place, needed in enumerate(widths[1:], 1):
        if width is not None and used + _GAP + needed > width and len(groups[-1]) > 1:
            groups.append([0])
            used = widths[0]
        groups[-1].append(place)
        used += _GAP + needed
    return groups
