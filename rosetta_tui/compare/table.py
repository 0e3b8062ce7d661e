"""The entries of several runs as rows of a table, in the order and selection that a person chose."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from textual import work
from textual.worker import get_current_worker

from corpora.model.entry import Entry
from harness.core.failures import HarnessError
from harness.method.method import Result
from harness.store.ordering import Cancelled, Ordering
from harness.store.sqlite.database import opened
from rosetta_tui.compare.difference_panel import BLANK
from rosetta_tui.compare.sentences import number
from rosetta_tui.entry.rows import LEFT_OUT_WORDS
from rosetta_tui.show import figures
from rosetta_tui.show.columns import LEFT_OUT, SLICE, Cell, Column, OrderedRows, Record, Value
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import bring
from rosetta_tui.toolkit.ordered_table import OrderedTable, RowOrder
from rosetta_tui.toolkit.pages import UNREADABLE, entry_pages, result_pages
from scoring.core.inventory import direction
from scoring.core.metric import oriented
from scoring.statistics.significance import outcomes

if TYPE_CHECKING:
    from harness.compare.comparison import ComparedEntries, Comparison


# ---- Which compared entries are shown, and how they are sorted ----

Mask = npt.NDArray[np.bool_]
TableColumn = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """By what entries are examined: one metric, and two of the runs."""

    metric: str
    first: int  # place of the run that differences are seen from
    second: int

    def outcomes(self, entries: ComparedEntries) -> npt.NDArray[np.int8]:
        """Return for each entry who is better: 1 the second run, -1 the first, 0 neither; 2 where a value lacks."""
        return self._outcomes(entries.values[self.metric])

    def outcome(self, entries: ComparedEntries, place: int) -> int:
        """Return who is better in one entry, as ``outcomes`` does for all."""
        return int(self._outcomes(entries.values[self.metric][:, place : place + 1])[0])

    def _outcomes(self, values: TableColumn) -> npt.NDArray[np.int8]:
        return outcomes(values[self.first], values[self.second], direction(self.metric))


@dataclass(frozen=True, slots=True)
class ComparedOrder(RowOrder):
    """A wish for entries; the default is all of them, the biggest differences first."""

    sort: str = "apart"
    narrow: str = "all"
    only: Mapping[str, str] = field(default_factory=dict)  # dimension → the tag wanted
    places: Collection[int] | None = None  # only these entries: those that a reason is about
    about: str = ""  # what `places` have in common, in words

    def words(self, one: str, other: str) -> str:
        """Return what is shown and in which order; ``one`` and ``other`` are the letters of the pair."""
        narrowed = [] if self.narrow == "all" else [narrow_words(one, other)[self.narrow]]
        narrowed += [f"{name} {plain(tag)}" for name, tag in self.only.items()]
        narrowed += [self.about] if self.about else []
        turned = ", turned round" if self.turned else ""
        return self.said(narrowed, sort_words(one, other)[self.sort] + turned)


def sort_words(one: str, other: str) -> dict[str, str]:
    """Return what entries can be sorted by, in words."""
    return {
        "apart": "biggest differences first",
        "second gains": f"where {other} gains most over {one}",
        "first gains": f"where {one} gains most over {other}",
        "first": f"best of {one} first",
        "second": f"best of {other} first",
        "position": "corpus order",
        "id": "by id",
        "difficulty": "by difficulty",
    }


def narrow_words(one: str, other: str) -> dict[str, str]:
    """Return which outcomes entries can be narrowed to, in words."""
    return {
        "all": "all entries",
        "second wins": f"{other} wins",
        "first wins": f"{one} wins",
        "ties": "ties",
        "failed in one": f"failed in one of {one} and {other}",
        "failed": "failed in any run",
    }


def filter_choices(
    order: ComparedOrder, one: str, other: str, tags: Mapping[str, Sequence[str | None]]
) -> list[tuple[ComparedOrder, str]]:
    """Return wishes with their words: everything, each outcome, each tag of each dimension that divides."""
    choices = [
        (order.everything if key == "all" else replace(order, narrow=key), words)
        for key, words in narrow_words(one, other).items()
    ]
    for dimension, own in tags.items():
        there = sorted({tag for tag in own if tag is not None})
        if len(there) > 1 or None in own:
            choices += [
                (replace(order, only={**order.only, dimension: tag}), f"{dimension} {plain(tag)}") for tag in there
            ]
    return choices


def ordered_places(
    comparison: Comparison,
    view: ComparisonView,
    order: ComparedOrder,
    tags: Mapping[str, Sequence[str | None]],
    found: Collection[int] | None = None,
) -> list[int]:
    """Return the entries' places in the order wished for; those without a value last, equal ones in corpus order."""
    entries = comparison.entries
    outcomes = view.outcomes(entries)
    mask = _narrowed(entries, view, order.narrow, outcomes)
    for dimension, tag in order.only.items():
        mask &= np.array([own == tag for own in tags.get(dimension, [None] * len(entries))], bool)
    for wanted in (found, order.places):
        if wanted is not None:
            mask &= np.isin(np.arange(len(entries)), np.fromiter(wanted, np.int64, len(wanted)))
    chosen = np.flatnonzero(mask)
    if order.sort == "id":

        def key(place: int) -> tuple[bool, int, str]:
            """Sort numbers as numbers, before texts."""
            id_ = entries.ids[place]
            return (False, id_, "") if isinstance(id_, int) else (True, 0, id_)

        by_id = sorted(chosen.tolist(), key=key)
        return by_id[::-1] if order.turned else by_id
    keys = _keys(comparison, view, order.sort)[chosen]
    turned = -keys if order.turned else keys
    return [int(place) for place in chosen[np.argsort(turned, kind="stable")]]


