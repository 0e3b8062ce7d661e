"""The original and its translation: the only things on the page that a person has to read."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from review.session.view import ShownItem
from review.session.words.item import Mark
from rosetta_tui.review.rating.parts.render import told
from rosetta_tui.toolkit.content import show_lines


class Texts(VerticalScroll):
    """Scrolls where a text is long; the labels below stay where they are."""

    can_focus = False

    def compose(self) -> ComposeResult:
        """Lay out both texts under their names."""
        yield Static(id="source-name", classes="name")
        yield Static(id="source")
        yield Static(id="candidate-name", classes="name")
        yield Static(id="candidate")
        yield Static(id="marks")

    def name_them(self, original: str, translation: str) -> None:
        """Say which text is which, in the reviewer's language."""
        self.query_one("#source-name", Static).update(told(original))
        self.query_one("#candidate-name", Static).update(told(translation))

    def show_item(self, item: ShownItem, marks: Sequence[Mark]) -> None:
        """Show an item from its beginning."""
        self.query_one("#source", Static).update(show_lines(item.source))
        self.query_one("#candidate", Static).update(show_lines(item.candidate, "bold"))
        self.show_marks(marks)
        self.scroll_home(animate=False)

    def show_marks(self, marks: Sequence[Mark]) -> None:
        """Show what the person added to the item."""
        line = self.query_one("#marks", Static)
        line.display = bool(marks)
        line.update(Content("\n").join(map(_mark, marks)))

    @property
    def more_below(self) -> bool:
        """Whether a part of the texts is below what is seen."""
        return self.scroll_offset.y < self.max_scroll_y


def _mark(mark: Mark) -> Content:
    said = told(mark.said, "$warn" if mark.warns else "$quiet")
    return Content.assemble(said, " ", show_lines(mark.text)) if mark.text else said
