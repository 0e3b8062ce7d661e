"""A table of any number of rows that draws only the lines that are seen.

Textual's own table measures and styles every cell it holds; with a hundred thousand rows that freezes the
screen. Here rows are asked for when they come into view, and a drawn line is kept until its key changes.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events, work
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from rosetta_tui.show.clipboard import MOST_BYTES
from rosetta_tui.show.columns import (
    GAP,
    Cell,
    CellRecords,
    Column,
    MeasuredRows,
    NoRows,
    PlacedColumn,
    Records,
    RowSource,
    ShownRecords,
    fit,
    read_all,
)
from rosetta_tui.show.exporting import row_text
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.messages import ColumnsChosen, Copied, ExportAsked

TOO_MUCH = (
    f"The table is more than a terminal's clipboard takes ({MOST_BYTES:,} bytes). Export writes all of it to a file."
)


def crop(text: str, width: int, *, right: bool = False) -> str:
    """Return text that takes exactly ``width`` cells, harmless, with … where it was cut."""
    head = text[: width * 8 + 16]
    shown = plain(head)
    wide = cell_len(shown)
    if wide > width or len(head) < len(text):
        return set_cell_size(shown, max(0, width - 1)) + "…" if width else ""
    return " " * (width - wide) + shown if right else shown + " " * (width - wide)


@dataclass
class TableMessage(Message):
    """What a person did in a table."""

    table: ResultTable

    @property
    def control(self) -> ResultTable:
        """The table, so that a screen with several can tell them apart."""
        return self.table


KINDS = ("runs", "compared", "corpus")
"""Kinds of tables whose columns a person chooses, beside the entries of runs, whose columns have no prefix."""


def kind_of_column(word: str) -> str:
    """Return which kind of table a word of the settings is about, such as -runs.cost."""
    kind = word[1:].partition(".")[0]
    return kind if kind in KINDS else ""


class ResultTable(ScrollView, can_focus=True):
    """Rows under a header, a cursor, and nothing drawn that is not seen."""

    KIND: ClassVar[str | None] = None
    """By which a choice of its columns is remembered; None where its columns are not chosen."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "result-table--header", "result-table--cursor", "result-table--plain",
        "result-table--quiet", "result-table--good", "result-table--warn", "result-table--bad",
        "result-table--mark",
    }  # fmt: skip

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "Open", id="open"),
        Binding("up,k", "move(-1)", "Up", show=False, id="table.up"),
        Binding("down,j", "move(1)", "Down", show=False, id="table.down"),
        Binding("pageup", "page(-1)", "Page up", show=False, id="table.page_up"),
        Binding("pagedown", "page(1)", "Page down", show=False, id="table.page_down"),
        Binding("home,g", "first", "First row", show=False, id="table.first"),
        Binding("end,G", "last", "Last row", show=False, id="table.last"),
        Binding("y", "copy", "Copy the row", show=False, id="copy"),
        Binding("Y", "copy_all", "Copy the whole table", show=False, id="copy_all"),
        Binding("e", "export", "Export what is shown", show=False, id="export"),
    ]

    cursor: reactive[int] = reactive(0, repaint=False)

    @dataclass
    class Chosen(TableMessage):
        index: int

    class Moved(TableMessage):
        """A person moved the cursor."""

    @dataclass
    class TitleChosen(TableMessage):
        key: str

    def __init__(
        self,
        columns: Sequence[Column],
        rows: RowSource | None = None,
        *,
        id: str | None = None,  # noqa: A002  Textual's own name
    ) -> None:
        super().__init__(id=id)
        self.columns = tuple(columns)
        self.rows: RowSource = NoRows() if rows is None else rows
        self.hidden: Collection[str] = ()  # keys of columns that a person does not want
        self._needs: Sequence[int] | None = None
        self._placed: list[PlacedColumn] = []
        self._width = 0
        self._strips: LRUCache[Hashable, Strip] = LRUCache(512)
        self._painted: dict[int, Hashable] = {}

    # What a screen calls

    def show_rows(self, rows: RowSource, cursor: int | None = None) -> None:
        """Show other rows, or the same in another order, with the cursor on the row ``cursor``."""
        if bool(rows.count) != bool(self.rows.count):
            self.refresh_bindings()  # whether a row can be opened
        self.rows = rows
        self._strips.clear()
        if isinstance(rows, MeasuredRows) and (needs := rows.needs()) != self._needs:
            self._needs = needs
            self.restyle()
        self._measure()
        if cursor is not None:
            self.move_to(cursor)
        self.cursor = self.validate_cursor(self.cursor)
        self.refresh()

    def show_columns(self, columns: Sequence[Column]) -> None:
        """Show other columns or titles."""
        if len(columns) != len(self.columns):
            self._needs = None  # of the rows that come
        self.columns = tuple(columns)
        self.restyle()

    @property
    def shown_columns(self) -> dict[str, bool]:
        """Return by key which columns can be chosen, and whether each is shown; the first always is."""
        titled = [column.key for column in self.columns if column.title]
        return {key: key not in self.hidden for key in titled[1:]}

    def choose_columns(self, shown: Collection[str]) -> None:
        """Show these columns, from now on."""
        if self.KIND is not None:
            prefix = f"{self.KIND}." if self.KIND else ""
            keys = [(key, "+" if key in shown else "-") for key in self.shown_columns]
            words = " ".join(f"{sign}{prefix}{key.replace(' ', '_').lower()}" for key, sign in keys)
            self.post_message(ColumnsChosen(self.KIND, words))
            self.use_columns(words)

    def use_columns(self, words: str) -> None:
        """Hide the columns that the settings name."""
        own = {
            word[1:].rpartition(".")[2]
            for word in words.split()
            if word[0] == "-" and kind_of_column(word) == self.KIND
        }
        self.hidden = {column.key for column in self.columns if column.key.replace(" ", "_").lower() in own}
        self.restyle()

    def restyle(self) -> None:
        """Draw every line again, after a change of width or colours."""
        self._width = self.scrollable_content_region.width
        self._placed = fit(self.columns, self._width, self._needs, self.hidden)
        self._strips.clear()
        self.refresh()

    def refresh_changed(self) -> None:
        """Draw the lines again whose rows have changed since they were drawn."""
        if self.virtual_size.height != self.rows.count + 1:
            self._measure()
        top = self.scroll_offset.y
        for line, key in list(self._painted.items()):
            if key != self._key(top + line - 1):
                self.refresh(Region(0, line, self.size.width, 1))

    def move_to(self, index: int) -> None:
        """Move the cursor to a row and scroll it into view."""
        self.cursor = index
        visible = self.size.height - 1
        if visible <= 0:
            return
        top = self.scroll_offset.y
        if self.cursor < top:
            self.scroll_to(y=self.cursor, animate=False)
        elif self.cursor >= top + visible:
            self.scroll_to(y=self.cursor - visible + 1, animate=False)

    # Drawing

    def _measure(self) -> None:
        self.virtual_size = Size(self.size.width, self.rows.count + 1)

    def _key(self, index: int) -> Hashable:
        if not 0 <= index < self.rows.count:
            return None
        return (self.rows.key(index), index == self.cursor)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw the lines asked for, with their rows made ready in one go."""
        if self._width != self.scrollable_content_region.width:
            self.restyle()  # a scrollbar came or went
        top = self.scroll_offset.y
        self.rows.prepare(top, min(self.rows.count, top + self.size.height - 1))
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        if y == 0:
            return self._line([Cell(column.title, "header") for column in self.columns], self._style("header"))
        index = self.scroll_offset.y + y - 1
        key = self._key(index)
        self._painted[y] = key
        if key is None:
            return Strip.blank(self._width, self._style("plain"))
        strip = self._strips.get(key)
        if strip is None:
            style = self._style("cursor") if index == self.cursor else None
            strip = self._strips[key] = self._line(self.rows.cells(index), style)
        return strip

    def _line(self, cells: Sequence[Cell], whole: Style | None) -> Strip:
        gap = self._style("plain") if whole is None else whole
        segments: list[Segment] = []
        for placed in self._placed:
            if segments:
                segments.append(Segment(" " * GAP, gap))
            cell, column = cells[placed.index], self.columns[placed.index]
            text = crop(cell.text, placed.width, right=column.right)
            segments.append(Segment(text, self._style(cell.tone) if whole is None else whole))
        return Strip(segments).adjust_cell_length(self._width, gap)

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(f"result-table--{name}")

    # What happens to it

    def on_mount(self) -> None:
        if self.KIND is not None:
            self.use_columns(getattr(self.app, "table_columns", ""))

    def on_resize(self) -> None:
        self._painted.clear()
        self.restyle()
        self._measure()
        self.move_to(self.cursor)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        if self.is_mounted:
            self.restyle()

    def validate_cursor(self, cursor: int) -> int:
        return max(0, min(cursor, self.rows.count - 1))

    def watch_cursor(self) -> None:
        self.refresh_changed()

    def _move(self, index: int) -> None:
        self.move_to(index)
        self.post_message(self.Moved(self))

    def action_move(self, rows: int) -> None:
        self._move(self.cursor + rows)

    def action_page(self, pages: int) -> None:
        self._move(self.cursor + pages * max(1, self.size.height - 2))

    def action_first(self) -> None:
        self._move(0)

    def action_last(self) -> None:
        self._move(self.rows.count - 1)

    def action_choose(self) -> None:
        if self.rows.count:
            self.post_message(self.Chosen(self, self.cursor))

    # What is taken along

    @property
    def export_name(self) -> str:
        """Beginning of the name of a file that this table is exported to."""
        return self.id or "table"

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "choose" and not self.rows.count:
            return False
        if action in {"copy", "export"} and hasattr(self.screen, f"action_{action}"):
            return False
        return super().check_action(action, parameters)

    @property
    def records(self) -> Records:
        if isinstance(self.rows, Records):
            return self.rows
        return CellRecords(self.rows, [column.key for column in self.columns])

    def _copied(self, text: str, what: str) -> None:
        self.post_message(Copied(text, what, cleared=isinstance(self.rows, Records)))

    def action_copy(self) -> None:
        text = row_text(self.records.record(self.cursor)) if self.rows.count else ""
        self._copied(text, "Row")

    @work(exclusive=True, group="copy")
    async def action_copy_all(self) -> None:
        """Copy every row, with the names of the columns; no more is read than a clipboard takes."""
        lines: list[str] = []
        size = 0
        async for records in read_all(self.records):
            if not lines:
                lines.append(row_text({name: name for name in records[0]}))
            lines += map(row_text, records)
            size += sum(len(line.encode("utf-8", "replace")) + 1 for line in lines[-len(records) :])
            if size > MOST_BYTES:
                self.notify(TOO_MUCH, severity="warning", markup=False)
                return
        self._copied("\n".join(lines), "Table")

    def action_export(self) -> None:
        cleared = isinstance(self.rows, Records)
        page = ShownRecords(self.rows, self.columns, [placed.index for placed in self._placed])
        self.post_message(ExportAsked(self.records, self.export_name, cleared, page))

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the row clicked; a second click opens it, a title sorts."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        if offset.y == 0:
            if title := self.column_at(offset.x):
                self.post_message(self.TitleChosen(self, title))
            return
        index = self.scroll_offset.y + offset.y - 1
        if index >= self.rows.count:
            return
        self._move(index)
        if event.chain >= 2:
            self.action_choose()

    def column_at(self, x: int) -> str:
        """Return the key of the column at a cell of a line, empty where there is none."""
        start = 0
        for placed in self._placed:
            if start <= x < start + placed.width:
                return self.columns[placed.index].key
            start += placed.width + GAP
        return ""
