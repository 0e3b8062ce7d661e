"""The one place that touches what Textual keeps to itself, with the reason for each line."""

from __future__ import annotations

import sys

from rich.text import Text
from textual.app import App

from rosetta_tui.crash import crash_text


class WordsForCrash(App[None]):
    """An app that fails without printing what it was working on: an entry may be secret."""

    def _fatal_error(self) -> None:
        # Textual's own prints every local variable, and there is no public way to turn that off.
        self.bell()
        self.panic(Text(crash_text(sys.exception())))
