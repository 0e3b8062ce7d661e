"""Pairs of runs, parts of a corpus, and the entries of several runs, as rows of tables."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rosetta_tui import figures
from rosetta_tui.compare_order import View
from rosetta_tui.comparison_text import p_value
from rosetta_tui.comparison_words import ends, number
from rosetta_tui.widgets.columns import Column
from rosetta_tui.widgets.difference_axis import interval_line
from rosetta_tui.widgets.result_table import Cell
from scoring.breakdown import LEAST_FOR_INTERVAL

if TYPE_CHECKING:
    from harness.comparing import Comparison
    from harness.comparing_breakdowns import Breakdown, Part
    from harness.comparing_pairs import Pair
    from rosetta_tui.compared_texts import ComparedTexts

LINE = 21
"""Cells of a line around zero."""

_BLANK = Cell(figures.NONE, "quiet")

PAIRS = (
    Column("pair", "pair", 5),
    Column("difference", "differ.", 7, right=True),
    Column("interval", "95 % interval", 16),
    Column("line", "around zero", LINE, drop=9),
    Column("p", "p", 6, right=True, drop=2),
    Column("holm", "p Holm", 6, right=True, drop=1),
    Column("bootstrap", "p boot.", 7, right=True, drop=6),
    Column("effect", "effect", 6, right=True, drop=5),
    Column("wins", "wins", 5, right=True, drop=3),
    Column("losses", "losses", 6, right=True, drop=3),
    Column("ties", "ties", 5, right=True, drop=4),
    Column("better", "better", 6),
)
"""What a row shows of a pair; differences are the second run less the first, as are wins and losses."""


def pair_columns(comparison: Comparison) -> tuple[Column, ...]:
    """Leave out the correction for several pairs where there is one."""
    return tuple(c for c in PAIRS if c.key != "holm" or len(comparison.pairs) > 1)


class PairRows:
    """One row for each pair, by one metric."""

    def __init__(self, comparison: Comparison, metric: str, *, tested: bool) -> None:
        self._comparison = comparison
        self._metric = metric
        self._tested = tested
        """False while the tests are still being worked out: no number of theirs is shown."""

    @property
    def count(self) -> int:
        """How many pairs there are."""
        return len(self._comparison.pairs)

    def key(self, index: int) -> Hashable:
        """Give what the row's look depends on: rows are shown anew where anything changes."""
        return index

    def prepare(self, first: int, last: int) -> None:
        """Everything is there already."""

    def cells(self, index: int) -> Sequence[Cell]:
        """Give the cells of one row."""
        pair = self._comparison.pairs[index]
        cells = self._running(pair) if pair.under_way else self._complete(pair)
        if len(self._comparison.pairs) == 1:
            del cells[5]
        return cells

    def _head(self, pair: Pair) -> Cell:
        return Cell(f"{pair.second.letter} − {pair.first.letter}")

    def _complete(self, pair: Pair) -> list[Cell]:
        found, metric = pair.by_metric.get(self._metric), self._metric
        if found is None:
            return [self._head(pair), _BLANK, Cell("not compared", "warn"), *[_BLANK] * 9]
        difference = Cell(number(metric, found.difference, sign=True))
        counts = (found.wins, found.losses, found.ties)
        counted = [Cell(f"{n:,}") for n in counts] if any(counts) else [_BLANK] * 3
        effect = _BLANK if found.effect_size is None else Cell(f"{found.effect_size:+.2f}")
        if not self._tested:
            wait = Cell("…", "quiet")
            head = [self._head(pair), difference, Cell("testing …", "quiet"), Cell("")]
            return [*head, wait, wait, wait, effect, *counted, wait]
        better = pair.better(metric)
        return [
            self._head(pair),
            difference,
            Cell(ends(metric, found), "quiet"),
            Cell(self._line(found.difference, (found.lower, found.upper)), "mark"),
            Cell(p_value(found.p_randomisation)),
            Cell(p_value(pair.p_adjusted[metric])),
            Cell(p_value(found.p_bootstrap)),
            effect,
            *counted,
            Cell("neither", "quiet") if better is None else Cell(better.letter, "good"),
        ]

    def _running(self, pair: Pair) -> list[Cell]:
        found, metric = pair.running.get(self._metric), self._metric
        if found is None:
            return [self._head(pair), _BLANK, Cell("when complete", "quiet"), *[_BLANK] * 9]
        better = pair.better(metric)
        return [
            self._head(pair),
            Cell(number(metric, found.mean, sign=True)),
            Cell(ends(metric, found), "mark"),
            Cell(self._line(found.mean, (found.lower, found.upper)), "mark"),
            *[_BLANK] * 7,
            Cell("open", "quiet") if better is None else Cell(better.letter, "good"),
        ]

    def _line(self, value: float, interval: tuple[float, float]) -> str:
        reach = max(
            (max(abs(i) for i in each) for pair in self._comparison.pairs if (each := self._ends(pair))),
            default=1.0,
        )  # fmt: skip
        return interval_line(value, interval, -reach or -1.0, reach or 1.0, LINE)

    def _ends(self, pair: Pair) -> tuple[float, float] | None:
        found = (pair.running if pair.under_way else pair.by_metric).get(self._metric)
        return None if found is None else (found.lower, found.upper)


