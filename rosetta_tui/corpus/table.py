"""Corpora, and the entries of one, as rows of tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager

from corpora.files.problems import Problem
from corpora.model.entry import Entry, open_entry
from harness.core.query import Fields
from harness.store.corpora.listing import CorpusSummary
from harness.store.ordering import Ordering
from rosetta_tui.show import figures
from rosetta_tui.show.columns import LEFT_OUT, Cell, Column, OrderedRows, Record, Rows, Value, sorted_by, widest
from rosetta_tui.show.run_facts import iso, when
from rosetta_tui.toolkit.ordered_table import OrderedTable, RowOrder
from rosetta_tui.toolkit.pages import UNREADABLE, entry_pages

CORPORA = (
    Column("id", "corpus", 16, share=3),
    Column("version", "version", 8, drop=5),
    Column("languages", "languages", 12, share=1),
    Column("entries", "entries", 8, right=True),
    Column("segments", "segments", 18, share=3, drop=3),
    Column("runs", "runs", 5, right=True),
    Column("used", "last used", 16, drop=2),
    Column("origin", "read from", 14, share=2, drop=4),
    Column("sha", "sha-256", 12, drop=1),
)


class CorpusRows(Rows["CorpusSummary"]):
    """One row for each corpus, the one used last first."""

    def find(self, sha256: str) -> int | None:
        """Return the row of a corpus, None where it is gone."""
        return next((i for i, item in enumerate(self.items) if item.sha256 == sha256), None)

    def key(self, index: int) -> Hashable:
        corpus = self.items[index]
        return (corpus.sha256, corpus.number, len(corpus.runs), corpus.last_used, corpus.files)

    def cells(self, index: int) -> Sequence[Cell]:
        # Corpus as one row.
        corpus = self.items[index]
        dataset = corpus.dataset
        return (
            Cell(dataset.id),
            Cell(figures.NONE if dataset.version == "0" else dataset.version, "quiet"),
            Cell(dataset.language_pair),
            Cell(figures.count(corpus.entries)),
            Cell(segment_words(corpus.segments), "quiet"),
            Cell(figures.count(len(corpus.runs))),
            Cell(figures.NONE if corpus.last_used is None else when(corpus.last_used), "quiet"),
            Cell(origin_words(corpus), "quiet"),
            Cell(corpus.sha256[:12], "quiet"),
        )

    def record(self, index: int) -> Record:
        """Return the values of one row."""
        corpus = self.items[index]
        return {
            "id": corpus.dataset.id,
            "version": corpus.dataset.version,
            "language_pair": corpus.dataset.language_pair,
            "entries": corpus.entries,
            "segments": segment_words(corpus.segments),
            "runs": len(corpus.runs),
            "last_used": None if corpus.last_used is None else iso(corpus.last_used),
            "read_from": origin_words(corpus),
            "sha256": corpus.sha256,
        }

    def needs(self) -> Sequence[int]:
        """Return the cells that the widest text of each column takes."""
        texts = {
            "id": (item.dataset.id for item in self.items),
            "languages": (item.dataset.language_pair for item in self.items),
            "segments": (segment_words(item.segments) for item in self.items),
            "origin": (origin_words(item) for item in self.items),
        }
        return widest(CORPORA, texts)


def segment_words(segments: Mapping[str | None, int]) -> str:
    """Return how many entries each segment has, such as ``development 30 · no segment 2``."""
    parts = [
        f"{'no segment' if name is None else name.replace('_', ' ')} {figures.count(count)}"
        for name, count in segments.items()
    ]
    return " · ".join(parts)


def origin_words(corpus: CorpusSummary) -> str:
    """Return where a corpus came from, in the width of a column."""
    if corpus.partial:
        return "a run card"
    return " + ".join(path.name for path in corpus.files) or "not noted"


ENTRIES = (
    Column("flag", "", 1),
    Column("id", "id", 6),
    Column("source", "source", 20, share=1),
    Column("reference", "reference", 20, share=1),
    Column("segment", "segment", 13, drop=3),
    Column("difficulty", "diff.", 5, right=True, drop=2),
    Column("provenance", "provenance", 13, drop=4),
    Column("register", "register", 14, drop=5),
)
"""What a row shows of an entry; the key is a field of the filter."""

NO_VALUE = "not given"  # stands for the missing value of a tag


def shown_value(value: str | int | None) -> str:
    """Return a tag's value as people read it."""
    return NO_VALUE if value is None else str(value).replace("_", " ")


