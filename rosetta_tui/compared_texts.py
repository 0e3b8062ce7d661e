"""Texts of compared entries, read from the store a screenful at a time."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.cache import LRUCache

from harness.store.corpora import read_entries
from harness.store.results import read_results

if TYPE_CHECKING:
    from corpora.entry import Entry
    from harness.comparing import Comparison
    from harness.result import Result

_KEPT = 500
"""Entries kept, and outputs of each run: more than two screens of rows."""


class ComparedTexts:
    """Reads what is asked for and not kept, in one query for each run; secret texts too, for the screen alone."""

    def __init__(self, connection: sqlite3.Connection, comparison: Comparison) -> None:
        self._connection = connection
        self._comparison = comparison
        self._entries: LRUCache[int, Entry] = LRUCache(_KEPT)
        self._results: list[LRUCache[int, Result]] = [LRUCache(_KEPT) for _ in comparison.runs]

    def load(self, places: Sequence[int], runs: Sequence[int]) -> None:
        """Read the entries at these places, and what these runs made of them."""
        positions, sides = self._comparison.entries.positions, self._comparison.sides
        if missing := {int(positions[0, p]): p for p in places if p not in self._entries}:
            corpus = sides[0].rows.run.corpus
            for position, entry in read_entries(self._connection, corpus, missing).items():
                self._entries[missing[position]] = entry
        for run in runs:
            kept = self._results[run]
            if unread := {int(positions[run, p]): p for p in places if p not in kept}:
                number = sides[run].rows.run.id
                for result in read_results(self._connection, number, list(unread)):
                    kept[unread[result.position]] = result

    def entry(self, place: int) -> Entry | None:
        """Give one entry, with the tags and texts of the first run's corpus; None where it is gone since.

        A corpus goes from the store with the last run that used it, which another process may erase.
        """
        if place not in self._entries:
            self.load([place], [])
        return self._entries.get(place)

    def result(self, run: int, place: int) -> Result | None:
        """Give what a run made of an entry; None where it is gone since: its run asks for it again."""
        if place not in self._results[run]:
            self.load([place], [run])
        return self._results[run].get(place)
