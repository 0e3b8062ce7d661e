"""What waits for a person, above the list of runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.binding import Binding, BindingType

from harness.core.failures import HarnessError
from rosetta_tui.home.put_aside import keep_aside, mark_of, read_aside
from rosetta_tui.home.waiting import COLUMNS, Lead, WaitingItem, WaitingRows, waiting_runs
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.result_table import ResultTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.store.runs import RunSummary

MOST_LINES = 4
"""Items that are seen at once; the list scrolls to the others."""


class WaitingList(ResultTable):
    """A few lines, and none at all where nothing waits, or nothing that was not put aside."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "x",
            "put_aside",
            "Put aside",
            tooltip="Hide it until something about it is new",
            id="waiting.aside",
        ),
    ]

    def __init__(self, folder: Path) -> None:
        super().__init__(COLUMNS, id="waiting")
        self._folder = folder
        self._aside: dict[tuple[str, ...], None] | None = None
        """What was put aside, the oldest first; None before it was read."""
        self.display = False
        self._items: Sequence[WaitingItem] = ()
        self._runs: Sequence[RunSummary] = ()
        self._reviews: Sequence[WaitingItem] = ()

    def take_runs(self, runs: Sequence[RunSummary]) -> None:
        """Show what waits of these runs."""
        self._runs = runs
        self._forget_gone((Lead.RESUME, Lead.RETRY), waiting_runs(runs))
        self._show()

    def take_reviews(self, items: Sequence[WaitingItem]) -> None:
        """Show these items of reviews above the runs."""
        self._reviews = items
        self._forget_gone((Lead.REVIEW, Lead.IMPORT), items)
        self._show()

    def item(self, index: int) -> WaitingItem:
        """Return what stands in a row."""
        return self._items[index]

    def _show(self) -> None:
        every = [*self._reviews, *waiting_runs(self._runs)]
        items = [item for item in every if mark_of(item) not in self.aside]
        if items != self._items:
            self._items = items
            self.show_rows(WaitingRows(items))
            self.display = bool(items)
            self.fit()

    @property
    def aside(self) -> dict[tuple[str, ...], None]:
        """What was put aside."""
        if self._aside is None:
            self._aside = dict.fromkeys(read_aside(self._folder))
        return self._aside

    def action_put_aside(self) -> None:
        """Hide the item under the cursor until something about it is new."""
        if self.cursor < len(self._items):
            self.aside[mark_of(self._items[self.cursor])] = None
            self._keep()
            self._show()
            self.notify("Put aside. It comes back when something about it is new.", markup=False)

    def _forget_gone(self, leads: Collection[Lead], items: Iterable[WaitingItem]) -> None:
        """Forget what waits no more, so that it counts as new when it waits again."""
        there = {mark_of(item) for item in items}
        gone = [mark for mark in self.aside if mark[0] in leads and mark not in there]
        for mark in gone:
            del self.aside[mark]
        if gone:
            self._keep()

    def _keep(self) -> None:
        """Write down what is put aside; where that cannot be, it holds until the app is closed."""
        try:
            keep_aside(self._folder, self.aside)
        except HarnessError as error:
            self.notify(plain(str(error)), severity="warning", markup=False)

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