def _narrowed(entries: ComparedEntries, view: ComparisonView, narrow: str, outcomes: npt.NDArray[np.int8]) -> Mask:
    failed = entries.failed
    match narrow:
        case "second wins":
            return np.asarray(outcomes == 1)
        case "first wins":
            return np.asarray(outcomes == -1)
        case "ties":
            return np.asarray(outcomes == 0)
        case "failed in one":
            return np.asarray(failed[view.first] ^ failed[view.second])
        case "failed":
            return np.asarray(failed.any(axis=0))
        case _:
            return np.ones(len(entries), np.bool_)


def _keys(comparison: Comparison, view: ComparisonView, sort: str) -> TableColumn:
    """Return what entries are sorted by, ascending; NaN, which comes last, where there is no value."""
    entries = comparison.entries
    values = entries.values[view.metric]
    good = oriented(values, direction(view.metric))
    if sort == "difficulty":
        given = [row.entry.difficulty for row in comparison.sides[0].used]
        return np.array([np.nan if tier is None else tier for tier in given], np.float64)
    keys: dict[str, TableColumn] = {
        "apart": -np.abs(values[view.second] - values[view.first]),
        "second gains": good[view.first] - good[view.second],
        "first gains": good[view.second] - good[view.first],
        "first": -good[view.first],
        "second": -good[view.second],
        "position": entries.positions[0].astype(np.float64),
    }
    return keys[sort]


class ComparedTexts:
    """Entries and outputs by their place among the compared ones; each run has its own corpus, which may be erased meanwhile."""

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


class ComparedRows(OrderedRows):
    """One row for each entry, in the order that a person chose; texts are read a screenful at a time."""

    def __init__(
        self, comparison: Comparison, view: ComparisonView, places: Sequence[int], texts: ComparedTexts
    ) -> None:
        super().__init__(places)
        self._comparison, self._view, self._texts = comparison, view, texts
        self._outcomes = view.outcomes(comparison.entries)

    def key(self, index: int) -> Hashable:
        return self.order[index]

    def prepare(self, first: int, last: int) -> None:
        self._texts.load(self.order[first:last], (self._view.first, self._view.second))

    def secret(self, index: int) -> bool:
        """Return whether a row belongs to a secret segment, of which nothing is copied or exported."""
        return bool(self._comparison.entries.secret[self.order[index]])

    def record(self, index: int) -> Record:
        """Return the values of one row, with every run's output; of a secret entry no text and no number."""
        place, runs = self.order[index], self._comparison.runs
        entries = self._comparison.entries
        secret, values = self.secret(index), entries.values[self._view.metric][:, place]
        record: dict[str, Value] = {
            "id": entries.ids[place],
            "difficulty": None if secret else self._comparison.sides[0].used[place].entry.difficulty,
            "metric": self._view.metric,
        }
        for run, value in zip(runs, values, strict=True):
            record[run.letter] = None if secret or np.isnan(value) else float(value)
        if secret:
            return {**record, LEFT_OUT: LEFT_OUT_WORDS}
        entry = self._texts.entry(place)
        record["source"] = None if entry is None else entry.source
        record["reference"] = None if entry is None else entry.reference
        self._texts.load(self.order[index : index + SLICE], range(len(runs)))
        for side, run in enumerate(runs):
            result = self._texts.result(side, place)
            record[f"output_{run.letter}"] = None if result is None else result.output
        return record

    def cells(self, index: int) -> Sequence[Cell]:
        place, view, entries = self.order[index], self._view, self._comparison.entries
        values = entries.values[view.metric][:, place]
        difficulty = self._comparison.sides[0].used[place].entry.difficulty
        entry = self._texts.entry(place)
        source = Cell(UNREADABLE, "bad") if entry is None else Cell(entry.source, "quiet")
        outcome = int(self._outcomes[place])
        winner = {-1: view.first, 1: view.second}.get(outcome)
        better = Cell("=" if outcome == 0 else figures.NONE, "quiet")
        if winner is not None:
            better = Cell(self._comparison.runs[winner].letter, "mark")
        return (
            Cell(str(entries.ids[place]), "quiet"),
            source,
            self._output(view.first, place),
            self._output(view.second, place),
            *(_value(view.metric, float(value)) for value in values),
            _value(view.metric, float(values[view.second] - values[view.first]), sign=True),
            better,
            Cell(figures.NONE if difficulty is None else str(difficulty), "quiet"),
        )

    def _output(self, run: int, place: int) -> Cell:
        result = self._texts.result(run, place)
        if result is None:
            return Cell(UNREADABLE, "bad")
        if result.failed:
            return Cell("✗ failed", "bad")
        output = result.output or ""
        return Cell(output) if output.strip() else Cell("(empty)", "warn")


