"""Texts of compared entries, read from the store a screenful at a time."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rosetta_tui.toolkit.pages import entry_pages, result_pages

if TYPE_CHECKING:
    from corpora.model.entry import Entry
    from harness.compare.comparison import Comparison
    from harness.method.result import Result


class ComparedTexts:
    """Entries and outputs by the place of an entry among the compared ones; each run has its own corpus.

    A corpus goes from the store with the last run that used it, which another process may erase.
    """

    def __init__(self, connection: sqlite3.Connection, comparison: Comparison) -> None:
        runs = [side.rows.run for side in comparison.sides]
        self._positions = comparison.entries.positions
        self._entries = entry_pages(connection, runs[0].corpus)
        self._results = [result_pages(connection, run.id) for run in runs]

    def load(self, places: Sequence[int], runs: Sequence[int]) -> None:
        """Read the entries at these places, and what these runs made of them."""
        self._entries.load(self._positions[0, list(places)].tolist())
        for run in runs:
            self._results[run].load(self._positions[run, list(places)].tolist())

    def entry(self, place: int) -> Entry | None:
        """Return one entry, with the tags and texts of the first run's corpus; None where it cannot be read."""
        return self._entries.get(int(self._positions[0, place]))

    def result(self, run: int, place: int) -> Result | None:
        """Return what a run made of an entry; None where it cannot be read."""
        return self._results[run].get(int(self._positions[run, place]))
