"""A screen of a list that is read from files: its rows, the words about the one under the cursor, what to do where there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.content import Content

from rosetta_tui.show.columns import Cell, Column
from rosetta_tui.toolkit.content import DetailLine, EmptyState, StatusBar, show
from rosetta_tui.toolkit.key_line import KeyLine
from rosetta_tui.toolkit.reading_screen import Found, ReadingScreen
from rosetta_tui.toolkit.result_table import ResultTable
from rosetta_tui.toolkit.section_page import PageRows

Key = TypeVar("Key")


@dataclass(frozen=True)
class ListRow(Generic[Key]):
    """One thing of a list."""

    key: Key
    """By what it is known: where it lies, or its number. The cursor stays on it."""
    cells: tuple[Cell, ...]
    """A cell for each column."""
    about: Content
    """What is said below the table when the cursor is on it."""


class ListScreen(ReadingScreen[Found], Generic[Found, Key]):
    """Shows what its maker reads, a row each, and opens the one that is chosen."""

    list_name: ClassVar[str]
    """Id of the table, with which the name of a file begins that it is exported to."""
    columns: ClassVar[Sequence[Column]]
    none_yet: ClassVar[str]
    """What is said instead of the list where it is empty."""

    def __init__(self, store_path: Path) -> None:
        super().__init__()
        self.store_path = store_path
        self.home = store_path.parent
        """The data folder."""
        self.rows: Sequence[ListRow[Key]] = ()

    def compose(self) -> ComposeResult:
        yield StatusBar()
        yield EmptyState("Reading …")
        yield ResultTable(self.columns, id=self.list_name)
        yield DetailLine(id="chosen")
        yield KeyLine()

    def on_mount(self) -> None:
        """Show the frame."""
        self._show_parts()

    @property
    def table(self) -> ResultTable:
        """The list."""
        return self.query_one(ResultTable)

    @property
    def chosen(self) -> ListRow[Key] | None:
        """The row under the cursor; None where the list is empty."""
        return self.rows[self.table.cursor] if self.rows else None

    def open_row(self, key: Key) -> None:
        """Open the thing that is known by this key."""
        raise NotImplementedError

    def show_list(
        self, rows: Sequence[ListRow[Key]], count: str, what_to_do: Content, wrong: str = ""
    ) -> None:
        """Show these rows, and ``what_to_do`` where there is none; behind the title how many they are, and what is ``wrong``."""
        here = self.chosen
        self.rows = rows
        keys = [row.key for row in rows]
        place = keys.index(here.key) if here is not None and here.key in keys else None
        self.table.show_rows(PageRows(self.columns, [row.cells for row in rows]), place)
        self.query_one(EmptyState).say(self.none_yet, what_to_do)
        self._show_parts()
        content = Content.assemble(show(count if rows else "", "$quiet"), (wrong, "$bad"))
        self.query_one(StatusBar).say(content)
        if rows:
            self.table.focus()
        self._moved()

    def _show_parts(self) -> None:
        """Show the list, or the words in its place."""
        self.query_one(EmptyState).display = not self.rows
        self.table.display = self.query_one("#chosen").display = bool(self.rows)
        self.refresh_bindings()

    @on(ResultTable.Moved)
    def _moved(self) -> None:
        if self.chosen is not None:
            self.query_one("#chosen", DetailLine).tell(self.chosen.about)

    @on(ResultTable.Chosen)
    def _choose(self) -> None:
        if self.chosen is not None:
            self.open_row(self.chosen.key)
