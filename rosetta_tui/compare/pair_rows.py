"""Pairs of compared runs as rows of a table."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from rosetta_tui.compare.difference_axis import interval_line
from rosetta_tui.compare.sentences import ends, number
from rosetta_tui.show import figures
from rosetta_tui.show.cells import Cell
from rosetta_tui.show.columns import Column
from rosetta_tui.show.records import Record, Value

if TYPE_CHECKING:
    from harness.compare.comparison import Comparison
    from harness.compare.pairs import Pair, RunningDifference

LINE = 21
"""Cells of a line around zero."""

BLANK = Cell(figures.NONE, "quiet")
"""Stands where there is no value."""

PAIRS = (
    Column("pair", "pair", 5),
    Column("difference", "differ.", 7, right=True),
    Column("interval", "95 % interval", 16),
    Column("line", "around zero", LINE, drop=9, exported=False),
    Column("p", "p", 6, right=True, drop=2),
    Column("holm", "p Holm", 6, right=True, drop=1),
    Column("bootstrap", "p boot.", 7, right=True, drop=6),
    Column("effect", "effect", 6, right=True, drop=5),
    Column("wins", "wins", 5, right=True, drop=3),
    Column("losses", "losses", 6, right=True, drop=3),
    Column("ties", "ties", 5, right=True, drop=4),
    Column("better", "better", 7),
)
"""What a row shows of a pair; differences are the second run minus the first, as are wins and losses."""


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
        """Return what the row's look depends on: rows are shown anew where anything changes."""
        return index

    def prepare(self, first: int, last: int) -> None:
        """Everything is there already."""

    def cells(self, index: int) -> Sequence[Cell]:
        """Return the cells of one row."""
        pair = self._comparison.pairs[index]
        cells = self._running(pair) if pair.under_way else self._complete(pair)
        if len(self._comparison.pairs) == 1:
            del cells[5]
        return cells

    def record(self, index: int) -> Record:
        """Return the values of one row; of a pair under way nothing but what may be looked at."""
        pair, metric = self._comparison.pairs[index], self._metric
        head: dict[str, Value] = {
            "first": pair.first.run_id,
            "second": pair.second.run_id,
            "metric": metric,
        }
        if pair.under_way:
            return head | _running_record(pair.running.get(metric))
        found = pair.by_metric.get(metric)
        if found is None:
            return {**head, "not_compared": pair.left_out.get(metric)}
        head |= {"difference": found.difference, "effect_size": found.effect_size}
        head |= {"wins": found.wins, "losses": found.losses, "ties": found.ties}
        if not self._tested:
            return head
        better = pair.better(metric)
        return head | {
            "lower": found.lower,
            "upper": found.upper,
            "p_randomisation": found.p_randomisation,
            "p_holm": pair.p_adjusted.get(metric),
            "p_bootstrap": found.p_bootstrap,
            "better": None if better is None else better.run_id,
        }

    def _head(self, pair: Pair) -> Cell:
        return Cell(f"{pair.second.letter} − {pair.first.letter}")

    def _complete(self, pair: Pair) -> list[Cell]:
        found, metric = pair.by_metric.get(self._metric), self._metric
        if found is None:
            return [self._head(pair), BLANK, Cell("not compared", "warn"), *[BLANK] * 9]
        difference = Cell(number(metric, found.difference, sign=True))
        counts = (found.wins, found.losses, found.ties)
        counted = [Cell(f"{n:,}") for n in counts] if any(counts) else [BLANK] * 3
        effect = BLANK if found.effect_size is None else Cell(figures.signed(found.effect_size, 2))
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
            Cell(figures.p_value(found.p_randomisation)),
            Cell(figures.p_value(pair.p_adjusted[metric])),
            Cell(figures.p_value(found.p_bootstrap)),
            effect,
            *counted,
            Cell("neither", "quiet") if better is None else Cell(better.letter, "good"),
        ]

    def _running(self, pair: Pair) -> list[Cell]:
        found, metric = pair.running.get(self._metric), self._metric
        if found is None:
            return [self._head(pair), BLANK, Cell("when complete", "quiet"), *[BLANK] * 9]
        better = pair.better(metric)
        return [
            self._head(pair),
            Cell(number(metric, found.mean, sign=True)),
            Cell(ends(metric, found), "mark"),
            Cell(self._line(found.mean, (found.lower, found.upper)), "mark"),
            *[BLANK] * 7,
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


def _running_record(found: RunningDifference | None) -> dict[str, Value]:
    if found is None:
        return {}
    return {
        "mean_difference": found.mean,
        "any_time_lower": found.lower,
        "any_time_upper": found.upper,
        "entries": found.entries,
    }
