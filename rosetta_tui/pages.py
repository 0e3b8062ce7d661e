"""Entries and results of a run, read from the store a screenful at a time."""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Sequence
from typing import Generic, TypeVar

from corpora.entry import Entry
from harness.result import Result
from harness.store.corpora import read_entries
from harness.store.results import read_results
from harness.store.runs import Run

KEPT = 500
"""Entries and results kept; more than two screens, and small beside the corpus."""

T = TypeVar("T")


class _Kept(OrderedDict[int, T], Generic[T]):
    """The values seen last."""

    def keep(self, position: int, value: T) -> None:
        self[position] = value
        self.move_to_end(position)
        if len(self) > KEPT:
            self.popitem(last=False)


class Pages:
    """Reads what is asked for and not kept, in one query for many rows."""

    def __init__(self, connection: sqlite3.Connection, run: Run) -> None:
        self.run = run
        self._connection = connection
        self._entries: _Kept[Entry] = _Kept()
        self._results: _Kept[Result] = _Kept()

    def load(self, positions: Sequence[int], stored: Sequence[int]) -> None:
        """Read the entries at these places, and the results at the places that have one."""
        missing = [position for position in positions if position not in self._entries]
        if missing:
            found = read_entries(self._connection, self.run.corpus, missing)
            for position, entry in found.items():
                self._entries.keep(position, entry)
        unread = [position for position in stored if position not in self._results]
        if unread:
            for result in read_results(self._connection, self.run.id, unread):
                self._results.keep(result.position, result)

    def forget_results(self) -> None:
        """Read results again when they are asked for: their scores have changed."""
        self._results.clear()

    def entry(self, position: int) -> Entry:
        """Give one entry."""
        if position not in self._entries:
            self.load([position], [])
        return self._entries[position]

    def result(self, position: int) -> Result | None:
        """Give one stored result, None where there is none."""
        if position not in self._results:
            self.load([], [position])
        return self._results.get(position)
