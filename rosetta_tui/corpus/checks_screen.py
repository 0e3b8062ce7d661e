"""What the checks of a corpus found; a finding leads to the entries that it is about."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from corpora.files.decode import Original
from corpora.files.problems import Problem, Severity
from rosetta_tui.show import figures
from rosetta_tui.show.columns import Cell, Column, Rows
from rosetta_tui.toolkit.content import EmptyState, StatusBar, show
from rosetta_tui.toolkit.key_line import KeyLine
from rosetta_tui.toolkit.result_table import ResultTable

COLUMNS = (
    Column("severity", "", 9),
    Column("entries", "entries", 7, right=True),
    Column("line", "line", 6, right=True, drop=2),
    Column("field", "field", 12, drop=1),
    Column("message", "what", 30, share=1),
)
"""What a row shows of a finding."""


class ProblemRows(Rows[Problem]):
    """One row for each finding."""

    def key(self, index: int) -> Hashable:
        """Findings do not change."""
        return index

    def cells(self, index: int) -> Sequence[Cell]:
        """Return the cells of one row."""
        problem = self.items[index]
        error = problem.severity is Severity.ERROR
        return (
            Cell("✗ error" if error else "! warning", "bad" if error else "warn"),
            Cell(figures.count(len(problem.places)) if problem.places else figures.NONE),
            Cell(figures.count(problem.line), "quiet"),
            Cell(problem.field or figures.NONE, "quiet"),
            Cell(problem.message),
        )


class CorpusChecksScreen(Screen[int | None]):
    """Gives the number of the finding whose entries are to be shown, None where nobody chose one."""

    TITLE = "Checks"
    HELP = (
        "The same findings as `rosetta corpus check`. No message quotes the text of an entry.\n"
        "enter shows the entries that a finding is about."
    )
    CSS_PATH = "corpus.tcss"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,escape,c", "leave", "Back", key_display="q", id="back")
    ]

    def __init__(self, problems: Sequence[Problem], original: Original | None) -> None:
        """Show findings; ``original`` is what became of the file, None where it could not be used."""
        super().__init__()
        self._problems = problems
        self._original = original

    def compose(self) -> ComposeResult:
        yield StatusBar()
        yield EmptyState(
            "The checks found nothing.",
            "Statistics say what a complete benchmark needs beyond that.",
        )
        yield ResultTable(COLUMNS, ProblemRows(self._problems), id="problems")
        yield Static(id="finding")
        yield KeyLine()

    def on_mount(self) -> None:
        """Show the first finding."""
        self.query_one(EmptyState).display = not self._problems
        self.table.display = self.query_one("#finding").display = bool(self._problems)
        self.query_one(StatusBar).say(self._told())
        self.table.focus()
        self._moved()

    def _told(self) -> Content:
        match self._original:
            case None:
                return show(f"cannot be used: {self._problems[0].file}", "$bad")
            case Original.UNCHANGED:
                return Content()
            case _:
                words = "without the file: what the entries alone can tell"
                return Content.styled(words, "$quiet")

    @property
    def table(self) -> ResultTable:
        """The findings."""
        return self.query_one("#problems", ResultTable)

    @on(ResultTable.Moved)
    def _moved(self) -> None:
        if self._problems:
            problem = self._problems[self.table.cursor]
            self.query_one("#finding", Static).update(
                Content.assemble(show(problem.message), "\n", show(problem.mend, "$mark"))
            )

    @on(ResultTable.Chosen)
    def _open(self, event: ResultTable.Chosen) -> None:
        if self._problems[event.index].places:
            self.dismiss(event.index)
        else:
            self.notify("This is about the file as a whole.", markup=False)

    def action_leave(self) -> None:
        self.dismiss(None)
