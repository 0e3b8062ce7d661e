"""Pairing the things of two lists one to one, so that the pairs are worth the most together."""

from __future__ import annotations

from collections.abc import Sequence

Weights = Sequence[Sequence[int]]
"""What a pair of row and column is worth, 0 or more; 0 means that the two are no pair."""


def best_pairs(weights: Weights) -> list[int | None]:
    """Return the column of each row, None where it has none: exactly the most that pairs can be worth.

    Among pairings worth the same, the one that keeps nearest to the order is taken. It is the Hungarian
    method with shortest augmenting paths; rows whose best column is free are settled at once, which are
    nearly all where two sentences are alike.
    """
    if not weights or not weights[0]:
        return [None] * len(weights)
    if len(weights) > len(weights[0]):
        return _turned(best_pairs(list(zip(*weights, strict=True))), len(weights))
    chosen = _assign(_with_order(weights))
    return [column if weights[row][column] > 0 else None for row, column in enumerate(chosen)]


def _turned(rows: Sequence[int | None], length: int) -> list[int | None]:
    """Turn the rows of columns into the columns of rows."""
    columns: list[int | None] = [None] * length
    for column, row in enumerate(rows):
        if row is not None:
            columns[row] = column
    return columns


def _with_order(weights: Weights) -> list[list[int]]:
    """Make worth count first and nearness in order second; squares prefer pairs that do not cross."""
    columns = len(weights[0])
    scale = len(weights) * columns * columns + 1
    return [
        [worth * scale - (row - column) ** 2 if worth else 0 for column, worth in enumerate(line)]
        for row, line in enumerate(weights)
    ]


def _assign(worth: list[list[int]]) -> list[int]:
    """Assign every row to a column of its own; there are no more rows than columns."""
    pairing = _Pairing(worth)
    for row in pairing.unsettled():
        pairing.settle(row)
    return pairing.column_of


class _Pairing:
    """Prices of rows and columns that together are never below a pair's worth, and equal it for pairs."""

    def __init__(self, worth: list[list[int]]) -> None:
        self._worth = worth
        self._row_price = [max(line) for line in worth]
        self._column_price = [0] * len(worth[0])
        self._row_of = [_NONE] * len(worth[0])
        self.column_of = [_NONE] * len(worth)

    def unsettled(self) -> list[int]:
        """Settle each row whose best column is still free; give the others."""
        for row, line in enumerate(self._worth):
            best = line.index(self._row_price[row])
            if self._row_of[best] == _NONE:
                self._row_of[best], self.column_of[row] = row, best
        return [row for row, column in enumerate(self.column_of) if column == _NONE]

    def settle(self, start: int) -> None:
        """Settle one more row along the path of changes that costs least."""
        cost: dict[int, int] = {}
        came_from: dict[int, int] = {}
        reached: list[int] = []
        open_columns = set(range(len(self._column_price)))
        row, spent = start, 0
        while True:
            line, price = self._worth[row], spent + self._row_price[row]
            for column in open_columns:
                found = price + self._column_price[column] - line[column]
                if column not in cost or found < cost[column]:
                    cost[column], came_from[column] = found, row
            nearest = min(open_columns, key=cost.__getitem__)
            open_columns.remove(nearest)
            spent, row = cost[nearest], self._row_of[nearest]
            if row == _NONE:
                break
            reached.append(nearest)
        self._row_price[start] -= spent
        for column in reached:
            self._column_price[column] += spent - cost[column]
            self._row_price[self._row_of[column]] -= spent - cost[column]
        self._change(nearest, came_from)

    def _change(self, column: int, came_from: dict[int, int]) -> None:
        """Give the free column to the row that reached it, that row's column to the one before, and so on."""
        while column != _NONE:
            row = came_from[column]
            self._row_of[column] = row
            self.column_of[row], column = column, self.column_of[row]


_NONE = -1