class CorpusEntryRows(OrderedRows):
    """Entries in the order that a person chose, read from the store a screenful at a time."""

    def __init__(
        self, connection: sqlite3.Connection, corpus: int, places: Iterable[int], flagged: Collection[int] = frozenset()
    ) -> None:
        super().__init__(places)
        self._flagged = flagged
        self._pages = entry_pages(connection, corpus)

    def entry(self, index: int) -> Entry | None:
        """Return the entry of one row; None where it cannot be read."""
        return self._pages.get(self.order[index])

    def key(self, index: int) -> Hashable:
        place = self.order[index]
        return (place, place in self._flagged)

    def prepare(self, first: int, last: int) -> None:
        self._pages.load(self.order[first:last])

    def cells(self, index: int) -> Sequence[Cell]:
        entry, flagged = self.entry(index), self.order[index] in self._flagged
        flag = Cell("!", "warn") if flagged else Cell("")
        if entry is None:
            return (flag, Cell(""), Cell(UNREADABLE, "bad"), *[Cell("")] * 5)
        segment = NO_VALUE if entry.segment is None else shown_value(entry.segment.value)
        return (
            flag,
            Cell(str(entry.id), "quiet"),
            Cell(entry.source),
            Cell(entry.reference),
            Cell(segment, "warn" if entry.secret else "quiet"),
            Cell(figures.NONE if entry.difficulty is None else str(entry.difficulty)),
            Cell(shown_value(entry.provenance) if entry.provenance else figures.NONE, "quiet"),
            Cell(entry.register_ or figures.NONE, "quiet"),
        )

    def record(self, index: int) -> Record:
        """Return the values of one row; of an entry of a secret segment none that quotes it."""
        entry = self.entry(index)
        if entry is None:
            return {"id": None, LEFT_OUT: UNREADABLE}
        shown = open_entry(entry)
        record: dict[str, Value] = {
            "id": entry.id,
            "source": shown.source if shown else None,
            "reference": shown.reference if shown else None,
            "segment": entry.segment,
            "difficulty": entry.difficulty,
            "provenance": entry.open_tag("provenance"),
            "register": entry.open_tag("register_"),
        }
        return record if shown else {**record, LEFT_OUT: f"source and reference: {entry.secret_because}"}


Reading = Callable[[], AbstractContextManager[sqlite3.Connection]]  # gives a thread a connection


class CorpusTable(OrderedTable[CorpusEntryRows]):
    """The entries of a corpus; they are put in order in a thread."""

    KIND = "corpus"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(ENTRIES, id=id)
        self._flagged: Collection[int] = frozenset()  # places of the entries that a check is about
        self._store: sqlite3.Connection | None = None
        self._reading: Reading | None = None
        self._ordering = Ordering()

    def begin(self, store: sqlite3.Connection, reading: Reading, corpus: int, places: Sequence[int]) -> None:
        """Show the entries of a corpus; ``store`` is read by the screen, ``reading`` serves threads."""
        self._store, self._reading, self.total = store, reading, len(places)
        self._ordering = Ordering(corpus=corpus)
        self.show_places(places, top=False)

    def flag(self, problems: Sequence[Problem]) -> None:
        """Mark the entries that checks are about; ``check:1`` are those of the first."""
        self._flagged = frozenset(place for problem in problems for place in problem.places)
        words = {str(number): problem.places for number, problem in enumerate(problems, 1)}
        self._ordering.groups = {"check": {"any": self._flagged, **words}}
        if self.entries is not None:
            self.show_places(self.entries.order, top=False)

    @property
    def entry(self) -> Entry | None:
        if self.entries is None or not self.entries.count:
            return None
        return self.entries.entry(self.cursor)

    @property
    def fields(self) -> Fields:
        return self._ordering.fields

    def read_places(self, order: RowOrder, cancelled: Callable[[], bool]) -> Sequence[int]:
        if self._reading is None:
            return ()
        with self._reading() as store:
            self._ordering.prepare(store)
            positions = self._ordering.positions(
                store, sort=order.sort, descending=order.turned, where=order.where, cancelled=cancelled
            )
        return [int(place) for place in positions]

    def show_places(self, places: Sequence[int], *, top: bool) -> None:
        if self._store is None:
            return
        entries = CorpusEntryRows(self._store, self._ordering.corpus, places, self._flagged)
        self.show_columns(sorted_by(ENTRIES, self.order.sort, falling=self.order.turned))
        self.show_entries(entries, top=top)
