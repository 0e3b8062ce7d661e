"""Rows of a table as values instead of words: what is copied and exported of them.

A cell is cropped and rounded for reading; a record holds all of it. Texts of secret segments are in no record.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from rosetta_tui.show.columns import Column

if TYPE_CHECKING:
    from rosetta_tui.show.columns import RowSource

Value = str | int | float | bool | None
"""What stands under one name."""

Record = Mapping[str, Value]
"""One row: name → value; None where there is no value."""

SLICE = 50
"""Rows that are read in one go, so that the screen stays awake in between."""

LEFT_OUT = "left_out"
"""Name under which a record says what it does not hold."""


class Counted(Protocol):
    """Rows that can be got ready many at a time."""

    @property
    def count(self) -> int:
        """How many there are."""
        ...

    def prepare(self, first: int, last: int) -> None:
        """Get ready to give the rows from first to last (exclusive) in one go."""
        ...


@runtime_checkable
class Records(Counted, Protocol):
    """Rows that know their values, and leave out what may not leave this machine."""

    def record(self, index: int) -> Record:
        """Return the values of one row."""
        ...


class _Text(Protocol):
    @property
    def text(self) -> str: ...


class _Cells(Counted, Protocol):
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


_SORT_MARKS = " ▲▼"
"""At the end of the title of the column that rows are sorted by."""


class ShownRecords(CellRecords):
    """The words of the cells by the titles of their columns.

    Of a row that leaves texts out of its record only numbers stay, and words that the record has too: what
    may be seen here of a secret segment may not leave this computer.
    """

    def __init__(self, rows: RowSource, columns: Sequence[Column], shown: Sequence[int]) -> None:
        super().__init__(rows, ())
        self._places: dict[str, int] = {}
        """Title → place among all columns; of two with one title the second has its key too."""
        self._columns = columns
        for place in shown:
            column = columns[place]
            title = column.title.rstrip(_SORT_MARKS)
            if column.exported and title:
                again = title in self._places
                self._places[f"{title} {column.key}" if again else title] = place

    @property
    def right(self) -> frozenset[str]:
        """Titles of the columns that stand at the right."""
        return frozenset(title for title, at in self._places.items() if self._columns[at].right)

    def record(self, index: int) -> Record:
        """Return the words of one row."""
        words = [cell.text for cell in self._rows.cells(index)]
        shown = {title: words[at] if at < len(words) else "" for title, at in self._places.items()}
        full = self._rows.record(index) if isinstance(self._rows, Records) else {}
        if LEFT_OUT not in full:
            return shown
        told = {str(value) for value in full.values() if value is not None}
        kept = {
            title: word if title in self.right or word in told else ""
            for title, word in shown.items()
        }
        return {**kept, LEFT_OUT: full[LEFT_OUT]}
