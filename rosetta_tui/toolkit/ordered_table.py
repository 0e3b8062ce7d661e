"""Rows that a person sorts, narrows and searches: the wish, the table, and the screen that has one."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Self, TypeVar

from textual import on
from textual.screen import Screen
from textual.widgets import Input

from rosetta_tui.show.columns import OrderedRows
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.dialogs.choose import choose
from rosetta_tui.toolkit.messages import BackRequested
from rosetta_tui.toolkit.result_table import ResultTable, TableMessage

SORT_TITLE = "Sort by (the same again turns it round)"


@dataclass(frozen=True, slots=True)
class RowOrder:
    """A wish for rows; the default is all of them in the order in which they are."""

    sort: str = "position"
    turned: bool = False  # true where the other end comes first
    search: str = ""

    def by(self, sort: str) -> Self:
        """Sort by something; by the same once more, the other way round."""
        return replace(self, sort=sort, turned=sort == self.sort and not self.turned)

    @property
    def everything(self) -> Self:
        """The same sorting without any narrowing."""
        return type(self)(self.sort, self.turned)

    def said(self, only: Sequence[str], by: str) -> str:
        """Return what is shown, in which order: ``only`` are the filters in words, ``by`` is the sorting."""
        parts = [f"only: {', '.join(only)}"] if only else []
        parts += [f"with “{plain(self.search)}”"] if self.search else []
        return " · ".join([*parts, by] if by else parts)

    def by_words(self, words: Mapping[str, str]) -> str:
        """Return what is sorted by and which end comes first; empty where rows are not sorted."""
        if (self.sort, self.turned) == ("position", False):
            return ""
        return f"by {words[self.sort]} {'▼' if self.turned else '▲'}"


Entries = TypeVar("Entries", bound=OrderedRows)


class OrderedTable(ResultTable, Generic[Entries]):
    """A ResultTable over entries in the order and selection that a person chose."""

    entries: Entries | None = None

    class EntriesShown(TableMessage):
        """Other entries are shown, or the same in another order."""

    @property
    def place(self) -> int | None:
        """Place of the entry under the cursor, in the corpus or among those compared."""
        if self.entries is None or not self.entries.count:
            return None
        return self.entries.order[min(self.cursor, self.entries.count - 1)]

    def move_to_place(self, place: int) -> None:
        """Move the cursor to an entry, where it is among the rows."""
        index = None if self.entries is None else self.entries.find(place)
        if index is not None:
            self.move_to(index)

    def show_entries(self, entries: Entries, *, top: bool) -> None:
        """Show other rows, the cursor on the entry that it was on; with ``top`` on the first row."""
        here = self.place
        self.entries = entries
        self.show_rows(entries, 0 if top else None if here is None else entries.find(here))


_COMPARISON = re.compile(r"[^\s<>=≤≥!]*\s?(?:[<>≤≥]=?|[!=]?=)\s*-?\.?\d[\d.]*")


def comparison_in(text: str) -> str:
    """Return the comparison with a number that a search holds, such as ``chrf<30``; empty without one."""
    found = _COMPARISON.search(text)
    return found[0] if found else ""


class SearchedScreen(Screen[None]):
    """Has a table, above it an input ``#search``, and its own connection to the store."""

    _store: sqlite3.Connection | None = None

    @property
    def table(self) -> Any:
        """Return what is searched: a ResultTable with an ``order`` of its kind and ``wish``, which changes it."""
        raise NotImplementedError

    @property
    def sorts(self) -> Mapping[str, str]:
        """Return what the table can be sorted by, in words."""
        return {}

    def on_unmount(self) -> None:
        if self._store is not None:
            self._store.close()

    def wish(self, order: RowOrder) -> None:
        """Show other rows, or in another order."""
        self.table.wish(order)

    # Sort and filter

    def action_sort(self) -> None:
        choose(self.app, SORT_TITLE, self.sorts, self.table.order.sort, self.sort_by)

    def sort_by(self, sort: str) -> None:
        """Sort by something that there is to sort by."""
        if sort in self.sorts:
            self.wish(self.table.order.by(sort))

    @on(ResultTable.TitleChosen)
    def _title_chosen(self, event: ResultTable.TitleChosen) -> None:
        if event.table is self.table:
            self.sort_by(self.sort_of(event.key))

    def sort_of(self, column: str) -> str:
        """Return what a click on the title of a column sorts by."""
        return column

    def ask_filter(self, choices: Sequence[tuple[RowOrder, str]]) -> None:
        """Prompt for which rows to show: wishes with their words."""
        now = (str(i) for i, (wish, _) in enumerate(choices) if wish == self.table.order)
        words = {str(i): choice for i, (_, choice) in enumerate(choices)}
        title = "Show (filters of different kinds add up)"
        choose(self.app, title, words, next(now, "0"), lambda key: self.wish(choices[int(key)][0]))

    # Search

    def action_search(self) -> None:
        field = self.query_one("#search", Input)
        field.display = True
        self.set_focus(field)

    def look_for(self, text: str) -> None:
        """Show the rows that have this text."""
        self.wish(replace(self.table.order, search=text))

    @on(Input.Changed, "#search")
    def _typed(self, event: Input.Changed) -> None:
        self.look_for(event.value)

    @on(Input.Submitted, "#search")
    def _searched(self, event: Input.Submitted) -> None:
        self.set_focus(self.table)
        if compared := comparison_in(event.value):
            words = f"{compared} is searched as text: numbers cannot be compared here yet. s sorts by a score."
            self.notify(plain(words), markup=False)

    def end_search(self) -> bool:
        """Show everything again; gives False where nobody searches."""
        field = self.query_one("#search", Input)
        if not field.display:
            return False
        field.display = False
        field.value = ""
        self.set_focus(self.table)
        return True

    def action_back(self) -> None:
        if self.end_search():
            return
        if self.table.order != self.table.order.everything:
            self.wish(self.table.order.everything)
        else:
            self.post_message(BackRequested())
