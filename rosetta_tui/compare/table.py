"""The entries of several runs as rows of a table, in the order and selection that a person chose."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from corpora.model.entry import Entry
from harness.core.query import Fields, Query, QueryField, QueryTerm, QueryType, compared, matches
from harness.method.method import Result
from harness.store.columns import OF_ENTRIES
from harness.store.ordering import Groups, Ordering
from harness.store.sqlite.database import opened
from rosetta_tui.compare.difference_panel import BLANK
from rosetta_tui.compare.sentences import number
from rosetta_tui.entry.rows import LEFT_OUT_WORDS
from rosetta_tui.show import figures
from rosetta_tui.show.columns import LEFT_OUT, SLICE, Cell, Column, OrderedRows, Record, Value
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


def ordered_places(comparison: Comparison, view: ComparisonView, order: RowOrder, fits: Mask) -> list[int]:
    """Return the places of the entries that fit, in the order wished for; those without a value last, equal ones in corpus order."""
    entries, chosen = comparison.entries, np.flatnonzero(fits)
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
        unreadable = Cell(UNREADABLE, "bad")
        source = unreadable if entry is None else Cell(entry.source, "quiet")
        outcome = int(self._outcomes[place])
        winner = {-1: view.first, 1: view.second}.get(outcome)
        better = Cell("=" if outcome == 0 else figures.NONE, "quiet")
        if winner is not None:
            better = Cell(self._comparison.runs[winner].letter, "mark")
        return (
            Cell(str(entries.ids[place]), "quiet"),
            source,
            *(output_cell(self._texts.result(run, place), unreadable) for run in (view.first, view.second)),
            *(_value(view.metric, float(value)) for value in values),
            _value(view.metric, float(values[view.second] - values[view.first]), sign=True),
            better,
            Cell(figures.NONE if difficulty is None else str(difficulty), "quiet"),
        )


def output_cell(result: Result | None, missing: Cell) -> Cell:
    """Return the cell of an output; ``missing`` without a result."""
    if result is None:
        return missing
    if result.failed:
        return Cell("✗ failed", "bad")
    output = result.output or ""
    return Cell(output) if output.strip() else Cell("(empty)", "warn")


def _value(metric: str, value: float, *, sign: bool = False) -> Cell:
    return BLANK if np.isnan(value) else Cell(number(metric, value, sign=sign))


# ---- Which compared entries fit a query


class ComparedColumns:
    """Asks each run by its own columns; a field without a letter holds where it does for one run of the pair."""

    def __init__(self, comparison: Comparison) -> None:
        sides = [side.rows for side in comparison.sides]
        self.runs = {
            run.letter: Ordering(side.run.id, kept=side.scorer.columns, scorer=side.scorer)
            for run, side in zip(comparison.runs, sides, strict=True)
        }
        self._letters = list(self.runs)

    def prepare(self, store: sqlite3.Connection) -> None:
        """Read the words of the entries' tags."""
        for ordering in self.runs.values():
            ordering.prepare(store)

    def fields(self, view: ComparisonView | None) -> Fields:
        """Return what entries can be asked for; a letter before a field asks one run."""
        if view is None:
            return {}
        pair = [self._letters[view.first], self._letters[view.second]]
        first, second = (self.runs[letter].fields for letter in pair)
        own = {**second, **first}
        for name in own.keys() & second.keys():  # words that one of the two has
            own[name] = own[name]._replace(values=tuple(dict.fromkeys((*own[name].values, *second[name].values))))
        lettered = {
            f"{letter.casefold()}.{name}": field
            for letter in pair
            for name, field in own.items()
            if name not in OF_ENTRIES
        }
        better = QueryField(QueryType.WORD, "run that is better by the metric shown", (*pair, _TIE), closed=True)
        difference = QueryField(QueryType.NUMBER, f"{pair[1]} − {pair[0]} by the metric shown")
        return {"better": better, "difference": difference, **own, **lettered}

    def fits(
        self,
        store: sqlite3.Connection,
        comparison: Comparison,
        view: ComparisonView,
        query: Query,
        cancelled: Callable[[], bool],
    ) -> Mask:
        """Return which compared entries fit a query."""
        entries = comparison.entries
        differences = entries.differences(view.metric, view.first, view.second)

        def holds(term: QueryTerm) -> Mask:
            if term.field == "better":
                word = term.value.casefold()
                wins = {self._letters[view.second].casefold(): 1, self._letters[view.first].casefold(): -1, _TIE: 0}
                return np.asarray(view.outcomes(entries) == wins.get(word, 2))
            if term.field == "difference":
                return compared(differences, term)
            letter, point, name = term.field.partition(".")
            one = point and letter.upper() in self.runs
            sides = [self._letters.index(letter.upper())] if one else [view.first, view.second]
            asked = Query((replace(term, field=name if one else term.field, negated=False),))
            return np.asarray(
                np.logical_or.reduce([self._having(store, entries, side, asked, cancelled) for side in sides])
            )

        return matches(query, np.ones(len(entries), np.bool_), holds)

    def _having(
        self,
        store: sqlite3.Connection,
        entries: ComparedEntries,
        side: int,
        query: Query,
        cancelled: Callable[[], bool],
    ) -> Mask:
        places = self.runs[self._letters[side]].positions(store, where=query, cancelled=cancelled)
        return np.isin(entries.positions[side], places)


