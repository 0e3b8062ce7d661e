"""What waits for a person, above the list of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events

from rosetta_tui.waiting import COLUMNS, Item, WaitingRows, waiting_runs
from rosetta_tui.widgets.result_table import ResultTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.store.runs import RunSummary

MOST_LINES = 4
"""Items that are seen at once; the list scrolls to the others."""


class WaitingList(ResultTable):
    """A few lines, and none at all where nothing waits."""

    def __init__(self) -> None:
        super().__init__(COLUMNS, id="waiting")
        self.display = False
        self._items: Sequence[Item] = ()
        self._runs: Sequence[RunSummary] = ()
        self._reviews: Sequence[Item] = ()

    def take_runs(self, runs: Sequence[RunSummary]) -> None:
        """Show what waits of these runs."""
        self._runs = runs
        self._show()

    def take_reviews(self, items: Sequence[Item]) -> None:
        """Show these items of reviews above the runs."""
        self._reviews = items
        self._show()

    def item(self, index: int) -> Item:
        """Give what stands in a row."""
        return self._items[index]

    def _show(self) -> None:
        items = [*self._reviews, *waiting_runs(self._runs)]
        if items != self._items:
            self._items = items
            self.show_rows(WaitingRows(items))
            self.display = bool(items)
            self.fit()

    def on_click(self, event: events.Click) -> None:
        """Do at the first click what the end of a line offers; elsewhere a click moves the cursor."""
        offset = event.get_content_offset(self)
        if offset is None or offset.y == 0 or event.chain > 1:
            return
        index = self.scroll_offset.y + offset.y - 1
        if index < self.rows.count and self.column_at(offset.x) == "offer":
            event.prevent_default()
            self.move_to(index)
            self.action_choose()

    def fit(self) -> None:
        """Take a line for each item, and never much of a small terminal."""
        most = max(1, min(MOST_LINES, self.screen.size.height // 8))
        self.styles.height = 1 + min(len(self._items), most)
