"""A table as it stands on the screen, for a page that people read: its columns, titles, and rounded numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rosetta_tui.show.columns import Column
from rosetta_tui.show.records import LEFT_OUT, CellRecords, Record, Records

if TYPE_CHECKING:
    from rosetta_tui.show.cells import RowSource

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
