"""One entry of several runs: every output against the reference and against each other, scores side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from rosetta_tui.compare.entry_page import EntryOfRuns, page_lines
from rosetta_tui.compare.order import ComparisonView
from rosetta_tui.compare.texts import ComparedTexts
from rosetta_tui.entry.one_by_one import NO_LINES, STEPS, EntryByEntryScreen
from rosetta_tui.toolkit.field import show_lines
from rosetta_tui.toolkit.where import Where

if TYPE_CHECKING:
    from harness.compare.comparison import Comparison


class ComparedEntryScreen(EntryByEntryScreen):
    """Shows the entries of a table one by one; gives the place of the last one seen."""

    HELP = (
        "Each output is held against the reference, then the outputs of two runs against each other:\n"
        "[A→B] changed   [-only the first has it-]   [+only the second has it+].\n"
        "Entries of gold_standard and held_out are shown on this machine only, and never copied."
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        *STEPS,
        Binding("v", "writing", "SRO/syllabics", id="entry.writing"),
        Binding("y", "copy", "Copy", tooltip="Copy the outputs", id="copy"),
        Binding("q,escape", "leave", "Back", key_display="q", id="back"),
    ]

    def __init__(
        self,
        comparison: Comparison,
        texts: ComparedTexts,
        places: Sequence[int],
        index: int,
        view: ComparisonView,
    ) -> None:
        super().__init__(places, index)
        self._comparison = comparison
        self._texts = texts
        self._view = view

    @property
    def facts(self) -> EntryOfRuns | None:
        """Everything about the entry that is shown; None where it cannot be read."""
        place, runs = self.place, range(len(self._comparison.runs))
        self._texts.load([place], runs)
        entry = self._texts.entry(place)
        if entry is None:
            return None
        results = [self._texts.result(run, place) for run in runs]
        return EntryOfRuns(self._comparison, self._view, place, entry, results, self._turned)

    @property
    def language(self) -> str:
        """The target language."""
        return self._comparison.sides[0].rows.setup.target_language

    @property
    def holds_secret(self) -> bool:
        """Whether text of a secret entry is shown, which no selection may take to the clipboard."""
        facts = self.facts
        return facts is not None and facts.secret

    async def _show(self) -> None:
        facts = self.facts
        id_ = self._comparison.entries.ids[self.place]
        self.query_one(Where).say(self._head(id_, None if facts is None else facts.entry))
        lines = NO_LINES if facts is None else page_lines(facts)
        await show_lines(self.query_one("#page"), lines)

    def action_copy(self) -> None:
        """Put the outputs on the clipboard, harmless as shown; never those of a secret entry."""
        facts = self.facts
        if facts is None:
            self.notify("There is nothing to copy: it cannot be read.", markup=False)
        else:
            self._copy(facts.copied, "Outputs")
