"""The runs of the store: searched, sorted, marked, with the cursor kept on its run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rosetta_tui.runs.query import RunQuery
from rosetta_tui.runs.rows import COLUMNS, UNDER_WAY, RunRows
from rosetta_tui.toolkit.result_table import ResultTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.store.runs import RunSummary


class RunTable(ResultTable):
    """Holds every run and shows those that are wished for."""

    def __init__(self) -> None:
        super().__init__(COLUMNS, id="runs")
        self.every: Sequence[RunSummary] | None = None
        """All runs; None until they were read for the first time."""
        self.runs: Sequence[RunSummary] = ()
        """Those that are shown, as they are shown."""
        self.query_now = RunQuery()
        self.others: frozenset[str] = frozenset()
        """Ids of runs whose composite does not compare with most of the same corpus."""
        self.marked: dict[str, None] = {}
        """Ids of marked runs, in the order in which they were marked."""

    @property
    def chosen(self) -> RunSummary | None:
        """The run under the cursor."""
        return self.runs[self.cursor] if self.runs else None

    def take(self, runs: Sequence[RunSummary], *, newest: bool = False) -> None:
        """Show these runs from now on; with ``newest`` the cursor goes to the newest that was not there before."""
        known = {run.run_id for run in self.every or ()}
        new = (run.run_id for run in runs if run.run_id not in known)
        wanted = next(new, None) if newest else None
        self.every = runs
        self.marked = {id_: None for id_ in self.marked if any(r.run_id == id_ for r in runs)}
        self._show(wanted)

    def wish(self, query: RunQuery) -> None:
        """Show other runs, or in another order."""
        self.query_now = query
        self._show()

    def search(self, text: str) -> None:
        """Show the runs that fit what was typed."""
        self.wish(replace(self.query_now, search=text))

    def _show(self, wanted: str | None = None) -> None:
        here = self.chosen
        self.runs = self.query_now.apply(self.every or (), UNDER_WAY)
        rows = RunRows(self.runs, frozenset(self.marked))
        self.others = rows.others
        target = wanted or (here.run_id if here else None)
        self.show_rows(rows, None if target is None else rows.find(target))

    def go_to(self, run_id: str) -> None:
        """Put the cursor on a run, where it is shown."""
        place = next((i for i, run in enumerate(self.runs) if run.run_id == run_id), None)
        if place is not None:
            self._move(place)

    def mark(self) -> None:
        """Mark the run under the cursor, or take its mark away, and go on to the next."""
        if self.chosen is not None:
            run_id = self.chosen.run_id
            if run_id in self.marked:
                del self.marked[run_id]
            else:
                self.marked[run_id] = None
            self._show()
            self.action_move(1)

    @property
    def listed(self) -> tuple[str, ...]:
        """Ids of the marked runs, or of all that are shown where none is marked."""
        return tuple(self.marked) or tuple(run.run_id for run in self.runs)

    def pair(self) -> tuple[str, ...]:
        """Return what a comparison means here: the marked runs, else the chosen one and its neighbour.

        The neighbour is the next run of the same corpus, else the one before, and stands first: the
        list begins with the newest, and a difference is seen from the first. One marked run is compared
        with the chosen one. Fewer than two ids where there is nothing to compare with.
        """
        if len(self.marked) > 1 or self.chosen is None:
            return tuple(self.marked)
        chosen = self.chosen
        if self.marked and chosen.run_id not in self.marked:
            return (*self.marked, chosen.run_id)
        after, before = self.runs[self.cursor + 1 :], self.runs[: self.cursor][::-1]
        for run in (*after, *before):
            if run.dataset_id == chosen.dataset_id and run.language_pair == chosen.language_pair:
                return (run.run_id, chosen.run_id)
        return (chosen.run_id,)
