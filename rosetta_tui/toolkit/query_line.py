"""The filter above a table: what is typed, what may follow, how much it finds, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
from textual.content import Content
from textual.widgets import Input, Label, OptionList, Static
from textual.widgets.option_list import Option

from corpora.text.messages import shortened
from harness.core.query import Completion, Fields, Query, QueryError, completions
from rosetta_tui.toolkit.content import Harmless, show

MOST_OFFERED = 60  # completions; typing finds the others
NARROW = 110  # cells below which what the filter finds stands below it
_WIDEST = 24  # cells of a completion before its explanation


class QueryInput(Input):
    """Offers fields and words of the filter as one types."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "offer(1)", "Next completion", show=False, id="filter.next"),
        Binding("up", "offer(-1)", "Completion before", show=False, id="filter.previous"),
        Binding("tab", "complete", "Complete", id="filter.complete"),
        Binding("enter", "submit", "To the rows", id="filter.enter"),
    ]

    def __init__(self, placeholder: str, fields: Callable[[], Fields]) -> None:
        super().__init__(placeholder=placeholder, id="search", highlighter=Harmless(), select_on_focus=False)
        self._fields = fields
        self.offered: list[Completion] = []

    @property
    def _list(self) -> OptionList:
        return self.screen.query_one("#completions", OptionList)

    def on_focus(self) -> None:
        self.offer()

    def on_blur(self) -> None:
        self._list.display = False

    def on_input_changed(self) -> None:
        if self.has_focus:
            self.offer()

    def offer(self) -> None:
        """Show what may follow what stands before the cursor."""
        before = self.value[: self.cursor_position]
        self.offered = completions(before, self._fields())[:MOST_OFFERED]
        if len(self.offered) == 1 and before.endswith(self.offered[0].text):
            self.offered = []  # it stands there already
        self._list.clear_options().add_options([Option(_words(offered)) for offered in self.offered])
        self._list.highlighted = None
        self._list.display = bool(self.offered)

    def action_offer(self, by: int) -> None:
        if self.offered:
            now = self._list.highlighted
            self._list.highlighted = (
                (0 if by > 0 else -1) % len(self.offered) if now is None else (now + by) % len(self.offered)
            )

    def action_complete(self) -> None:
        """Write the completion that is highlighted, or the first; without any move to the rows."""
        if self._list.display and self.offered:
            self.take(self._list.highlighted or 0)
        else:
            self.screen.focus_next()

    async def action_submit(self) -> None:
        if self._list.display and self._list.highlighted is not None:
            self.take(self._list.highlighted)
        elif self._list.display and len(self.offered) == 1 and not self._is_readable():
            self.take(0)
        else:
            await super().action_submit()

    def _is_readable(self) -> bool:
        try:
            Query.of(self.value, self._fields())
        except QueryError:
            return False
        return True

    def take(self, index: int) -> None:
        """Replace the word under the cursor with a completion."""
        chosen, after = self.offered[index], self.value[self.cursor_position :]
        space = "" if chosen.text[-1] in ":<" else " "
        begun = self.value[: chosen.start] + chosen.text + space
        self.value = begun + after
        self.cursor_position = len(begun)
        self.offer()


def _words(offered: Completion) -> Content:
    name = shortened(offered.text, _WIDEST)
    return Content.assemble(show(f"{name:<14} "), show(offered.about, "$quiet"))


class QueryLine(Container):
    """One row: the filter and what it finds; below it, over the table, what may follow."""

    def __init__(self, placeholder: str, fields: Callable[[], Fields]) -> None:
        super().__init__()
        self._placeholder, self._fields = placeholder, fields

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Label("filter")
            yield QueryInput(self._placeholder, self._fields)
            yield Static(id="matches")
        offered = OptionList(id="completions")
        offered.can_focus = False
        yield offered

    def on_resize(self) -> None:
        self.set_class(self.size.width < NARROW, "-narrow")

    def read(self, text: str, *, typing: bool = True) -> Query | None:
        """Return the query of a text; None where it cannot be read, which is shown unless it can still become one."""
        field = self.query_one(QueryInput)
        typing = typing and field.has_focus
        try:
            return Query.of(text, self._fields(), typing=typing)
        except QueryError as error:
            self.say("" if typing and field.offered else str(error), "$warn")
            return None

    def say(self, words: str, tone: str = "$mark") -> None:
        """Show what the filter finds, or what is wrong with it."""
        line, content = self.query_one("#matches", Static), show(words, tone)
        line.update(content, layout=content.cell_length != Content(str(line.content)).cell_length)
        line.display = bool(words)

    @on(OptionList.OptionSelected, "#completions")
    def _picked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        field = self.query_one(QueryInput)
        field.take(event.option_index)
        field.focus()
