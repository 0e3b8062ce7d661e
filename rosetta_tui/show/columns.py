"""The cells and columns of a table, and how the columns share the width that there is.

A cell is cropped and rounded for reading. What is copied and exported are records: rows as values instead of
words, which hold all of it. Texts of secret segments are in no record.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from array import array
from collections.abc import AsyncIterator, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

from rich.cells import cell_len

from rosetta_tui.show.text import plain

T = TypeVar("T")


class Cell(NamedTuple):
    """What is in one cell: any text, and the tone it is said in."""

    text: str
    tone: str = "plain"  # `plain`, `quiet`, `good`, `warn`, `bad` or `mark`


class RowSource(Protocol):
    """Where a table gets its rows; with a ``record`` method (``Records``) that is what is copied, else the cells' words."""

    @property
    def count(self) -> int: ...

    def key(self, index: int) -> Hashable:
        """Return what the row's look depends on: cheap, immutable, and different when the look differs."""
        ...

    def cells(self, index: int) -> Sequence[Cell]:
        """Return the row's cells, one for each column."""
        ...

    def prepare(self, first: int, last: int) -> None:
        """Get ready to give the rows from first to last (exclusive) in one go."""
        ...


@runtime_checkable
class MeasuredRows(Protocol):
    """Rows that say how wide their columns need to be, as all of them are there without reading."""

    def needs(self) -> Sequence[int]:
        """Return the cells that the widest text of each column takes, 0 where it is empty."""
        ...


class Rows(ABC, Generic[T]):
    """Rows of items that are all there: one row for each."""

    def __init__(self, items: Sequence[T]) -> None:
        self.items = items

    @property
    def count(self) -> int:
        return len(self.items)

    def key(self, index: int) -> Hashable:
        """Return what the row's look depends on: its item."""
        return self.items[index]

    @abstractmethod
    def cells(self, index: int) -> Sequence[Cell]:
        """Return the cells of one row."""

    def prepare(self, first: int, last: int) -> None:
        """Everything is there already."""


class OrderedRows(ABC):
    """Rows of entries by their places in the corpus, in the order that a person chose."""

    def __init__(self, order: Iterable[int]) -> None:
        self.order = order if isinstance(order, array) else array("I", order)
        """Places in the corpus, in the order of the rows."""

    @property
    def count(self) -> int:
        return len(self.order)

    def find(self, place: int) -> int | None:
        """Return the row of an entry, None where it is not among them."""
        try:
            return self.order.index(place)
        except ValueError:
            return None

    @abstractmethod
    def key(self, index: int) -> Hashable:
        """Return what the row's look depends on."""

    @abstractmethod
    def cells(self, index: int) -> Sequence[Cell]:
        """Return the cells of one row."""

    @abstractmethod
    def prepare(self, first: int, last: int) -> None:
        """Read a screenful."""


class NoRows:
    count = 0

    def key(self, index: int) -> Hashable:
        raise IndexError(index)

    def cells(self, index: int) -> Sequence[Cell]:
        raise IndexError(index)

    def prepare(self, first: int, last: int) -> None:
        """Nothing to get ready."""


GAP = 2  # empty cells between two columns
LESSER = 3  # columns that drop at this or later yield to those that would be cut short
MEASURED_ROWS = 500  # rows by which widths are chosen; a longer text below them is cut
MOST_CELLS = 200  # characters of a text that are measured; no terminal gives a column more


@dataclass(frozen=True, slots=True)
class Column:
    key: str
    title: str
    width: int  # cells it takes; the least it takes where it has a share
    share: int = 0  # its part of the width that is left over; 0: its width is fixed
    right: bool = False  # numbers stand at the right
    drop: int = 0  # the highest goes first where the width is short; 0 always stays
    exported: bool = True  # false where it stays on this computer, or is drawn and not written

    def arrowed(self, arrow: str) -> Column:
        """Return the column with an arrow behind its title, and room for it."""
        title = f"{self.title} {arrow}"
        return replace(self, title=title, width=max(self.width, len(title)))


def sorted_by(columns: Iterable[Column], key: str, *, falling: bool) -> list[Column]:
    """Return columns with an arrow in the title of the one that rows are sorted by, ▼ with the highest first."""
    return [column.arrowed("▼" if falling else "▲") if column.key == key else column for column in columns]


@dataclass(frozen=True, slots=True)
class PlacedColumn:
    """A column that is shown, and how wide."""

    index: int  # place among all columns
    width: int


def widest(columns: Sequence[Column], texts: Mapping[str, Iterable[str]]) -> list[int]:
    """Return the cells of each column's widest text, 0 for an empty one; ``texts``: key → texts, else the column's width."""
    needs = dict.fromkeys(texts, 0)
    for key, column_texts in texts.items():
        distinct = {text[:MOST_CELLS] for text in islice(column_texts, MEASURED_ROWS)}
        needs[key] = max((cell_len(plain(text)) for text in distinct), default=0)
    return [needs.get(column.key, column.width) for column in columns]


