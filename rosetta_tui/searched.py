"""A screen whose table is searched by a line that is there only while somebody searches."""

from __future__ import annotations

from textual import on
from textual.screen import Screen
from textual.widgets import Input

from rosetta_tui.widgets.result_table import ResultTable


class SearchedScreen(Screen[None]):
    """Has a table, and above it an input ``#search``."""

    @property
    def table(self) -> ResultTable:
        """What is searched."""
        raise NotImplementedError

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
