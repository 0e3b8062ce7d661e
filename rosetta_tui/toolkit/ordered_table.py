"""Rows that a person sorts and filters: the wish, the table, and the screen that has one."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Self, TypeVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Input
from textual.worker import get_current_worker

from harness.core.failures import HarnessError
from harness.core.query import EVERYTHING, Cancelled, Fields, Query, QueryTerm
from rosetta_tui.show import figures
from rosetta_tui.show.columns import OrderedRows
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import bring
from rosetta_tui.toolkit.dialogs.choose import choose_columns
from rosetta_tui.toolkit.key_line import key_of
from rosetta_tui.toolkit.messages import BackRequested
from rosetta_tui.toolkit.query_line import QueryLine
from rosetta_tui.toolkit.result_table import ResultTable, TableMessage


@dataclass(frozen=True, slots=True)
class RowOrder:
    """A wish for rows; the default is all of them in the order in which they are."""

    sort: str = "position"
    turned: bool = False  # true where the other end comes first
    where: Query = EVERYTHING

    def by(self, sort: str) -> Self:
        """Sort by something; by the same once more, the other way round."""
        return replace(self, sort=sort, turned=sort == self.sort and not self.turned)

    @property
    def by_words(self) -> str:
        """Return what is sorted by and which end comes first; empty where rows are not sorted."""
        if (self.sort, self.turned) == ("position", False):
            return ""
        return f"by {'corpus order' if self.sort == 'position' else self.sort} {'▼' if self.turned else '▲'}"


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
        self.post_message(self.EntriesShown(self))

    @property
    def matches_words(self) -> str:
        """Return how many of the entries are shown, and what they are worth."""
        return f"{figures.count(0 if self.entries is None else self.entries.count)} of {figures.count(self.total)}"

    # The wish for rows, met in a thread

    order = RowOrder()
    _shown_order = RowOrder()  # of the rows that are there
    total = 0  # entries that there are
    _from_top = False  # true from a wish for another sorting until its rows are there
    _trouble = ""  # why rows could not be put in order last; empty where they could

    @property
    def fields(self) -> Fields:
        """The fields that entries can be asked for."""
        raise NotImplementedError

    def read_places(self, order: RowOrder, cancelled: Callable[[], bool]) -> Sequence[int]:
        """Return the places of the entries wished for; called in a thread. Raises Cancelled as soon as nobody waits."""
        raise NotImplementedError

    def show_places(self, places: Sequence[int], *, top: bool) -> None:
        """Show the entries at these places."""
        raise NotImplementedError

    def wish(self, order: RowOrder) -> None:
        """Show rows in another order or selection."""
        if order != self.order:
            self._from_top |= (order.sort, order.turned) != (self.order.sort, self.order.turned)
            self.order, self._trouble = order, ""
            self.read()

    def read(self) -> None:
        """Read again which rows are wished for."""
        self._read(self.order)

    @work(thread=True, exclusive=True, group="order", description="order")
    def _read(self, order: RowOrder) -> None:
        worker = get_current_worker()
        try:
            places = self.read_places(order, lambda: worker.is_cancelled)
        except Cancelled:
            return
        except HarnessError as error:
            self.cannot(str(error))
            return
        self._trouble = ""
        bring(self, self._show, order, places)

    def _show(self, order: RowOrder, places: Sequence[int]) -> None:
        if order == self.order:
            top, self._from_top, self._shown_order = self._from_top, False, order
            self.show_places(places, top=top)

    def cannot(self, why: str) -> None:
        """Show why the rows stay as they are, once: a run that continues is put in order every second."""
        if why != self._trouble and not get_current_worker().is_cancelled:
            self._trouble, self.order = why, self._shown_order
            title = "The entries cannot be read"
            self.notify(plain(why), title=title, severity="error", markup=False)

    @work(thread=True, exclusive=True, group="match", description="match")
    def move_to_match(self, query: Query, by: int) -> None:
        """Move the cursor to the next row (by 1) or the one before (by -1) that fits a query, round the end."""
        worker = get_current_worker()
        try:
            fitting = frozenset(self.read_places(RowOrder(where=query), lambda: worker.is_cancelled))
        except (Cancelled, HarnessError):
            return

        def move() -> None:
            if self.entries is not None:
                count, order = self.entries.count, self.entries.order
                rows = ((self.cursor + by * step) % count for step in range(1, count + 1))
                row = next((row for row in rows if order[row] in fitting), None)
                if row is not None:
                    self.move_to(row)
                    self.post_message(self.Moved(self))

        bring(self, move)


class SearchedScreen(Screen[None]):
    """Has a table, above it an input ``#search``, and its own connection to the store."""

    SEARCH: ClassVar = "#search"
    """The part that is shown while one searches."""

    _store: sqlite3.Connection | None = None

    @property
    def table(self) -> Any:
        """Return what is searched: a ResultTable with an ``order`` of its kind and ``wish``, which changes it."""
        raise NotImplementedError

    @property
    def sorts(self) -> Mapping[str, str]:
        """Return what the table can be sorted by, in words."""
        fields = {name: f"{name:<14} {plain(field.about)}" for name, field in self.table.fields.items()}
        return {"position": "corpus order", **fields}

    def on_unmount(self) -> None:
        if self._store is not None:
            self._store.close()

    def wish(self, order: RowOrder) -> None:
        """Show other rows, or in another order."""
        self.table.wish(order)

    # Sort and filter

    def action_sort(self) -> None:
        choose_columns(self.app, self.table, self.sorts, self.table.order.sort, self.sort_by)

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

    # Search

    def action_search(self) -> None:
        self.query_one(self.SEARCH).display = True
        self.set_focus(self.query_one("#search"))

    def look_for(self, text: str) -> None:
        """Show the rows that are looked for."""
        raise NotImplementedError

    @on(Input.Changed, "#search")
    def _typed(self, event: Input.Changed) -> None:
        self.look_for(event.value)

    @on(Input.Submitted, "#search")
    def _searched(self, event: Input.Submitted) -> None:
        if self.can_read(event.value):
            self.set_focus(self.table)

    def can_read(self, text: str) -> bool:  # noqa: ARG002  any text can be searched
        """Return whether it is clear what is looked for."""
        return True

    def end_search(self) -> bool:
        """Show everything again; gives False where nobody searches."""
        if not self.query_one(self.SEARCH).display:
            return False
        self.query_one(self.SEARCH).display = False
        self.query_one("#search", Input).value = ""
        self.set_focus(self.table)
        return True


