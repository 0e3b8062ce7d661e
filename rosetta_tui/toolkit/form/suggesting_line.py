"""A line to type that offers what there is: files and folders, names, models."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option
from textual.worker import Worker, WorkerError

from rosetta_tui.request.suggesting import Suggest, Suggestion
from rosetta_tui.toolkit.background import bring
from rosetta_tui.toolkit.content import Harmless, show

LIST_SECONDS = 2.0  # how long enter waits for a list that is being found


class SuggestingLine(Vertical):
    """Type, or go down into the list; enter takes what is marked, and continues into a folder."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "move(1)", "List", show=False),
        Binding("up", "move(-1)", "List", show=False),
        Binding("pagedown", "move(8)", "List", show=False),
        Binding("pageup", "move(-8)", "List", show=False),
        Binding("escape", "close", "Close the list", show=False),
    ]

    @dataclass
    class TextChanged(Message):
        line: SuggestingLine

    @dataclass
    class TextAgreed(Message):
        """Enter was pressed where there was nothing to take: the person continues."""

        line: SuggestingLine

    input = getters.query_one(Input)

    def __init__(self, value: str, suggest: Suggest, placeholder: str = "", *, completes: bool = False) -> None:
        """``completes``: enter puts the only thing that fits instead of what was typed."""
        super().__init__()
        self._completes, self._initial, self._placeholder = completes, value, placeholder
        self.suggest = suggest  # may be exchanged at any time
        self._offered: list[Suggestion] = []
        self._list: OptionList | None = None
        self._taken = value  # the text that was not typed, and so opens no list
        self._looking: Worker[None] | None = None  # what finds the list, until it has been found
        self._moves: list[int] = []  # steps asked for while the list was being found

    def compose(self) -> ComposeResult:
        yield Input(self._initial, self._placeholder, highlighter=Harmless(), compact=True, select_on_focus=False)

    @property
    def offers(self) -> OptionList:
        """The list, made when it is opened for the first time."""
        if self._list is None:
            self._list = OptionList(compact=True)
            self._list.can_focus = False
            self.mount(self._list)
        return self._list

    def take_focus(self) -> None:
        self.input.focus()

    @property
    def is_open(self) -> bool:
        return self.has_class("-open")

    @property
    def value(self) -> str:
        return self.input.value if self.is_mounted else self._initial

    def put(self, value: str) -> None:
        """Set a text as if it had not been typed."""
        self._taken = self._initial = value
        if self.is_mounted:
            self.input.value = value
            self.input.cursor_position = len(value)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._catch_up()
        self.post_message(self.TextChanged(self))

    def _catch_up(self) -> None:
        """Find what is in the line; a key that acts may come before the message of what was typed."""
        if self.value != self._taken:
            self._taken = self.value
            self._look(self.value)

    @on(Input.Submitted)
    async def _agreed(self, event: Input.Submitted) -> None:
        """Choose what is marked, or the only thing that fits; keys behind this one wait until it is known."""
        event.stop()
        # Wait until the list is found that is being looked for; not for ever, as a disk may hang.
        waited = self._looking
        if waited is not None:
            with suppress(TimeoutError, WorkerError):
                await asyncio.wait_for(asyncio.shield(waited.wait()), LIST_SECONDS)
            self._looking = None
        place = self.offers.highlighted if self.is_open else None
        if place is not None:
            self._take(self._offered[place])
            return
        if self._completes and self.is_open and len(self._offered) == 1:
            self._take(self._offered[0])
            if self._offered[0].goes_on:
                return
        self.action_close()
        self.post_message(self.TextAgreed(self))

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self._take(self._offered[event.option_index])

    @on(Input.Blurred)
    def _left(self) -> None:
        self.action_close()

    def _take(self, chosen: Suggestion) -> None:
        self.put(chosen.value)
        self.post_message(self.TextChanged(self))
        if chosen.goes_on:
            self._look(chosen.value)
        else:
            self.action_close()

    def action_open(self) -> None:
        self._look("", self.value, asked_for=True)

    def action_move(self, by: int) -> None:
        """Open the list, or go through it; where somebody types, nothing is marked before they go there."""
        self._catch_up()
        if self._looking is not None:
            self._moves.append(by)
        elif not self.is_open:
            self.action_open()
        else:
            before = self.offers.highlighted
            last = self.offers.option_count - 1
            self.offers.highlighted = 0 if before is None else max(0, min(last, before + by))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002  Textual's form
        return self.is_open if action == "close" else True

    def action_close(self) -> None:
        self.workers.cancel_group(self, "offers")
        self._looking = None
        self._moves.clear()
        self.remove_class("-open")

    def _look(self, typed: str, marked: str = "", *, asked_for: bool = False) -> None:
        """Find what fits a text; where a person asked for the list, everything, with what holds now marked."""
        self._looking = self._find(typed, marked, asked_for)

    @work(thread=True, exclusive=True, group="offers")
    def _find(self, typed: str, marked: str, asked_for: bool) -> None:
        suggestions = self.suggest(typed)
        if marked and not any(suggestion.value == marked for suggestion in suggestions):
            suggestions = self.suggest(marked) or suggestions  # a path: what lies beside it
        bring(self, self._offer, suggestions, marked, asked_for)

    def _offer(self, found: list[Suggestion], marked: str, asked_for: bool) -> None:
        self._looking = None
        moves, self._moves = self._moves, []
        if not (asked_for or self.input.has_focus):
            return
        if not asked_for and [suggestion.value for suggestion in found] == [self.value]:
            found = []  # it says nothing new, and would cover what is said of the value
        self._offered = found
        self.offers.clear_options()
        self.offers.add_options([Option(_words(suggestion)) for suggestion in found])
        place = next((n for n, suggestion in enumerate(found) if suggestion.value == marked), None)
        self.offers.highlighted = 0 if place is None and asked_for and found else place
        self.set_class(bool(found), "-open")
        for by in moves:
            self.action_move(by)


def _words(each: Suggestion) -> Content:
    about = Content.assemble("  ", show(each.about, "$quiet")) if each.about else Content()
    return show(each.label) + about
