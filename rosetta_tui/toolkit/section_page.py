"""The form of a section of a screen: a few sentences, rows, and for each row all that has no room in it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from rosetta_tui.show.columns import Cell, Column, Rows, widest

Line = tuple[str, str]
"""A sentence, and the tone it is said in."""

Commands = Mapping[str, Sequence[str]]
"""What is to be done → the command that does it, word by word; who copies one fills in the words in capital letters."""


class PageRows(Rows[Sequence[Cell]]):
    """The rows of a page, which are few and quiet; columns become as wide as what is in them."""

    def __init__(self, columns: Sequence[Column], items: Sequence[Sequence[Cell]]) -> None:
        super().__init__(items)
        self._columns = columns

    def needs(self) -> Sequence[int]:
        """Return the cells that the widest text of each column takes."""
        texts = zip(*([cell.text for cell in row] for row in self.items), strict=True)
        keys = [column.key for column in self._columns]
        return widest(self._columns, dict(zip(keys, texts, strict=False)))

    def key(self, index: int) -> Hashable:
        """Return what the row's look depends on: its cells."""
        return self.items[index]

    def cells(self, index: int) -> Sequence[Cell]:
        """Return the cells of one row."""
        return self.items[index]


@dataclass(frozen=True)
class SectionPage:
    """What one section shows."""

    said: Sequence[Line]
    columns: Sequence[Column]
    rows: Sequence[tuple[Cell, ...]]
    about: Sequence[Sequence[Line]]
    """For each row: what stands below the table when the cursor is on it."""
    commands: Sequence[Commands]
    """For each row, or one for a page without rows: what can be done, by which command."""
    empty: str = ""
    """What is said instead of rows where there are none."""
    waiting: int = 0
    """How many things of it ask for a person."""
    answerable: Sequence[str] = ()
    """For each row of requests: its number where it can be answered, else nothing."""
    first: int = 0
    """The row at which a person begins, and stays as long as they have not left it."""


def moment(stated: str) -> str:
    """Return a time of the log as people read it, to the minute; UTC."""
    return stated[:16].replace("T", " ")