MATCHES: list[BindingType] = [
    Binding("slash,f", "search", "Filter", key_display="/", id="search"),
    Binding("n", "match(1)", "Next match of the filter", show=False, id="match.next"),
    Binding("N", "match(-1)", "Match before", show=False, id="match.previous"),
]


class FilteredScreen(SearchedScreen):
    """Has a ``QueryLine`` above its table; its query is the one way in which rows are chosen."""

    SEARCH = "QueryLine"
    _asked = EVERYTHING  # what was filtered by last

    def look_for(self, text: str) -> None:
        where = self.query_one(QueryLine).read(text)
        if where is not None:
            self._asked = where or self._asked
            self.wish(replace(self.table.order, where=where))
            self.show_matches()

    def can_read(self, text: str) -> bool:
        where = self.query_one(QueryLine).read(text, typing=False)
        if where is not None:
            self.wish(replace(self.table.order, where=where))
        return where is not None

    def filter_by(self, query: Query) -> None:
        """Show the rows of a query, and put it into the line, where it can be changed."""
        self.query_one(QueryLine).display = bool(query)
        self.query_one("#search", Input).value = str(query)

    def toggle(self, term: QueryTerm) -> None:
        """Filter by a term instead of others of its field; by the same again no longer."""
        terms = self.table.order.where.terms
        others = tuple(other for other in terms if other.field != term.field)
        self.filter_by(Query(others if term in terms else (*others, term)))
        if term not in terms:
            self.set_focus(self.table)

    @on(OrderedTable.EntriesShown)
    def show_matches(self) -> None:
        """Show how many rows fit, and their scores."""
        line = self.query_one(QueryLine)
        if line.display and self.table.order.where:
            nothing = self.table.entries is not None and not self.table.entries.count
            line.say(
                self.table.matches_words + (f" · {key_of(self, 'back', typing=True)} shows all" if nothing else "")
            )
        else:
            line.say("")

    def action_match(self, by: int) -> None:
        """Move to the next row that fits the filter that is on, or was on last."""
        if self._asked:
            self.table.move_to_match(self._asked, by)

    def action_back(self) -> None:
        usual = replace(type(self.table).order, where=self.table.order.where)
        if self.end_search():
            return
        if self.table.order != usual:
            self.wish(usual)
        else:
            self.post_message(BackRequested())
