"""The entries of a run in the order and selection that a person chose, while the run continues."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from time import monotonic

import numpy as np
from textual import work
from textual.worker import get_current_worker

from corpora.model.entry import Entry
from harness.core.failures import StoreError
from harness.method.method import Result
from harness.store.ordering import Cancelled, Ordering, stored_places
from harness.store.runs import Run
from harness.store.sqlite.database import opened, store_path
from rosetta_tui.entry import rows
from rosetta_tui.entry.page import RunScoring, run_scoring
from rosetta_tui.session.picture import EntryState, LiveRun
from rosetta_tui.show.columns import GAP, sorted_by
from rosetta_tui.show.figures import of_entries
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import bring
from rosetta_tui.toolkit.ordered_table import OrderedTable, RowOrder
from rosetta_tui.toolkit.pages import Pages, entry_pages, readable, result_pages
from scoring.core.inventory import short_title
from scoring.core.scorer import EntryValues
from scoring.core.specification import TRANSLATIONS, KeptColumns

SORT_WORDS = {
    "position": "corpus order",
    "id": "id",
    "state": "state",
    "headline": "chrF++",
    "exact": "exact match",
    "second": "composite and tier",
    "tokens": "tokens",
    "cost": "cost",
    "latency": "seconds",
    "difficulty": "difficulty",
    "source": "source text",
    "output": "output text",
}


FILTER_WORDS = {
    "all": "all entries",
    "done": "done",
    "failed": "failed",
    "waiting": "waiting",
    "not exact": "done, not an exact match",
    "exact": "exact matches",
}


def sort_words(kept: KeptColumns) -> dict[str, str]:
    """Return what entries of a task can be sorted by, in words."""
    if kept == TRANSLATIONS:
        return SORT_WORDS
    scored = {place: short_title(id_) for place, id_ in rows.kept_places(kept).items()}
    values = {"headline", "exact", "second", "third"}
    first = ("position", "id", "state")
    before = {name: SORT_WORDS[name] for name in first}
    rest = {name: words for name, words in SORT_WORDS.items() if name not in {*first, *values}}
    return {**before, **scored, **rest}


def filter_words(kept: KeptColumns) -> dict[str, str]:
    """Return what entries of a task can be narrowed to, in words."""
    if kept == TRANSLATIONS:
        return FILTER_WORDS
    right = {"not exact": "done, not right", "exact": "right answers"} if kept.right else {}
    return {name: words for name, words in FILTER_WORDS.items() if "exact" not in name} | right


@dataclass(frozen=True, slots=True)
class Order(RowOrder):
    """A wish for rows; the default is every entry in the order of the corpus."""

    narrow: str = "all"
    places: Collection[int] | None = None  # only these entries: those that a reason is about
    about: str = ""  # what `places` have in common, in words

    def words(self, kept: KeptColumns = TRANSLATIONS) -> str:
        """Return how this differs from the default."""
        only = [] if self.narrow == "all" else [filter_words(kept)[self.narrow]]
        only += [self.about] if self.about else []
        return self.said(only, self.by_words(sort_words(kept)))


ROOMY = 160  # cells above which further metrics have columns of their own
ORDER_SECONDS = 1.0  # how often rows are put in order again while entries arrive


class EntryTable(OrderedTable[rows.EntryRows]):
    """The entries of one run; sorting is the store's work, in its own thread."""

    def __init__(self, live: LiveRun, store: sqlite3.Connection, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(rows.columns(), id=id)
        self.order = Order()
        self._live, self._store = live, store
        self._path = store_path(store)
        self._trouble = ""  # why rows could not be put in order last; empty where they could
        self._run: Run | None = None
        self._entries: Pages[Entry] | None = None
        self._results: Pages[Result] | None = None
        self._ordering: Ordering | None = None
        self._from_top = False  # true from a wish for another sorting until its rows are there
        self._ordered_at = 0.0
        self._ordered_done = 0

    def begin(self, run: Run, positions: Sequence[int], *, done: int) -> None:
        """Show the entries of a run; ``done`` of them were stored before anyone listened."""
        self._entries = entry_pages(self._store, run.corpus)
        self._results = result_pages(self._store, run.id)
        self._ordering = Ordering(run.id)
        self._run = run
        self._show(self.order, positions)
        self._title()
        if done:
            self._read_stored(run.id, self._ordering)

    @property
    def kept(self) -> KeptColumns:
        """Return the columns stored beside each entry of the run."""
        return self._live.started.columns if self._live.started else TRANSLATIONS

    @property
    def export_name(self) -> str:
        started = self._live.started
        return f"entries-{started.run_id[:8]}" if started else super().export_name

    def look(self) -> None:
        """Draw what has changed, and put the rows in order again where that is due."""
        self.refresh_changed()
        stale = self.order != Order() and self._ordered_done != self._live.done
        if stale and monotonic() - self._ordered_at >= ORDER_SECONDS:
            self._read()

    def read_again(self) -> None:
        """Clear the cached results: the scores of all entries may have changed, as they do at the end of a run."""
        self._live.recent.clear()
        if self._results is not None:
            self._results.forget()
            self.refresh()
            self._read()

    def wish(self, order: Order) -> None:
        """Show rows in another order or selection."""
        if order == self.order:
            return
        sorted_anew = (order.sort, order.turned) != (self.order.sort, self.order.turned)
        self._from_top = self._from_top or sorted_anew
        self.order = order
        self._title()
        self._read()

    def _title(self) -> None:
        width = rows.id_width(self.entries)
        further = () if self.entries is None else self.entries.further
        shown = [
            replace(c, width=width) if c.key == "id" else c for c in rows.columns(further, self.kept, self._verdicts)
        ]
        self.show_columns(sorted_by(shown, self.order.sort, falling=self.order.turned))

    def _read(self) -> None:
        if self._ordering is None or self._live.started is None:
            return
        self._ordered_at = monotonic()
        self._ordered_done = self._live.done
        if self.order == Order():
            self.workers.cancel_group(self, "order")
            self._show(self.order, self._live.started.positions)
        else:
            self._read_order(self.order, self._ordering)

    @work(thread=True, exclusive=True, group="order", description="order")
    def _read_order(self, order: Order, ordering: Ordering) -> None:
        worker = get_current_worker()
        try:
            with opened(self._path) as store:
                places = ordering.positions(
                    store,
                    sort=order.sort,
                    descending=order.turned,
                    narrow=order.narrow,
                    search=order.search,
                    cancelled=lambda: worker.is_cancelled,
                )
        except Cancelled:
            return
        except StoreError as error:
            self._cannot(str(error))
            return
        self._trouble = ""
        if order.places is not None:
            places = places[np.isin(places, np.fromiter(order.places, np.uint32, len(order.places)))]
        positions = array("I")
        positions.frombytes(places.astype("=u4").tobytes())
        if not worker.is_cancelled:
            bring(self, self._show, order, positions)

    def _cannot(self, why: str) -> None:
        """Show why the rows stay as they are, once: a run that continues is put in order every second."""
        if why != self._trouble and not get_current_worker().is_cancelled:
            self._trouble = why
            title = "The entries cannot be read"
            self.notify(plain(why), title=title, severity="error", markup=False)

    @work(thread=True, group="stored", description="stored")
    def _read_stored(self, run: int, ordering: Ordering) -> None:
        """Read what is stored already, then get ready for every order before one is wished for."""

        def remember(states: bytes) -> None:
            self._live.remember(states)
            self.refresh_changed()

        try:
            with opened(self._path) as store:
                done, failed = stored_places(store, run)
                states = np.zeros(int(done.max(initial=0)) + 1, np.uint8)
                states[done], states[failed] = EntryState.DONE, EntryState.FAILED
                bring(self, remember, states.tobytes())
                ordering.prepare(store)
        except StoreError as error:
            self._cannot(str(error))

    def _show(self, order: Order, positions: Sequence[int]) -> None:
        if order != self.order or self._entries is None or self._results is None:
            return
        from_top, self._from_top = self._from_top, False
        entry_rows = rows.EntryRows(
            self._live, self._entries, self._results, self._values, positions, self._further(), self.kept
        )
        before = () if self.entries is None else self.entries.further
        self.show_entries(entry_rows, top=from_top)
        if entry_rows.further != before:
            self._title()

    # Scores of single entries

    @cached_property
    def _scoring(self) -> RunScoring | None:
        run = self._run
        return None if run is None else readable(lambda: run_scoring(self._store, run))

    def _values(self, result: Result) -> EntryValues | None:
        return None if self._scoring is None else self._scoring.entry(result)

    @cached_property
    def _verdicts(self) -> frozenset[str]:
        """The metrics whose values stand for verdicts."""
        metrics = self._scoring.scorer.metrics if self._scoring else ()
        return frozenset(metric.info.id for metric in metrics if metric.has_verdicts)

    def _further(self) -> list[str]:
        """Return the further metrics of the run that there is room for beside texts that can be read."""
        missing = self._live.started.missing if self._live.started else {}
        computed = self._scoring.scorer.ids if self._scoring else ()
        others = [id_ for id_ in computed if of_entries(id_) and id_ not in self.kept.ids]
        if self.kept == TRANSLATIONS:  # whose others have no place of their own
            others = rows.further_metrics(computed)
        there = [id_ for id_ in others if id_ not in missing]
        widths = accumulate(rows.metric_column(id_, self._verdicts).width + GAP for id_ in there)
        return [id_ for id_, w in zip(there, widths, strict=True) if w <= self.size.width - ROOMY]

    def on_resize(self) -> None:
        if self.entries is not None and self.entries.further != (further := self._further()):
            self.entries.further = further
            self._title()
