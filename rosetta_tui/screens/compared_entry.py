"""One entry of several runs: every output against the reference and against each other, scores side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import Screen

from rosetta_tui.compare_order import View
from rosetta_tui.compare_words import GONE
from rosetta_tui.compared_page import EntryOfRuns, page_lines
from rosetta_tui.compared_texts import ComparedTexts
from rosetta_tui.cree import is_cree
from rosetta_tui.entry_page import tags
from rosetta_tui.line import Line
from rosetta_tui.messages import Copied
from rosetta_tui.text import show
from rosetta_tui.widgets.field import Field
from rosetta_tui.widgets.key_line import KeyLine
from rosetta_tui.widgets.where import Where

if TYPE_CHECKING:
    from harness.comparing import Comparison


class ComparedEntryScreen(Screen[int]):
    """Shows the entries of a table one by one; gives the place of the last one seen."""

    TITLE = "Entry"
    HELP = (
        "Each output is held against the reference, then the outputs of two runs against each other:\n"
        "[A→B] changed   [-only the first has it-]   [+only the second has it+].\n"
        "Entries of gold_standard and held_out are shown on this machine only, and never copied."
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "left,h", "step(-1)", "Prev", key_display="←", tooltip="Entry before", id="previous"
        ),
        Binding("right,l", "step(1)", "Next", key_display="→", tooltip="Entry after", id="next"),
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
        view: View,
    ) -> None:
        super().__init__()
        self._comparison = comparison
        self._texts = texts
        self._places = places
        self._index = index
        self._view = view
        self._turned = False
        """True where texts are shown in the other writing of the language."""

    @property
    def facts(self) -> EntryOfRuns | None:
        """Everything about the entry that is shown; None where it is gone since."""
        place, runs = self._places[self._index], range(len(self._comparison.runs))
        self._texts.load([place], runs)
        entry = self._texts.entry(place)
        if entry is None:
            return None
        results = [self._texts.result(run, place) for run in runs]
        return EntryOfRuns(self._comparison, self._view, place, entry, results, self._turned)

    @property
    def holds_secret(self) -> bool:
        """Whether text of a secret entry is shown, which no selection may take to the clipboard."""
        facts = self.facts
        return facts is not None and facts.secret

    def compose(self) -> ComposeResult:
        """Lay out where am I, the page, and the keys."""
        yield Where()
        yield VerticalScroll(id="page")
        yield KeyLine()

    async def on_mount(self) -> None:
        """Show the first entry."""
        self.query_one("#page").focus()
        await self._show()

    async def _show(self) -> None:
        facts = self.facts
        id_ = self._comparison.entries.ids[self._places[self._index]]
        self.query_one(Where).say(
            Content.assemble(
                show(str(id_), "bold"),
                (f"   {self._index + 1:,} of {len(self._places):,}   ", "$quiet"),
                Content() if facts is None else tags(facts.entry),
            )
        )
        lines = [Line("", show(GONE, "$warn"))] if facts is None else list(page_lines(facts))
        page = self.query_one("#page", VerticalScroll)
        fields = list(page.query(Field))
        async with self.batch():
            if len(fields) == len(lines):
                for field, line in zip(fields, lines, strict=True):
                    field.tell(*line)
            else:
                await page.remove_children()
                await page.mount_all([Field(*line) for line in lines])

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer the other writing where the language has one."""
        if action == "writing":
            return is_cree(self._comparison.sides[0].rows.setup.target_language)
        return super().check_action(action, parameters)

    async def action_step(self, by: int) -> None:
        """Go to the entry before or after, in the order of the table."""
        index = max(0, min(len(self._places) - 1, self._index + by))
        if index != self._index:
            self._index = index
            await self._show()
            self.query_one("#page").scroll_home(animate=False)

    async def action_writing(self) -> None:
        """Show the texts of the target language in its other writing, or as they are."""
        self._turned = not self._turned
        await self._show()

    def action_copy(self) -> None:
        """Put the outputs on the clipboard, harmless as shown; never those of a secret entry."""
        facts = self.facts
        if facts is None:
            self.notify("There is nothing to copy: it is gone since.", markup=False)
        elif facts.secret:
            self.notify("This entry belongs to a secret segment and is not copied.", markup=False)
        else:
            self.post_message(Copied(facts.copied, "Outputs"))

    def action_leave(self) -> None:
        """Go back to the table, at the entry seen last."""
        self.dismiss(self._places[self._index])
