"""A screen whose table is searched by a line that is there only while somebody searches."""

from __future__ import annotations

import sqlite3
from typing import Any

from textual import on
from textual.screen import Screen
from textual.widgets import Input

from rosetta_tui.toolkit.messages import Left


class SearchedScreen(Screen[None]):
    """Has a table, above it an input ``#search``, and a connection to the store of its own."""

    _store: sqlite3.Connection | None = None

    @property
    def table(self) -> Any:
        """What is searched: a ResultTable with an ``order`` of its own kind and ``wish``, which changes it."""
        raise NotImplementedError

    def on_unmount(self) -> None:
        """Let the store go."""
        if self._store is not None:
            self._store.close()

    def action_search(self) -> None:
        """Ask for text to look for."""
        field = self.query_one("#search", Input)
        field.display = True
        self.set_focus(field)

    @on(Input.Submitted, "#search")
    def _searched(self) -> None:
        self.set_focus(self.table)

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
        """End the search, then the filter, then leave."""
        if self.end_search():
            return
        if self.table.order != self.table.order.everything:
            self.table.wish(self.table.order.everything)
        else:
            self.post_message(Left())