def fit(
    columns: Sequence[Column], width: int, needs: Sequence[int] | None = None, hidden: Collection[str] = ()
) -> list[PlacedColumn]:
    """Choose the columns that fit into a width and share out what is left over.

    ``needs``: cells of the widest text below each title (``widest``). With them an empty column that may go
    takes no room, one with a share gets no more than it needs, and before a lesser column is shown it gets up
    to half more than its least width. Without them every column counts as full. ``hidden``: keys of columns not to show.
    The sum of widths and gaps exceeds ``width`` only where the columns that always stay do.
    """
    empty = [needs is not None and not needs[i] and bool(column.drop) for i, column in enumerate(columns)]
    kept = [i for i, column in enumerate(columns) if not empty[i] and column.key not in hidden]
    # the width above which a column gains nothing: without limit where its need is not known
    full = [
        column.width if not column.share else sys.maxsize if needs is None else max(needs[i], len(column.title))
        for i, column in enumerate(columns)
    ]
    widths = [min(column.width, most) for column, most in zip(columns, full, strict=True)]
    wished = [min(column.width * 3 // 2, most) for column, most in zip(columns, full, strict=True)]
    while kept:
        last = max(kept, key=lambda index: (columns[index].drop, index))
        stands_back = needs is not None and columns[last].drop >= LESSER
        if not columns[last].drop or _needed(wished if stands_back else widths, kept) <= width:
            break
        kept.remove(last)
    left = max(0, width - _needed(widths, kept))
    while left and (growing := [i for i in kept if widths[i] < full[i]]):
        shares = sum(columns[index].share for index in growing)
        for index in growing:
            extra = min(left * columns[index].share // shares, full[index] - widths[index])
            widths[index] += extra
            left, shares = left - extra, shares - columns[index].share
    return [PlacedColumn(index, widths[index]) for index in kept]


def _needed(widths: Sequence[int], kept: Sequence[int]) -> int:
    return sum(widths[index] for index in kept) + GAP * max(0, len(kept) - 1)


Value = str | int | float | bool | None  # what stands under one name
Record = Mapping[str, Value]  # one row: name → value; None where there is no value
SLICE = 50  # rows that are read in one go, so that the screen stays awake in between
LEFT_OUT = "left_out"  # name under which a record says what it does not hold
WITHHELD = "withheld"  # record key: why the run's numbers stay on this computer


class Counted(Protocol):
    """Rows that can be got ready many at a time."""

    @property
    def count(self) -> int: ...

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
        self._rows, self._names = rows, names

    @property
    def count(self) -> int:
        return self._rows.count

    def prepare(self, first: int, last: int) -> None:
        """Get the rows ready."""
        self._rows.prepare(first, last)

    def record(self, index: int) -> Record:
        """Return the words of one row, by the keys of their columns."""
        cells = self._rows.cells(index)
        return {name: cell.text for name, cell in zip(self._names, cells, strict=True)}


class Listed:
    def __init__(self, records: Sequence[Record]) -> None:
        self._records = records
        self.count = len(records)

    def prepare(self, first: int, last: int) -> None:
        """Everything is there already."""

    def record(self, index: int) -> Record:
        return self._records[index]


async def read_all(records: Records) -> AsyncIterator[list[Record]]:
    """Yield every record, a slice at a time; whatever else happens in the app happens between two slices."""
    import asyncio  # lines and JSON of the same columns start without it

    count = records.count
    for first in range(0, count, SLICE):
        last = min(count, first + SLICE)
        records.prepare(first, last)
        yield [records.record(index) for index in range(first, last)]
        await asyncio.sleep(0)


_SORT_MARKS = " ▲▼"  # at the end of the title of the column that rows are sorted by


class ShownRecords(CellRecords):
    """The words of the cells by the titles of their columns.

    Of a row that leaves something out of its record only the words stay that the record has too, or begins with:
    what may be seen here of a secret segment, texts and numbers, may not leave this computer.
    """

    def __init__(self, rows: RowSource, columns: Sequence[Column], shown: Sequence[int]) -> None:
        super().__init__(rows, ())
        self._places: dict[str, int] = {}  # title → place; a second column adds its key
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
        words = [cell.text for cell in self._rows.cells(index)]
        shown = {title: words[at] if at < len(words) else "" for title, at in self._places.items()}
        full = self._rows.record(index) if isinstance(self._rows, Records) else {}
        why = {name: full[name] for name in (LEFT_OUT, WITHHELD) if name in full}
        if not why:
            return shown
        seen = {str(v) for name, v in full.items() if name not in why and v is not None}
        kept = {
            title: w if (w in seen or (len(w) == _ID and any(value.startswith(w) for value in seen))) else ""
            for title, w in shown.items()
        }
        return {**kept, **why}


_ID = 8  # characters of a run's id that lists show
