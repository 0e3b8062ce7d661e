"""Rows of a table as anybody gives and reads them: cells of text in tones."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple, Protocol, runtime_checkable


class Cell(NamedTuple):
    """What stands in one cell: any text, and the tone it is said in."""

    text: str
    tone: str = "plain"
    """``plain``, ``quiet``, ``good``, ``warn``, ``bad`` or ``mark``."""


class RowSource(Protocol):
    """Where a table gets its rows from.

    One that has a method ``record`` too (``rosetta_tui.show.records.Records``) says what is copied and exported of
    a row, and answers for what is left out of it; of others it is the words of the cells.
    """

    @property
    def count(self) -> int:
        """How many rows there are now."""
        ...

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


class NoRows:
    """A source without rows."""

    count = 0

    def key(self, index: int) -> Hashable:
        raise IndexError(index)

    def cells(self, index: int) -> Sequence[Cell]:
        raise IndexError(index)

    def prepare(self, first: int, last: int) -> None:
        """Nothing to get ready."""
