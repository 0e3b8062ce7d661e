"""The entries of a run in the order and selection that a person chose, while the run continues."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from itertools import accumulate
from time import monotonic

import numpy as np
from textual import work
from textual.worker import get_current_worker

from corpora.model.entry import Entry
from harness.compare.parts import ShownScores, SubsetScorer
from harness.core.failures import StoreError
from harness.core.query import Cancelled, Fields, Query
from harness.method.method import Result
from harness.store.columns import entry_field
from harness.store.ordering import Groups, Ordering, stored_places
from harness.store.runs import Run
from harness.store.sqlite.database import opened, store_path
from rosetta_tui.entry import rows
from rosetta_tui.entry.page import RunScoring, run_scoring
from rosetta_tui.session.picture import EntryState, LiveRun
from rosetta_tui.show import figures
from rosetta_tui.show.columns import GAP, sorted_by
from rosetta_tui.show.figures import of_entries
from rosetta_tui.toolkit.background import bring
from rosetta_tui.toolkit.ordered_table import OrderedTable, RowOrder
from rosetta_tui.toolkit.pages import Pages, entry_pages, readable, result_pages
from rosetta_tui.toolkit.result_table import kind_of_column
from scoring.core.inventory import short_title
from scoring.core.scorer import EntryValues
from scoring.core.specification import TRANSLATIONS, KeptColumns

ROOMY = 160  # cells above which further metrics have columns of their own
KEPT_UP_WITH = 2_000  # entries after which the columns of what came are read, before anyone filters by them
ORDER_SECONDS = 1.0  # how often rows are put in order again while entries arrive


class EntryTable(OrderedTable[rows.EntryRows]):
    """The entries of one run; sorting is the store's work, in its own thread."""

    KIND = ""

    def __init__(self, live: LiveRun, store: sqlite3.Connection, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(rows.columns(), id=id)
        self._live, self._store = live, store
        self._path = store_path(store)
        self._run: Run | None = None
        self._entries: Pages[Entry] | None = None
        self._results: Pages[Result] | None = None
        self._ordering: Ordering | None = None
        self._groups: Groups = {}
        self._wanted: Collection[str] = ()  # keys of columns that a person wants
        self._scores: ShownScores = {}  # of the rows that a filter shows
        self._ordered_at = 0.0
        self._ordered_done = 0
        self._prepared = 0  # entries done when the columns were read last; all of them while they are read

    def begin(self, run: Run, positions: Sequence[int], *, done: int) -> None:
        """Show the entries of a run; ``done`` of them were stored before anyone listened."""
        self._entries = entry_pages(self._store, run.corpus)
        self._results = result_pages(self._store, run.id)
        self._run = run
        self._ordering = Ordering(run.id, kept=self.kept, scorer=self._scoring.scorer if self._scoring else None)
        self.set_groups(self._groups)
        self.total = len(positions)
        self.show_places(positions, top=False)
        self._title()
        self._read_stored(run.id, self._ordering, done=done)

    @property
    def kept(self) -> KeptColumns:
        """Return the columns stored beside each entry of the run."""
        return self._live.started.columns if self._live.started else TRANSLATIONS

    @property
    def export_name(self) -> str:
        started = self._live.started
        return f"entries-{started.run_id[:8]}" if started else super().export_name

    @property
    def fields(self) -> Fields:
        return {} if self._ordering is None else self._ordering.fields

    def set_groups(self, groups: Groups) -> None:
        """Add fields of words that were worked out of the run's outputs: name → word → places of its entries."""
        self._groups = {**self._groups, **groups}
        if self._ordering is not None:
            self._ordering.groups = self._groups
            if any(term.field in groups for term in self.order.where.terms):
                self.read()

    def look(self) -> None:
        """Draw what has changed, and put the rows in order again where that is due."""
        self.refresh_changed()
        stale = self.order != RowOrder() and self._ordered_done != self._live.done
        if stale and monotonic() - self._ordered_at >= ORDER_SECONDS:
            self.read()
        if self._ordering is not None and self._live.done - self._prepared >= KEPT_UP_WITH:
            self._prepared = self._live.total
            self._prepare(self._ordering)

    def read_again(self) -> None:
        """Clear the cached results: the scores of all entries may have changed, as they do at the end of a run."""
        self._live.recent.clear()
        if self._results is not None:
            self._results.forget()
            self.refresh()
            self.read()

    def wish(self, order: RowOrder) -> None:
        if order.where != self.order.where:
            self._scores = {}
        super().wish(order)
        self._title()

    def _title(self) -> None:
        width = rows.id_width(self.entries)
        further = () if self.entries is None else self.entries.further
        shown = [
            replace(c, width=width) if c.key == "id" else c for c in rows.columns(further, self.kept, self._verdicts)
        ]
        self.show_columns(sorted_by(shown, self.order.sort, falling=self.order.turned))

    def read(self) -> None:
        if self._ordering is None or self._live.started is None:
            return
        self._ordered_at = monotonic()
        self._ordered_done = self._live.done
        if self.order == RowOrder():
            self.workers.cancel_group(self, "order")
            self.show_places(self._live.started.positions, top=False)
        else:
            super().read()

    def read_places(self, order: RowOrder, cancelled: Callable[[], bool]) -> Sequence[int]:
        if self._ordering is None:
            return ()
        with opened(self._path) as store:
            places = self._ordering.positions(
                store, sort=order.sort, descending=order.turned, where=order.where, cancelled=cancelled
            )
        positions = array("I")
        positions.frombytes(places.astype("=u4").tobytes())
        return positions

    @work(thread=True, group="stored", description="stored")
    def _read_stored(self, run: int, ordering: Ordering, *, done: int) -> None:
        """Read what is stored already, then get ready for the usual orders before one is wished for."""

        def remember(states: bytes) -> None:
            self._live.remember(states)
            self.refresh_changed()

        try:
            with opened(self._path) as store:
                if done:
                    stored, failed = stored_places(store, run)
                    states = np.zeros(int(stored.max(initial=0)) + 1, np.uint8)
                    states[stored], states[failed] = EntryState.DONE, EntryState.FAILED
                    bring(self, remember, states.tobytes())
                ordering.prepare(store)
        except StoreError as error:
            self.cannot(str(error))

    @work(thread=True, group="prepare", description="prepare")
    def _prepare(self, ordering: Ordering) -> None:
        """Read the columns of what came meanwhile."""
        done = self._live.done
        with suppress(StoreError), opened(self._path) as store:  # the next caller reports it
            ordering.prepare(store)
        self._prepared = done

    def show_places(self, places: Sequence[int], *, top: bool) -> None:
        if self._entries is None or self._results is None:
            return
        entry_rows = rows.EntryRows(
            self._live, self._entries, self._results, self._values, places, self._further(), self.kept
        )
        before = () if self.entries is None else self.entries.further
        self.show_entries(entry_rows, top=top)
        if entry_rows.further != before:
            self._title()
        if self.order.where:
            self._score(self.order.where, places)

    @work(thread=True, exclusive=True, group="scores", description="scores")
    def _score(self, where: Query, places: Sequence[int]) -> None:
        """Compute what the entries of a filter are worth together."""
        worker, scorer = get_current_worker(), self._subset
        if scorer is None:
            return
        try:
            with opened(self._path) as store:
                scores = scorer.scores(store, places, lambda: worker.is_cancelled)
        except (Cancelled, StoreError):
            return

        def take() -> None:
            if where == self.order.where:
                self._scores = scores
                self.post_message(self.EntriesShown(self))

        bring(self, take)

    @property
    def matches_words(self) -> str:
        return " · ".join([super().matches_words, *(_score_words(id_, *score) for id_, score in self._scores.items())])

    # Columns

    @property
    def shown_columns(self) -> dict[str, bool]:
        """Return by key which columns there are, and whether each is shown."""
        further = () if self.entries is None else self.entries.further
        shown = {column.key for column in rows.columns(further, self.kept)} - {*self.hidden}
        every = [column.key for column in rows.columns(self._others, self.kept) if column.key != "symbol"]
        return {key: key in shown for key in every}

    def use_columns(self, words: str) -> None:
        """Show the columns that the settings name; others by the width."""
        own = [word for word in words.split() if not kind_of_column(word)]
        self.hidden = {word[1:] for word in own if word[0] == "-"}
        self._wanted = {word[1:] for word in own if word[0] == "+"}
        if self.entries is not None:
            self.entries.further = self._further()
            self._title()

    # Scores of single entries

    @cached_property
    def _scoring(self) -> RunScoring | None:
        run = self._run
        return None if run is None else readable(lambda: run_scoring(self._store, run))

    @cached_property
    def _subset(self) -> SubsetScorer | None:
        run, scoring = self._run, self._scoring
        return None if run is None or scoring is None else SubsetScorer(run.id, scoring.scorer)

    def _values(self, result: Result) -> EntryValues | None:
        return None if self._scoring is None else self._scoring.entry(result)

    @cached_property
    def _verdicts(self) -> frozenset[str]:
        """The metrics whose values stand for verdicts."""
        metrics = self._scoring.scorer.metrics if self._scoring else ()
        return frozenset(metric.info.id for metric in metrics if metric.has_verdicts)

    @property
    def _others(self) -> list[str]:
        """Metrics of the run that have no place of their own."""
        missing = self._live.started.missing if self._live.started else {}
        computed = self._scoring.scorer.ids if self._scoring else ()
        others = [id_ for id_ in computed if of_entries(id_) and id_ not in self.kept.ids]
        if self.kept == TRANSLATIONS:  # whose others have no place of their own
            others = rows.further_metrics(computed)
        return [id_ for id_ in others if id_ not in missing]

    def _further(self) -> list[str]:
        """Return the further metrics that are wanted, or for which there is room beside texts that can be read."""
        there = self._others
        widths = accumulate(rows.metric_column(id_, self._verdicts).width + GAP for id_ in there)
        roomy = {id_ for id_, w in zip(there, widths, strict=True) if w <= self.size.width - ROOMY}
        return [
            id_
            for id_ in there
            if (key := entry_field(id_)) in self._wanted or (id_ in roomy and key not in self.hidden)
        ]

    def on_resize(self) -> None:
        if self.entries is not None and self.entries.further != (further := self._further()):
            self.entries.further = further
            self._title()


def _score_words(metric: str, value: float, ends: tuple[float, float] | None) -> str:
    between = "" if ends is None else f" ({'–'.join(figures.value(metric, end) for end in ends)})"
    return f"{short_title(metric)} {figures.value(metric, value)}{between}"
