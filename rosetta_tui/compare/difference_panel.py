"""What a comparison says at the top: the sentence, the runs on one axis, and every pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.message import Message

from rosetta_tui.compare.difference_axis import DifferenceAxis
from rosetta_tui.compare.pair_rows import PairRows, pair_columns
from rosetta_tui.compare.words import said
from rosetta_tui.toolkit.result_table import ResultTable
from rosetta_tui.toolkit.telling import Telling

if TYPE_CHECKING:
    from harness.compare.comparison import Comparison
    from harness.compare.pairs import Pair

MOST_PAIRS = 4
"""Pairs seen at once where the screen is small."""

ROOMY = 36
"""Lines of a screen from which on all pairs are seen, and the facts of each run."""


class DifferencePanel(Vertical):
    """Holds which pair is spoken of."""

    @dataclass
    class PairChanged(Message):
        """Another pair is spoken of."""

        panel: DifferencePanel

    def __init__(self) -> None:
        super().__init__(id="differences")
        self._comparison: Comparison | None = None
        self._metric = ""
        self._tested = False
        self._chosen: tuple[str, str] | None = None
        """Ids of the pair that is spoken of."""

    def compose(self) -> ComposeResult:
        """Lay out the sentence, the axis and the pairs."""
        yield Telling(id="said")
        with Container(id="top"):
            with Vertical(id="runs"):
                yield DifferenceAxis()
            yield ResultTable((), id="pairs")

    @property
    def pairs(self) -> ResultTable:
        """The pairs."""
        return self.query_one("#pairs", ResultTable)

    @property
    def pair(self) -> Pair | None:
        """The pair that is spoken of."""
        if self._comparison is None or not self._comparison.pairs:
            return None
        return self._comparison.pairs[min(self.pairs.cursor, len(self._comparison.pairs) - 1)]

    @property
    def letters(self) -> tuple[str, str]:
        """Letters of the pair that is spoken of."""
        pair = self.pair
        return ("A", "B") if pair is None else (pair.first.letter, pair.second.letter)

    def show_runs(self, comparison: Comparison, metric: str, *, tested: bool) -> None:
        """Show runs by a metric; the same pair is spoken of as before, where it is among them."""
        self._comparison, self._metric, self._tested = comparison, metric, tested
        ids = [(pair.first.run_id, pair.second.run_id) for pair in comparison.pairs]
        cursor = ids.index(self._chosen) if self._chosen in ids else 0
        self.share_height()
        self.pairs.show_columns(pair_columns(comparison))
        self.pairs.show_rows(PairRows(comparison, metric, tested=tested), cursor)
        self.pairs.can_focus = bool(ids)
        self._tell()

    def share_height(self) -> None:
        """Show as many pairs at once as the screen has room for."""
        if self._comparison is not None:
            pairs = len(self._comparison.pairs)
            seen = pairs if self.app.size.height >= ROOMY else min(pairs, MOST_PAIRS)
            self.pairs.styles.height = seen + 1
            self.query_one(DifferenceAxis).refresh(layout=True)

    def _tell(self) -> None:
        """Say everything that is said about the pair under the cursor."""
        found, pair = self._comparison, self.pair
        if found is None or pair is None:
            return
        self._chosen = (pair.first.run_id, pair.second.run_id)
        axis, line = self.query_one(DifferenceAxis), self.query_one("#said", Telling)
        axis.show_runs(found, self._metric, frozenset(self.letters), tested=self._tested)
        line.tell(said(found, pair, self._metric, tested=self._tested))

    def turn(self, by: int) -> None:
        """Go to the pair before or after."""
        if self._comparison is not None and len(self._comparison.pairs) > 1:
            self.pairs.move_to((self.pairs.cursor + by) % len(self._comparison.pairs))
            self._moved()

    @on(ResultTable.Moved, "#pairs")
    def _moved(self) -> None:
        self._tell()
        self.post_message(self.PairChanged(self))
