"""The entries of several runs in the order and selection that a person chose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from textual import work
from textual.message import Message
from textual.worker import get_current_worker

from harness.core.failures import HarnessError
from rosetta_tui.compare.order import ComparedOrder, ComparisonView, ordered_places
from rosetta_tui.compare.rows import ComparedRows, entry_columns
from rosetta_tui.compare.texts import ComparedTexts
from rosetta_tui.toolkit.background import bring
from rosetta_tui.toolkit.result_table import ResultTable

if TYPE_CHECKING:
    from harness.compare.comparison import Comparison

Tags = Mapping[str, Sequence[str | None]]
"""Dimension → tag of each compared entry (``comparing_breakdowns.part_tags``)."""


class ComparedTable(ResultTable):
    """A ResultTable over compared entries; texts are looked through in a thread."""

    @dataclass
    class Shown(Message):
        """Other entries are shown, or the same in another order."""

        table: ComparedTable

    def __init__(self, path: Path) -> None:
        super().__init__((), id="entries")
        self._path = path
        self.order = ComparedOrder()
        self.entries: ComparedRows | None = None
        self.view: ComparisonView | None = None
        self.texts: ComparedTexts | None = None
        self.tags: Tags = {}
        self._comparison: Comparison | None = None
        self._found: frozenset[int] | None = None
        """Places of the entries that the search found; None where nothing is looked for."""

    def take(self, comparison: Comparison, texts: ComparedTexts, tags: Tags) -> None:
        """Show the entries of this comparison from now on, as soon as it is told by what (``look_by``)."""
        anew = self._comparison is None or self._comparison.entries.ids != comparison.entries.ids
        self._comparison, self.texts, self.tags = comparison, texts, tags
        if anew and self.order.search:
            self._found = frozenset()
            self._look_for(comparison, self.order.search)

    def look_by(self, view: ComparisonView, *, top: bool = False) -> None:
        """Show the values of a metric, and the texts of a pair; with ``top`` from the first row."""
        self.view = view
        self._fill(top=top)

    def wish(self, order: ComparedOrder) -> None:
        """Show entries in another order or selection."""
        searched = order.search != self.order.search
        self.order = order
        if self._comparison is not None and searched and order.search:
            self._look_for(self._comparison, order.search)
            return
        if searched:
            self.workers.cancel_group(self, "search")
            self._found = None
        self._fill(top=True)

    @property
    def place(self) -> int | None:
        """Place among the compared entries of the one under the cursor."""
        if self.entries is None or not self.entries.count:
            return None
        return self.entries.places[min(self.cursor, self.entries.count - 1)]

    def move_to_place(self, place: int) -> None:
        """Put the cursor on an entry, where it is among the rows."""
        index = None if self.entries is None else self.entries.find(place)
        if index is not None:
            self.move_to(index)

    @work(thread=True, exclusive=True, group="search", description="search")
    def _look_for(self, comparison: Comparison, search: str) -> None:
        from rosetta_tui.compare.search import places_with

        worker = get_current_worker()
        try:
            places = places_with(self._path, comparison, search, lambda: worker.is_cancelled)
        except HarnessError:
            places = frozenset()  # the screen itself says what is wrong with the store
        if not worker.is_cancelled:
            bring(self, self._show_found, comparison, search, places)

    def _show_found(self, comparison: Comparison, search: str, places: frozenset[int]) -> None:
        if search == self.order.search and comparison is self._comparison:
            self._found = places
            self._fill(top=True)

    def _fill(self, *, top: bool) -> None:
        comparison, view, texts = self._comparison, self.view, self.texts
        if comparison is None or view is None or texts is None:
            return
        here = self.place
        places = ordered_places(comparison, view, self.order, self.tags, self._found)
        self.entries = ComparedRows(comparison, view, places, texts)
        self.show_columns(entry_columns(comparison, view))
        found = None if here is None else self.entries.find(here)
        self.show_rows(self.entries, 0 if top else found)
        self.post_message(self.Shown(self))
