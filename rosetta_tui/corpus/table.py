"""The entries of a corpus in the order and selection that a person chose."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial

from corpora.model.entry import Entry
from harness.store.corpora.listing import corpus_positions
from rosetta_tui.corpus.rows import ENTRIES, CorpusEntryRows, CorpusOrder
from rosetta_tui.show.columns import sorted_by
from rosetta_tui.toolkit.background import in_thread, telling
from rosetta_tui.toolkit.ordered_table import OrderedTable

Reading = Callable[[], AbstractContextManager[sqlite3.Connection]]
"""Gives a connection for a thread."""


class CorpusTable(OrderedTable[CorpusEntryRows]):
    """The entries of one corpus; sorting is the store's work, in a thread of its own."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(ENTRIES, id=id)
        self.order = self._shown = CorpusOrder()
        self.flagged: frozenset[int] = frozenset()
        """Places of the entries that a check is about."""
        self._store: sqlite3.Connection | None = None
        self._reading: Reading | None = None
        self._corpus = 0

    def begin(
        self, store: sqlite3.Connection, reading: Reading, corpus: int, places: Sequence[int]
    ) -> None:
        """Show the entries of a corpus; ``store`` is read by the screen, ``reading`` serves threads."""
        self._store, self._reading, self._corpus = store, reading, corpus
        self._show(self.order, places)

    def flag(self, places: frozenset[int]) -> None:
        """Mark the entries that a check is about."""
        self.flagged = places
        if self.entries is not None:
            self._show(self.order, self.entries.order)

    @property
    def entry(self) -> Entry | None:
        """The entry under the cursor."""
        if self.entries is None or not self.entries.count:
            return None
        return self.entries.entry(self.cursor)

    def wish(self, order: CorpusOrder) -> None:
        """Show entries in another order or selection."""
        if order == self.order or self._reading is None:
            return
        before, self.order = self.order, order
        read = partial(self._places, self._reading, order)
        top = (order.sort, order.turned) != (before.sort, before.turned)

        def stay(why: str) -> None:
            if order == self.order:
                self.order = self._shown
            telling(self, "The entries cannot be read")(why)

        in_thread(self, "order", read, lambda found: self._show(order, found, top=top), stay)

    def _places(self, reading: Reading, order: CorpusOrder) -> Sequence[int]:
        with reading() as store:
            return corpus_positions(
                store,
                self._corpus,
                sort=order.sort,
                descending=order.turned,
                only=order.only,
                search=order.search,
                places=order.places,
            )

    def _show(self, order: CorpusOrder, places: Sequence[int], *, top: bool = False) -> None:
        if order != self.order or self._store is None:
            return
        self._shown = order
        entries = CorpusEntryRows(self._store, self._corpus, places, self.flagged)
        self.show_columns(sorted_by(ENTRIES, order.sort, falling=order.turned))
        self.show_entries(entries, top=top)
        self.post_message(self.EntriesShown(self))
