"""Parts of a corpus on which two runs are compared, as rows of a table."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rosetta_tui.compare.difference_axis import interval_line
from rosetta_tui.compare.pair_rows import BLANK, LINE
from rosetta_tui.compare.sentences import number
from rosetta_tui.show.cells import Cell
from rosetta_tui.show.columns import Column
from rosetta_tui.show.records import Record, Value
from scoring.statistics.breakdown import LEAST_FOR_INTERVAL

if TYPE_CHECKING:
    from harness.compare.comparison import Breakdown, CorpusPart
    from harness.compare.pairs import Pair

PARTS = (
    Column("part", "part", 22),
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
    part: CorpusPart | None = None


class PartRows:
    """Parts of the corpus under the dimension that they belong to, for one pair and metric."""

    def __init__(self, breakdowns: Mapping[str, Breakdown], pair: Pair, metric: str) -> None:
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
        """Return what the row's look depends on: rows are shown anew where anything changes."""
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

    def record(self, index: int) -> Record:
        """Return the values of one row; a dimension's title has none."""
        row, metric = self.rows[index], self._metric
        record: dict[str, Value] = {"dimension": row.dimension, "part": row.tag, "metric": metric}
        if row.part is None:
            return record
        found = row.part.differences[self._letters].get(metric)
        low, high = (None, None) if found is None or found.interval is None else found.interval
        return {
            **record,
            "entries": row.part.n,
            **{letter: row.part.values[letter].get(metric) for letter in self._letters},
            "difference": None if found is None else found.difference,
            "lower": low,
            "upper": high,
        }

    @property
    def _letters(self) -> tuple[str, str]:
        return (self._pair.first.letter, self._pair.second.letter)

    def cells(self, index: int) -> Sequence[Cell]:
        """Return the cells of one row."""
        row, metric = self.rows[index], self._metric
        if row.part is None:
            return (Cell(f"by {row.dimension}", "quiet"), *[Cell("")] * 6)
        head = (Cell(f"  {row.tag}"), Cell(f"{row.part.n:,}"))
        values = (row.part.values[letter].get(metric) for letter in self._letters)
        shown = [BLANK if value is None else Cell(number(metric, value)) for value in values]
        found = row.part.differences[self._letters].get(metric)
        if found is None:
            return (*head, *shown, BLANK, BLANK, Cell(""))
        difference = Cell(number(metric, found.difference, sign=True))
        if found.interval is None:
            few = Cell(f"n<{LEAST_FOR_INTERVAL}, too few", "quiet")
            return (*head, *shown, difference, few, Cell(""))
        low, high = (number(metric, end, sign=True) for end in found.interval)
        line = interval_line(found.difference, found.interval, -self._reach, self._reach, LINE)
        return (*head, *shown, difference, Cell(f"{low} … {high}", "quiet"), Cell(line, "mark"))