def entry_columns(comparison: Comparison, view: View) -> tuple[Column, ...]:
    """Give the columns of the entries: texts of the pair, values of all runs, the difference."""
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
        view: View,
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
        """Give the row of an entry, None where it is not among them."""
        try:
            return self.places.index(place)
        except ValueError:
            return None

    def key(self, index: int) -> Hashable:
        """Give what the row's look depends on."""
        return self.places[index]

    def prepare(self, first: int, last: int) -> None:
        """Read a screenful of texts."""
        self._texts.load(self.places[first:last], (self._view.first, self._view.second))

    def secret(self, index: int) -> bool:
        """Whether a row belongs to a secret segment, of which nothing is copied or exported."""
        return bool(self._comparison.entries.secret[self.places[index]])

    def cells(self, index: int) -> Sequence[Cell]:
        """Give the cells of one row."""
        place, view, entries = self.places[index], self._view, self._comparison.entries
        values = entries.values[view.metric][:, place]
        difficulty = self._comparison.sides[0].used[place].difficulty
        return (
            Cell(str(entries.ids[place]), "quiet"),
            Cell(self._texts.entry(place).source, "quiet"),
            self._output(view.first, place),
            self._output(view.second, place),
            *(_value(view.metric, float(value)) for value in values),
            _value(view.metric, float(values[view.second] - values[view.first]), sign=True),
            self._better(place),
            Cell(figures.NONE if difficulty is None else str(difficulty), "quiet"),
        )

    def _output(self, run: int, place: int) -> Cell:
        result = self._texts.result(run, place)
        if result is None or result.failed:
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
        return _BLANK
    return Cell(number(metric, value, sign=sign))


PARTS = (
    Column("part", "part", 18, share=1),
    Column("n", "entries", 7, right=True),
    Column("first", "A", 7, right=True, drop=2),
    Column("second", "B", 7, right=True, drop=2),
    Column("difference", "differ.", 7, right=True),
    Column("interval", "95 % interval", 16),
    Column("line", "around zero", LINE, drop=3),
)
"""What a row shows of a part of the corpus."""


def part_columns(pair: Pair) -> list[Column]:
    """Name the columns of values after the runs."""
    letters = {"first": pair.first.letter, "second": pair.second.letter}
    return [replace(each, title=letters.get(each.key, each.title)) for each in PARTS]


@dataclass(frozen=True, slots=True)
class PartRow:
    """One line: the name of a dimension, or one of its parts."""

    dimension: str
    tag: str | None
    """None: the line is the dimension's title."""
    part: Part | None = None


class PartRows:
    """Parts of the corpus under the dimension that they belong to, for one pair and metric."""

    def __init__(self, breakdowns: dict[str, Breakdown], pair: Pair, metric: str) -> None:
        self.rows = [
            row
            for dimension, parts in breakdowns.items()
            for row in (
                PartRow(dimension, None),
                *(PartRow(dimension, tag, part) for tag, part in parts.items()),
            )
        ]
        self._pair = pair
        self._metric = metric
        self._reach = (
            max((abs(e) for row in self.rows for e in self._ends(row)), default=1.0) or 1.0
        )

    @property
    def count(self) -> int:
        """How many lines there are."""
        return len(self.rows)

    def key(self, index: int) -> Hashable:
        """Give what the row's look depends on: rows are shown anew where anything changes."""
        return index

    def prepare(self, first: int, last: int) -> None:
        """Everything is there already."""

    def _ends(self, row: PartRow) -> tuple[float, ...]:
        if row.part is None:
            return ()
        found = row.part.differences[self._letters].get(self._metric)
        if found is None:
            return ()
        return (found.difference, *(found.interval or ()))

    @property
    def _letters(self) -> tuple[str, str]:
        return (self._pair.first.letter, self._pair.second.letter)

    def cells(self, index: int) -> Sequence[Cell]:
        """Give the cells of one row."""
        row, metric = self.rows[index], self._metric
        if row.part is None:
            return (Cell(f"by {row.dimension}", "quiet"), *[Cell("")] * 6)
        head = (Cell(f"  {row.tag}"), Cell(f"{row.part.n:,}"))
        values = (row.part.values[letter].get(metric) for letter in self._letters)
        shown = [_BLANK if value is None else Cell(number(metric, value)) for value in values]
        found = row.part.differences[self._letters].get(metric)
        if found is None:
            return (*head, *shown, _BLANK, _BLANK, Cell(""))
        difference = Cell(number(metric, found.difference, sign=True))
        if found.interval is None:
            few = Cell(f"n<{LEAST_FOR_INTERVAL}, too few", "quiet")
            return (*head, *shown, difference, few, Cell(""))
        low, high = (number(metric, end, sign=True) for end in found.interval)
        line = interval_line(found.difference, found.interval, -self._reach, self._reach, LINE)
        return (*head, *shown, difference, Cell(f"{low} … {high}", "quiet"), Cell(line, "mark"))
