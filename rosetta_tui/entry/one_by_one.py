"""A page for each entry of a table: the way from one to the next, and back to the table."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import Screen

from corpora.model.entry import Entry, EntryId
from rosetta_tui.entry.page import tags
from rosetta_tui.show.cree import is_cree
from rosetta_tui.toolkit.content import PageLine, Where, show
from rosetta_tui.toolkit.key_line import KeyLine
from rosetta_tui.toolkit.messages import Copied
from rosetta_tui.toolkit.pages import UNREADABLE

STEPS: list[BindingType] = [
    Binding("left,h", "step(-1)", "Prev", key_display="←", tooltip="Entry before", id="previous"),
    Binding("right,l", "step(1)", "Next", key_display="→", tooltip="Entry after", id="next"),
]
"""The keys that lead from one entry to the next."""

NO_LINES = (PageLine("", show(f"This entry {UNREADABLE}.", "$bad")),)
"""The page of an entry that cannot be read."""


class EntryByEntryScreen(Screen[int]):
    """Shows the entries of a table one by one; gives the place of the last one seen."""

    TITLE = "Entry"

    def __init__(self, places: Sequence[int], index: int) -> None:
        super().__init__()
        self._places = places
        """In the corpus, in the order of the table."""
        self._index = index
        self._turned = False
        """True where texts are shown in the other writing of the language."""

    @property
    def place(self) -> int:
        """The place of the entry that is shown."""
        return self._places[self._index]

    @property
    def language(self) -> str:
        """The target language."""
        raise NotImplementedError

    @property
    def holds_secret(self) -> bool:
        """Whether text of a secret entry is shown, which no selection may take to the clipboard."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        """Lay out where am I, the page, and the keys."""
        yield Where()
        yield VerticalScroll(id="page")
        yield KeyLine()

    def on_mount(self) -> None:
        """Show the first entry, when the frame of the page stands there."""
        self.query_one("#page").focus()
        self.call_after_refresh(self._show)

    async def _show(self) -> None:
        """Show the entry."""
        raise NotImplementedError

    def _head(self, id_: EntryId, entry: Entry | None) -> Content:
        """Say which entry is shown, and what kind of one it is."""
        return Content.assemble(
            show(str(id_), "bold"),
            (f"   {self._index + 1:,} of {len(self._places):,}   ", "$quiet"),
            Content() if entry is None else tags(entry),
        )

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer the other writing where the language has one."""
        if action == "writing":
            return is_cree(self.language)
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

    def _copy(self, text: str, what: str) -> None:
        """Put text on the clipboard, harmless as shown; never that of a secret entry."""
        if self.holds_secret:
            self.notify("This entry is secret and is not copied.", markup=False)
        else:
            self.post_message(Copied(text, what))

    def action_leave(self) -> None:
        """Go back to the table, at the entry seen last."""
        self.dismiss(self.place)
