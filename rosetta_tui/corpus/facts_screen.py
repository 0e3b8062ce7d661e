"""What one corpus is made of, where it came from, and what it lacks for a benchmark."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen

from harness.store.corpora.examination import Examination
from harness.store.corpora.listing import CorpusSummary
from rosetta_tui.corpus.facts import fact_lines
from rosetta_tui.corpus.originals import open_original
from rosetta_tui.toolkit.content import show
from rosetta_tui.toolkit.field import show_lines
from rosetta_tui.toolkit.key_line import KeyLine
from rosetta_tui.toolkit.where import Where


class CorpusFactsScreen(Screen[None]):
    """Counts and tags only, as ``rosetta corpus show`` gives them; no text of an entry."""

    TITLE = "Statistics"
    HELP = (
        "Each line: a value, how many entries have it, which share that is, and a bar of the share.\n"
        "Shares of scripts are shares of letters. Requirements are those of a complete benchmark;\n"
        "a corpus that does not meet them can be used all the same."
    )
    CSS_PATH = "corpus.tcss"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "original", "Original", tooltip="Open the file itself", id="corpus.original"),
        Binding("q,escape,i", "leave", "Back", key_display="q", id="back"),
    ]

    def __init__(self, summary: CorpusSummary, found: Examination) -> None:
        super().__init__()
        self._summary = summary
        self._found = found

    def compose(self) -> ComposeResult:
        """Lay out where am I, the page, and the keys."""
        yield Where()
        yield VerticalScroll(id="page")
        yield KeyLine()

    def on_mount(self) -> None:
        """Begin at the top."""
        self.query_one(Where).say(show(self._summary.dataset.id, "$quiet"))
        self.query_one("#page").focus()
        self.call_after_refresh(self._fill)

    async def _fill(self) -> None:
        """Show the lines, when the frame of the page stands there."""
        await show_lines(self.query_one("#page"), fact_lines(self._summary, self._found))

    def action_original(self) -> None:
        """Open the file that the corpus was read from."""
        open_original(self.app, self._found, None)

    def action_leave(self) -> None:
        """Go back to the entries."""
        self.dismiss(None)
