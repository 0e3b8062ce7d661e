"""The map itself: a cell is a bar, a number and signs, so that it is read without colours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from rosetta_tui.show.text import plain
from rosetta_tui.sweep.grid import BARS, HeatCell, HeatGrid, cell_words
from rosetta_tui.toolkit.result_table import crop

MOST_TITLE = 16  # cells that the title of a column takes at most
GAP = 2  # cells between two columns

_TONES = ("$bad", "$bad", "$warn", "$warn", "", "", "$good", "$good")
"""Of the eighths from the worst to the best; the bar says the same."""


@dataclass(frozen=True, slots=True)
class HeatLayout:
    """How many rows and columns of a map are seen, and how wide they are."""

    names: int  # cells for the titles of the rows
    number: int  # cells for the number, or the words in its place
    width: int  # cells of a column, without the gap
    columns: int
    rows: int

    @classmethod
    def of(cls, grid: HeatGrid, width: int, height: int) -> HeatLayout:
        """Share out the room; at least one row and one column."""
        names = min(max(cell_len(plain(label)) for label in (grid.down, *grid.rows)), width // 3)
        number = max(len(cell_words(grid, cell)) for cell in grid.cells.values())
        signs = max(len(cell.signs) for cell in grid.cells.values())
        title = max(min(cell_len(plain(column)), MOST_TITLE) for column in grid.columns)
        column = min(
            max(2 + number + (signs + 1 if signs else 0), title), max(1, width - names - GAP)
        )
        fitting = (width - names) // (column + GAP)
        return cls(names, number, column, max(1, fitting), max(1, height - 2))


class HeatView(Widget, can_focus=True):
    """Draws as many rows and columns as there is room for, around the one under the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "Open", id="open"),
        Binding("up,k", "move(-1, 0)", "Up", show=False, id="table.up"),
        Binding("down,j", "move(1, 0)", "Down", show=False, id="table.down"),
        Binding("left,h", "move(0, -1)", "Left", show=False, id="sweep.left"),
        Binding("right,l", "move(0, 1)", "Right", show=False, id="sweep.right"),
        Binding("home,g", "move(-1000000, -1000000)", "First cell", show=False, id="table.first"),
        Binding("end,G", "move(1000000, 1000000)", "Last cell", show=False, id="table.last"),
    ]

    class CellMoved(Message):
        """Another cell has the cursor."""

    @dataclass
    class CellChosen(Message):
        """A cell was opened."""

        cell: HeatCell

    def __init__(self) -> None:
        super().__init__(id="map")
        self.grid: HeatGrid | None = None
        self.row = self.column = 0  # of the cursor
        self._top = self._first = 0  # row and column that are seen first

    @property
    def cell(self) -> HeatCell | None:
        """The cell under the cursor; None where the plan excludes it."""
        return None if self.grid is None else self.grid.cells.get((self.row, self.column))

    def show_grid(self, grid: HeatGrid) -> None:
        """Draw another map; the cursor keeps its place where the axes are the same."""
        old, self.grid = self.grid, grid
        if old is None or (old.down, old.across) != (grid.down, grid.across):
            self.row, self.column = next(iter(grid.cells), (0, 0))
        self._stay()
        self.refresh()

    def _stay(self) -> None:
        if self.grid is not None:
            self.row = max(0, min(self.row, len(self.grid.rows) - 1))
            self.column = max(0, min(self.column, len(self.grid.columns) - 1))

    def render(self) -> Content:
        grid, (width, height) = self.grid, self.size
        if grid is None or not grid.cells or width < 20 or height < 3:
            return Content("")
        seen = HeatLayout.of(grid, width, height)
        self._top = _in_view(self.row, self._top, seen.rows, len(grid.rows))
        self._first = _in_view(self.column, self._first, seen.columns, len(grid.columns))
        columns = range(self._first, min(self._first + seen.columns, len(grid.columns)))
        rows = range(self._top, min(self._top + seen.rows, len(grid.rows)))
        # Name both axes, and say which part of them is seen.
        down = f"{grid.down} ↓{_part(rows, len(grid.rows))}" if grid.down else ""
        across = f"{grid.across} →{_part(columns, len(grid.columns))}" if grid.across else ""
        words = "   ".join(filter(None, (down, across)))
        axis = Content.styled(crop(words, self.size.width), "$quiet")
        parts = [" " * seen.names]
        parts += [" " * GAP + crop(grid.columns[column], seen.width) for column in columns]
        titles = Content.styled("".join(parts), "bold")
        lines = [axis, titles]
        lines += [self._line(grid, seen, row, columns) for row in rows]
        return Content("\n").join(lines)

    def _line(self, grid: HeatGrid, seen: HeatLayout, row: int, columns: range) -> Content:
        here = row == self.row
        parts = [Content.styled(crop(grid.rows[row], seen.names), "bold" if here else "")]
        for column in columns:
            cursor = here and column == self.column
            parts += [Content("▸".rjust(GAP) if cursor else " " * GAP)]
            parts += [self._cell(grid, seen, grid.cells.get((row, column)), cursor=cursor)]
        return Content("").join(parts)

    def _cell(
        self, grid: HeatGrid, seen: HeatLayout, cell: HeatCell | None, *, cursor: bool
    ) -> Content:
        if cell is None:
            style = "reverse" if cursor else "$quiet"
            return Content.styled(crop("·", seen.width), style)
        level = grid.level(cell)
        tone = "$quiet" if level is None else _TONES[level]
        words = crop(f" {cell_words(grid, cell):>{seen.number}} {cell.signs}", seen.width - 1)
        return Content.assemble(
            (" " if level is None else BARS[level], tone),
            Content.styled(words, f"bold reverse {tone}".strip() if cursor else tone),
        )

    # What happens to it

    def action_move(self, down: int, across: int) -> None:
        self.row += down
        self.column += across
        self._stay()
        self.refresh()
        self.post_message(self.CellMoved())

    def action_choose(self) -> None:
        if self.cell is not None:
            self.post_message(self.CellChosen(self.cell))

    def on_click(self, event: events.Click) -> None:
        """Move to the cell clicked; a second click opens it."""
        offset = event.get_content_offset(self)
        if self.grid is None or offset is None or offset.y < 2:
            return
        seen = HeatLayout.of(self.grid, *self.size)
        row = self._top + offset.y - 2
        column = self._first + max(0, offset.x - seen.names) // (seen.width + GAP)
        if row < len(self.grid.rows) and column < len(self.grid.columns):
            self.action_move(row - self.row, column - self.column)
            if event.chain >= 2:
                self.action_choose()

    def on_mouse_scroll_down(self) -> None:
        self.action_move(1, 0)

    def on_mouse_scroll_up(self) -> None:
        self.action_move(-1, 0)


def _in_view(here: int, first: int, room: int, count: int) -> int:
    """Return the first of ``count`` that is seen, so that ``here`` is among the ``room`` that are."""
    return max(0, min(max(first, here - room + 1), here, count - room))


def _part(seen: range, count: int) -> str:
    return "" if len(seen) == count else f" {seen.start + 1}–{seen.stop} of {count}"
