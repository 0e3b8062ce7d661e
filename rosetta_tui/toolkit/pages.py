"""Entries and results read from the store a screenful at a time; what cannot be read stops no screen."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Generic, TypeVar

from textual.cache import LRUCache

from corpora.model.entry import Entry
from harness.core.failures import StoreError
from harness.method.method import Result
from harness.store.corpora.entries import shown_entries
from harness.store.results import shown_results
from harness.store.sqlite.trouble import STORE_ERRORS, of_a_value

_KEPT = 500  # rows kept; more than two screens, and small beside the corpus

UNREADABLE = "cannot be read: it is damaged in the store, or gone from it since"
"""What replaces an entry or a result that is not to be had."""

T = TypeVar("T")


def readable(read: Callable[[], T]) -> T | None:
    """Read something for a screen; None where the store fails, or holds it damaged."""
    try:
        return read()
    except sqlite3.ProgrammingError:
        raise  # a fault of the program
    except (*STORE_ERRORS, StoreError):
        return None


class Pages(Generic[T]):
    """Reads what is requested and not cached, in one query for many rows; each has its place in the corpus."""

    def __init__(self, read: Callable[[Sequence[int]], Mapping[int, T]]) -> None:
        self._read = read
        self._kept: LRUCache[int, T | None] = LRUCache(_KEPT)
        self._failed: Sequence[int] = ()  # places of the last failed load, asked for once

    def load(self, places: Iterable[int]) -> None:
        """Read the rows at these places; a damaged one spares the others, and where the store fails the next load retries."""
        missing = [place for place in places if place not in self._kept]
        if not missing:
            return
        rows = readable(partial(self._found, missing))
        self._failed = missing if rows is None else ()
        for place, row in (rows or {}).items():
            self._kept[place] = row

    def _found(self, places: Sequence[int]) -> Mapping[int, T | None]:
        try:
            return self._read(places)
        except STORE_ERRORS as error:
            if not of_a_value(error):
                raise
            if len(places) == 1:
                return {places[0]: None}
        return {place_found: row for place in places for place_found, row in self._found([place]).items()}

    def get(self, place: int) -> T | None:
        """Return one row, None where it is not to be had."""
        if place not in self._failed:
            self.load([place])
        return self._kept.get(place)

    def forget(self) -> None:
        """Read rows again when they are asked for: they have changed."""
        self._kept.clear()


def entry_pages(connection: sqlite3.Connection, corpus: int) -> Pages[Entry]:
    """Return the entries of a corpus, those of secret segments too: for the screen alone."""
    return Pages(partial(shown_entries, connection, corpus))


def result_pages(connection: sqlite3.Connection, run: int) -> Pages[Result]:
    return Pages(lambda places: {r.position: r for r in shown_results(connection, run, places)})
