"""A short table that is read and not chosen from; columns give way where the window is narrow."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from rosetta_tui.show.cells import Cell
from rosetta_tui.show.columns import GAP, Column, fit
from rosetta_tui.toolkit.result_table import crop

_TONES = {"plain": "", "header": "bold $quiet"}


class PlainTable(Widget):
    """As high as its rows; the page around it scrolls."""

    def __init__(self, columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> None:
        super().__init__(classes="table")
        self._columns = columns
        self._rows = rows

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002  Textual's form
        """Return a line for each row and one for the titles."""
        return len(self._rows) + 1

    def render(self) -> Content:
        """Draw the titles and the rows."""
        titles = [Cell(column.title, "header") for column in self._columns]
        return Content("\n").join([self._line(row) for row in (titles, *self._rows)])

    def _line(self, row: Sequence[Cell]) -> Content:
        gap = Content(" " * GAP)
        cells = []
        for placed in fit(self._columns, self.content_size.width):
            cell, column = row[placed.index], self._columns[placed.index]
            text = crop(cell.text, placed.width, right=column.right)
            cells.append(Content.styled(text, _TONES.get(cell.tone, f"${cell.tone}")))
        return gap.join(cells)