_TIE = "tie"


class ComparedTable(OrderedTable[ComparedRows]):
    """Compared entries; they are put in order in a thread."""

    KIND = "compared"
    order = RowOrder("apart")

    def __init__(self, path: Path) -> None:
        super().__init__((), id="entries")
        self._path = path
        self.view: ComparisonView | None = None
        self.texts: ComparedTexts | None = None
        self.columns_of_runs: ComparedColumns | None = None
        self._comparison: Comparison | None = None

    def take(self, comparison: Comparison, texts: ComparedTexts) -> None:
        """Show the entries of this comparison from now on, as soon as ``look_by`` is set."""
        if self._comparison is None or [run.run_id for run in self._comparison.runs] != [
            run.run_id for run in comparison.runs
        ]:
            self.columns_of_runs = ComparedColumns(comparison)
        self._comparison, self.texts, self.total = comparison, texts, len(comparison.entries)

    def look_by(self, view: ComparisonView, *, top: bool = False) -> None:
        """Show the values of a metric, and the texts of a pair; with ``top`` from the first row."""
        self.view = view
        self._from_top |= top
        self.read()

    @property
    def fields(self) -> Fields:
        return {} if self.columns_of_runs is None else self.columns_of_runs.fields(self.view)

    def set_groups(self, letter: str, groups: Groups) -> None:
        """Add fields of words that were worked out of a run's outputs: name → word → places of its entries."""
        if self.columns_of_runs is not None:
            ordering = self.columns_of_runs.runs[letter]
            ordering.groups = {**ordering.groups, **groups}
            if self.order.where:
                self.read()

    def read_places(self, order: RowOrder, cancelled: Callable[[], bool]) -> Sequence[int]:
        comparison, view, columns = self._comparison, self.view, self.columns_of_runs
        if comparison is None or view is None or columns is None:
            return ()
        with opened(self._path) as store:
            columns.prepare(store)
            fits = columns.fits(store, comparison, view, order.where, cancelled)
        return ordered_places(comparison, view, order, fits)

    def wish(self, order: RowOrder) -> None:
        self._from_top = True
        super().wish(order)

    def show_places(self, places: Sequence[int], *, top: bool) -> None:
        comparison, view, texts = self._comparison, self.view, self.texts
        if comparison is None or view is None or texts is None:
            return
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
        self.use_columns(getattr(self.app, "table_columns", ""))  # those of other runs have the same names
        self.show_entries(ComparedRows(comparison, view, places, texts), top=top)
