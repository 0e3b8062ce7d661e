"""Where the difference of two runs lies: parts of the corpus, each with an interval where it is large enough."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from rosetta_tui.compare.lines import ordered
from rosetta_tui.compare.part_rows import PartRows, part_columns
from rosetta_tui.compare.sentences import name
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import bring
from rosetta_tui.toolkit.content import show
from rosetta_tui.toolkit.dialogs.choose import choose
from rosetta_tui.toolkit.empty_state import EmptyState
from rosetta_tui.toolkit.key_line import KeyLine
from rosetta_tui.toolkit.result_table import ResultTable
from rosetta_tui.toolkit.where import Where

if TYPE_CHECKING:
    from harness.compare.comparison import Comparison
    from harness.compare.pairs import Pair


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
        """Lay out where am I, what is compared, the parts, and the keys."""
        yield Where()
        yield Static(id="notes")
        yield EmptyState("Comparing the parts …")
        yield ResultTable((), id="parts")
        yield KeyLine()

    def on_mount(self) -> None:
        """Work the parts out in a thread."""
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
        table.show_columns(part_columns(pair))
        table.show_rows(self.rows)
        table.focus()
        head = f"{pair.second.letter} − {pair.first.letter} by {name(self._metric)}"
        told = "parts are not tested: of twenty one differs by chance"
        self.query_one("#notes", Static).update(
            Content.assemble(show(head, "bold"), show(f" · {told}", "$quiet"))
        )

    def action_metric(self) -> None:
        """Ask by which metric to compare."""
        words = {id_: plain(name(id_)) for id_ in ordered(self._comparison.metrics)}
        if self._read:
            choose(self.app, "Compare by", words, self._metric, self._compare_by)

    def _compare_by(self, metric: str) -> None:
        self._metric = metric
        self._show()

    def action_turn(self, by: int) -> None:
        """Go to the pair before or after."""
        if self._read:
            self._index = (self._index + by) % len(self._comparison.pairs)
            self._show()

    @on(ResultTable.Chosen)
    def _chosen(self, event: ResultTable.Chosen) -> None:
        row = None if self.rows is None else self.rows.rows[event.index]
        if row is not None and row.tag is not None:
            self.dismiss((row.dimension, row.tag))

    def action_leave(self) -> None:
        """Go back."""
        self.dismiss(None)
