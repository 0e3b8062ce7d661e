"""The entries of several runs as rows of a table."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rosetta_tui.compare.order import ComparisonView
from rosetta_tui.compare.pair_rows import BLANK
from rosetta_tui.compare.sentences import number
from rosetta_tui.entry.rows import LEFT_OUT_WORDS
from rosetta_tui.show import figures
from rosetta_tui.show.cells import Cell
from rosetta_tui.show.columns import Column
from rosetta_tui.show.records import LEFT_OUT, SLICE, Record, Value
from rosetta_tui.toolkit.pages import UNREADABLE

if TYPE_CHECKING:
    from harness.compare.comparison import Comparison
    from rosetta_tui.compare.texts import ComparedTexts


def entry_columns(comparison: Comparison, view: ComparisonView) -> tuple[Column, ...]:
    """Return the columns of the entries: texts of the pair, values of all runs, the difference."""
    letters = [run.letter for run in comparison.runs]
    one, other = letters[view.first], letters[view.second]
    longest = max((len(str(id_)) for id_ in comparison.entries.ids[:2000]), default=2)
    return (
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
    )  # fmt: skip


class ComparedRows:
    """One row for each entry, in the order that a person chose; texts are read a screenful at a time."""

    def __init__(
        self,
        comparison: Comparison,
        view: ComparisonView,
        places: Sequence[int],
        texts: ComparedTexts,
    ) -> None:
        self.places = places
        """Places among the compared entries, in the order of the rows."""
        self._comparison = comparison
        self._view = view
        self._texts = texts
        self._outcomes = view.outcomes(comparison.entries)

    @property
    def count(self) -> int:
        """How many rows there are."""
        return len(self.places)

    def find(self, place: int) -> int | None:
        """Return the row of an entry, None where it is not among them."""
        try:
            return self.places.index(place)
        except ValueError:
            return None

    def key(self, index: int) -> Hashable:
        """Return what the row's look depends on."""
        return self.places[index]

    def prepare(self, first: int, last: int) -> None:
        """Read a screenful of texts."""
        self._texts.load(self.places[first:last], (self._view.first, self._view.second))

    def secret(self, index: int) -> bool:
        """Whether a row belongs to a secret segment, of which nothing is copied or exported."""
        return bool(self._comparison.entries.secret[self.places[index]])

    def _difficulty(self, place: int) -> int | None:
        return self._comparison.sides[0].used[place].entry.difficulty

    def record(self, index: int) -> Record:
        """Return the values of one row, with every run's output; of a secret entry no text and no number."""
        place, runs = self.places[index], self._comparison.runs
        entries = self._comparison.entries
        secret, values = self.secret(index), entries.values[self._view.metric][:, place]
        record: dict[str, Value] = {
            "id": entries.ids[place],
            "difficulty": None if secret else self._difficulty(place),
            "metric": self._view.metric,
        }
        for run, value in zip(runs, values, strict=True):
            record[run.letter] = None if secret or np.isnan(value) else float(value)
        if secret:
            return {**record, LEFT_OUT: LEFT_OUT_WORDS}
        entry = self._texts.entry(place)
        record["source"] = None if entry is None else entry.source
        record["reference"] = None if entry is None else entry.reference
        self._texts.load(self.places[index : index + SLICE], range(len(runs)))
        for side, run in enumerate(runs):
            result = self._texts.result(side, place)
            record[f"output_{run.letter}"] = None if result is None else result.output
        return record

    def cells(self, index: int) -> Sequence[Cell]:
        """Return the cells of one row."""
        place, view, entries = self.places[index], self._view, self._comparison.entries
        values = entries.values[view.metric][:, place]
        difficulty = self._comparison.sides[0].used[place].entry.difficulty
        return (
            Cell(str(entries.ids[place]), "quiet"),
            self._source(place),
            self._output(view.first, place),
            self._output(view.second, place),
            *(_value(view.metric, float(value)) for value in values),
            _value(view.metric, float(values[view.second] - values[view.first]), sign=True),
            self._better(place),
            Cell(figures.NONE if difficulty is None else str(difficulty), "quiet"),
        )

    def _source(self, place: int) -> Cell:
        entry = self._texts.entry(place)
        return Cell(UNREADABLE, "bad") if entry is None else Cell(entry.source, "quiet")

    def _output(self, run: int, place: int) -> Cell:
        result = self._texts.result(run, place)
        if result is None:
            return Cell(UNREADABLE, "bad")
        if result.failed:
            return Cell("✗ failed", "bad")
        output = result.output or ""
        return Cell(output) if output.strip() else Cell("(empty)", "warn")

    def _better(self, place: int) -> Cell:
        runs, outcome = self._comparison.runs, int(self._outcomes[place])
        winner = {-1: self._view.first, 1: self._view.second}.get(outcome)
        if winner is None:
            return Cell("=" if outcome == 0 else figures.NONE, "quiet")
        return Cell(runs[winner].letter, "mark")


def _value(metric: str, value: float, *, sign: bool = False) -> Cell:
    if value != value:  # noqa: PLR0124  NaN
        return BLANK
    return Cell(number(metric, value, sign=sign))
