"""Rows of a table as values instead of words: what is copied and exported of them.

A cell is cropped and rounded for reading; a record holds all of it. Texts of secret segments are in no record.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Protocol, runtime_checkable

Value = str | int | float | bool | None
"""What stands under one name."""

Record = Mapping[str, Value]
"""One row: name → value; None where there is no value."""

SLICE = 50
"""Rows that are read in one go, so that the screen stays awake in between."""

LEFT_OUT = "left_out"
"""Name under which a record says what it does not hold."""


class Rows(Protocol):
    """Rows that can be got ready many at a time."""

    @property
    def count(self) -> int:
        """How many there are."""
        ...

    def prepare(self, first: int, last: int) -> None:
        """Get ready to give the rows from first to last (exclusive) in one go."""
        ...


@runtime_checkable
class Records(Rows, Protocol):
    """Rows that know their values, and leave out what may not leave this machine."""

    def record(self, index: int) -> Record:
        """Return the values of one row."""
        ...


class _Text(Protocol):
    @property
    def text(self) -> str: ...


class _Cells(Rows, Protocol):
    def cells(self, index: int) -> Sequence[_Text]: ...


class CellRecords:
    """The words of a table as its records, where its rows hold nothing else."""

    def __init__(self, rows: _Cells, names: Sequence[str]) -> None:
        self._rows = rows
        self._names = names

    @property
    def count(self) -> int:
        """How many rows there are."""
        return self._rows.count

    def prepare(self, first: int, last: int) -> None:
        """Get the rows ready."""
        self._rows.prepare(first, last)

    def record(self, index: int) -> Record:
        """Return the words of one row, by the keys of their columns."""
        cells = self._rows.cells(index)
        return {name: cell.text for name, cell in zip(self._names, cells, strict=True)}


class Listed:
    """Records that are there already."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._records = records
        self.count = len(records)

    def prepare(self, first: int, last: int) -> None:
        """Everything is there already."""

    def record(self, index: int) -> Record:
        """Return one of them."""
        return self._records[index]


async def read_all(records: Records) -> AsyncIterator[list[Record]]:
    """Yield every record, a slice at a time; whatever else happens in the app happens between two slices."""
    count = records.count
    for first in range(0, count, SLICE):
        last = min(count, first + SLICE)
        records.prepare(first, last)
        yield [records.record(index) for index in range(first, last)]
        await asyncio.sleep(0)
