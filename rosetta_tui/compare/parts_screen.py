"""Where the difference of two runs lies: parts of the corpus, each with an interval where it is large enough."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from rosetta_tui.compare.difference_panel import BLANK, LINE
from rosetta_tui.compare.lines import ordered
from rosetta_tui.compare.sentences import kept_words, name, number
from rosetta_tui.show import figures
from rosetta_tui.show.columns import WITHHELD, Cell, Column, Record, Rows, Value
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import bring
from rosetta_tui.toolkit.content import EmptyState, StatusBar, show
from rosetta_tui.toolkit.dialogs.choose import choose
from rosetta_tui.toolkit.key_line import KeyLine
from rosetta_tui.toolkit.result_table import ResultTable
from scoring.statistics.intervals import LEAST_FOR_INTERVAL

if TYPE_CHECKING:
    from harness.compare.comparison import Breakdown, Comparison, CorpusPart
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


@dataclass(frozen=True, slots=True)
class PartRow:
    """One line: the name of a dimension, or one of its parts."""

    dimension: str
    tag: str | None  # none: the line is the dimension's title
    part: CorpusPart | None = None


class PartRows(Rows[PartRow]):
    """Parts of the corpus under the dimension that they belong to, for one pair and metric."""

    def __init__(self, breakdowns: Mapping[str, Breakdown], pair: Pair, metric: str) -> None:
        super().__init__(
            [
                row
                for dimension, parts in breakdowns.items()
                for row in (
                    PartRow(dimension, None),
                    *(PartRow(dimension, tag, part) for tag, part in parts.items()),
                )
            ]
        )
        self._pair = pair
        self._metric = metric
        self._reach = (
            max((abs(e) for row in self.items for e in self._ends(row)), default=1.0) or 1.0
        )

    def key(self, index: int) -> Hashable:
        """Return what the row's look depends on: rows are shown again where anything changes."""
        return index

    def _ends(self, row: PartRow) -> tuple[float, ...]:
        if row.part is None:
            return ()
        part_difference = row.part.differences[self._letters].get(self._metric)
        if part_difference is None:
            return ()
        return (part_difference.difference, *(part_difference.interval or ()))

    def record(self, index: int) -> Record:
        """Return the values of one row; a dimension's title has none."""
        row, metric = self.items[index], self._metric
        record: dict[str, Value] = {"dimension": row.dimension, "part": row.tag, "metric": metric}
        if row.part is None:
            return record
        if why := kept_words(self._pair):
            return {**record, WITHHELD: why}
        part_difference = row.part.differences[self._letters].get(metric)
        low, high = (
            (None, None)
            if part_difference is None or part_difference.interval is None
            else part_difference.interval
        )
        return {
            **record,
            "entries": row.part.n,
            **{letter: row.part.values[letter].get(metric) for letter in self._letters},
            "difference": None if part_difference is None else part_difference.difference,
            "lower": low,
            "upper": high,
        }

    @property
    def _letters(self) -> tuple[str, str]:
        return (self._pair.first.letter, self._pair.second.letter)

    def cells(self, index: int) -> Sequence[Cell]:
        row, metric = self.items[index], self._metric
        if row.part is None:
            return (Cell(f"by {row.dimension}", "quiet"), *[Cell("")] * 6)
        head = (Cell(f"  {row.tag}"), Cell(f"{row.part.n:,}"))
        values = (row.part.values[letter].get(metric) for letter in self._letters)
        shown = [BLANK if value is None else Cell(number(metric, value)) for value in values]
        part_difference = row.part.differences[self._letters].get(metric)
        if part_difference is None:
            return (*head, *shown, BLANK, BLANK, Cell(""))
        difference = Cell(number(metric, part_difference.difference, sign=True))
        if part_difference.interval is None:
            few = Cell(f"n<{LEAST_FOR_INTERVAL}, too few", "quiet")
            return (*head, *shown, difference, few, Cell(""))
        low, high = (number(metric, end, sign=True) for end in part_difference.interval)
        reach, value = self._reach, part_difference.difference
        line = figures.interval_bar(
            value, part_difference.interval, low=-reach, top=reach, width=LINE
        )
        return (*head, *shown, difference, Cell(f"{low} … {high}", "quiet"), Cell(line, "mark"))


class ComparedPartsScreen(Screen[tuple[str, str] | None]):
    """Gives the dimension and tag of the part whose entries a person wants to see, None for none."""

    TITLE = "Parts"
    HELP = (
        "Each part is compared on its own entries. Parts are not tested: of twenty parts one differs "
        "by chance. Too few entries: no interval says more than it hides."
    )
    CSS_PATH = "compare.tcss"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("m", "metric", "Metric", id="compare.metric"),
        Binding("left,h", "turn(-1)", "Pair before", show=False, id="previous"),
        Binding("right,l", "turn(1)", "Pair after", show=False, id="next"),
        Binding("q,escape", "leave", "Back", key_display="q", id="back"),
    ]

    def __init__(self, comparison: Comparison, pair: Pair, metric: str) -> None:
        super().__init__()
        self._comparison = comparison
        self._index = comparison.pairs.index(pair)
        self._metric = metric
        self._read = False
        self.rows: PartRows | None = None

    def compose(self) -> ComposeResult:
        yield StatusBar()
        yield Static(id="notes")
        yield EmptyState("Comparing the parts …")
        yield ResultTable((), id="parts")
        yield KeyLine()

    def on_mount(self) -> None:
        self.query_one("#parts").display = False
        self._work()

    @work(thread=True, exclusive=True, group="parts")
    def _work(self) -> None:
        _ = self._comparison.breakdowns  # worked out once, then kept
        bring(self, self._show)

    def _show(self) -> None:
        self._read = True
        pair, table = self._comparison.pairs[self._index], self.query_one("#parts", ResultTable)
        parted = {name_: p for name_, p in self._comparison.breakdowns.items() if len(p) > 1}
        if not parted:
            self.query_one(EmptyState).say(
                "There are no parts to compare.",
                "The entries have no difficulty, provenance, register or context that divides them.",
            )
            return
        self.query_one(EmptyState).display = False
        table.display = True
        self.rows = PartRows(parted, pair, self._metric)
        # Name the columns of values after the runs.
        letters = {"first": pair.first.letter, "second": pair.second.letter}
        part_columns = [
            replace(column, title=letters.get(column.key, column.title)) for column in PARTS
        ]
        table.show_columns(part_columns)
        table.show_rows(self.rows)
        table.focus()
        head = f"{pair.second.letter} − {pair.first.letter} by {name(self._metric)}"
        message = "parts are not tested: of twenty one differs by chance"
        self.query_one("#notes", Static).update(
            Content.assemble(show(head, "bold"), show(f" · {message}", "$quiet"))
        )

    def action_metric(self) -> None:
        words = {id_: plain(name(id_)) for id_ in ordered(self._comparison.metrics)}
        if self._read:
            choose(self.app, "Compare by", words, self._metric, self._compare_by)

    def _compare_by(self, metric: str) -> None:
        self._metric = metric
        self._show()

    def action_turn(self, by: int) -> None:
        if self._read:
            self._index = (self._index + by) % len(self._comparison.pairs)
            self._show()

    @on(ResultTable.Chosen)
    def _chosen(self, event: ResultTable.Chosen) -> None:
        row = None if self.rows is None else self.rows.items[event.index]
        if row is not None and row.tag is not None:
            self.dismiss((row.dimension, row.tag))

    def action_leave(self) -> None:
        self.dismiss(None)