def _value(metric: str, value: float, *, sign: bool = False) -> Cell:
    if value != value:  # noqa: PLR0124  NaN
        return BLANK
    return Cell(number(metric, value, sign=sign))


def places_with(path: Path, found: Comparison, search: str, cancelled: Callable[[], bool]) -> frozenset[int]:
    """Find the text in id, source, reference or an output of any run; for its own thread."""
    places: set[int] = set()
    with opened(path) as store:
        for number, side in enumerate(found.sides):
            ordering = Ordering(side.rows.run.id)
            try:
                there = set(ordering.positions(store, search=search, cancelled=cancelled).tolist())
            except Cancelled:
                return frozenset()
            own = found.entries.positions[number].tolist()
            places.update(place for place, position in enumerate(own) if position in there)
    return frozenset(places)


Tags = Mapping[str, Sequence[str | None]]  # dimension → tag of each compared entry (`part_tags`)


class ComparedTable(OrderedTable[ComparedRows]):
    """Compared entries; texts are looked through in a thread."""

    def __init__(self, path: Path) -> None:
        super().__init__((), id="entries")
        self._path = path
        self.order = ComparedOrder()
        self.view: ComparisonView | None = None
        self.texts: ComparedTexts | None = None
        self.tags: Tags = {}
        self._comparison: Comparison | None = None
        self._found: frozenset[int] | None = None  # places that the search found; None without one

    def take(self, comparison: Comparison, texts: ComparedTexts, tags: Tags) -> None:
        """Show the entries of this comparison from now on, as soon as ``look_by`` is set."""
        anew = self._comparison is None or self._comparison.entries.ids != comparison.entries.ids
        self._comparison, self.texts, self.tags = comparison, texts, tags
        if anew and self.order.search:
            self._found = frozenset()
            self._look_for(comparison, self.order.search)

    def look_by(self, view: ComparisonView, *, top: bool = False) -> None:
        """Show the values of a metric, and the texts of a pair; with ``top`` from the first row."""
        self.view = view
        self._fill(top=top)

    def wish(self, order: ComparedOrder) -> None:
        """Show entries in another order or selection."""
        searched = order.search != self.order.search
        self.order = order
        if self._comparison is not None and searched and order.search:
            self._look_for(self._comparison, order.search)
            return
        if searched:
            self.workers.cancel_group(self, "search")
            self._found = None
        self._fill(top=True)

    @work(thread=True, exclusive=True, group="search", description="search")
    def _look_for(self, comparison: Comparison, search: str) -> None:
        worker = get_current_worker()

        def take(places: frozenset[int]) -> None:
            if search == self.order.search and comparison is self._comparison:
                self._found = places
                self._fill(top=True)

        try:
            places = places_with(self._path, comparison, search, lambda: worker.is_cancelled)
        except HarnessError:
            places = frozenset()  # the screen itself says what is wrong with the store
        if not worker.is_cancelled:
            bring(self, take, places)

    def _fill(self, *, top: bool) -> None:
        comparison, view, texts = self._comparison, self.view, self.texts
        if comparison is None or view is None or texts is None:
            return
        places = ordered_places(comparison, view, self.order, self.tags, self._found)
        # Columns of the entries: texts of the pair, values of all runs, the difference.
        letters = [run.letter for run in comparison.runs]
        one, other = letters[view.first], letters[view.second]
        longest = max((len(str(id_)) for id_ in comparison.entries.ids[:2000]), default=2)
        entry_columns = (
            Column("id", "id", max(3, min(12, longest))),
            Column("source", "source", 14, share=1, drop=8),
            Column("output first", f"output of {one}", 14, share=1),
            Column("output second", f"output of {other}", 14, share=1),
            *(
                Column(letter, letter, 5, right=True, drop=0 if place in {view.first, view.second} else 9)
                for place, letter in enumerate(letters)
            ),
            Column("difference", f"{other}−{one}", 6, right=True),
            Column("better", "wins", 4),
            Column("difficulty", "diff.", 5, right=True, drop=10),
        )
        self.show_columns(entry_columns)
        self.show_entries(ComparedRows(comparison, view, places, texts), top=top)
        self.post_message(self.EntriesShown(self))
