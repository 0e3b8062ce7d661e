"""Items that somebody called harmful or that split the panel: what waits for a decision."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from rosetta_tui.review.organiser.pages.hidden import hidden
from rosetta_tui.review.organiser.words.cases import so_far
from rosetta_tui.show import figures
from rosetta_tui.show.cells import Cell
from rosetta_tui.show.columns import Column
from rosetta_tui.toolkit.content import show
from rosetta_tui.toolkit.result_table import ResultTable

if TYPE_CHECKING:
    from review.verdict.gate.adjudication import Case
    from rosetta_tui.review.organiser.facts import ReviewNow

NOT_HERE = "(secret)"

_COLUMNS = (
    Column("text", "translation", 20, share=1),
    Column("reject", "reject", 6, right=True),
    Column("gist", "gist", 4, right=True),
    Column("acceptable", "accept.", 7, right=True),
    Column("excellent", "excell.", 7, right=True),
    Column("harmful", "harmful", 7, right=True),
    Column("said", "decided", 8),
)


class CaseRows:
    """One row for each item, in the order of the queue, which tells nothing of runs or people."""

    def __init__(self, now: ReviewNow) -> None:
        self._now = now

    @property
    def count(self) -> int:
        """How many items there are."""
        return len(self._now.cases)

    def key(self, index: int) -> Hashable:
        """Return the row's cells themselves: rows are few."""
        return self.cells(index)

    def cells(self, index: int) -> tuple[Cell, ...]:
        """Return the cells of one row."""
        case = self._now.cases[index]
        text = (
            Cell(NOT_HERE, "quiet")
            if self._now.secret
            else Cell(self._now.texts[case.item].candidate)
        )
        counts = (Cell(str(count) if count else "·") for count in case.counts)
        flags = Cell(
            figures.count(case.flags) if case.flags else "·", "warn" if case.is_open else "plain"
        )
        return (text, *counts, flags, decided_cell(case))

    def prepare(self, first: int, last: int) -> None:
        """Everything is there already."""


def decided_cell(case: Case) -> Cell:
    """Say what was decided, or that a flag waits."""
    if so_far(case):
        return Cell(so_far(case))
    return Cell("waits", "warn") if case.is_open else Cell("–", "quiet")


def split(now: ReviewNow) -> Iterator[Widget]:
    """Yield the section; of ratings nothing where looking would be a new look."""
    flagged = sum(case.is_open for case in now.cases)
    if now.unseen:
        words = f"{flagged} called harmful and not decided. An open flag stops the gate.\n"
        yield Static(show(words, "bold $warn" if flagged else "$quiet"), classes="words")
        yield from hidden(now, now.most_looked, "What split the panel, and how it was rated,")
        return
    if not now.cases:
        yield Static(show("Nothing waits: no open flag, no item that splits the panel."))
        return
    apart = sum(case.is_split for case in now.cases)
    yield Static(
        Content.assemble(
            (f"{flagged} called harmful and not decided", "bold $warn" if flagged else ""),
            f" · {apart} rated two steps apart or more\n",
            ("Decided without system and names: enter opens one. An open flag stops the gate.", "$quiet"),
        ),
        classes="words",
    )  # fmt: skip
    yield ResultTable(_COLUMNS, CaseRows(now), id="cases")
