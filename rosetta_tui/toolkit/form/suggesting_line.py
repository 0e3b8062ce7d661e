"""A line to type that offers what there is: files and folders, names, models."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import ClassVar

from rich.highlighter import Highlighter
from rich.text import Text
from textual import events, getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option
from textual.worker import Worker, WorkerError, get_current_worker

from rosetta_tui.request.suggesting import Suggest, Suggestion
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import bring
from rosetta_tui.toolkit.content import show

INSTEAD = "¤"  # stands for a character that shows nothing of its own, or would act


class Harmless(Highlighter):
    """Shows one cell for each character that would act, so that the cursor stays where it belongs."""

    def __call__(self, text: str | Text) -> Text:
        typed = text if isinstance(text, str) else text.plain
        return Text("".join(map(_shown, typed)), no_wrap=True, overflow="ignore", end="")

    def highlight(self, text: Text) -> None:
        """Colour nothing."""


@cache
def _shown(character: str) -> str:
    if plain(f"x{character}") == f"x{character}":
        return character
    symbol = plain(character)
    return symbol if len(symbol) == 1 else INSTEAD


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

    def __init__(
        self, value: str, suggest: Suggest, placeholder: str = "", *, completes: bool = False
    ) -> None:
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
        yield Input(
            self._initial,
            self._placeholder,
            highlighter=Harmless(),
            compact=True,
            select_on_focus=False,
        )

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


# ---- A file, typed or chosen: what matches the beginning of a path is listed below it ----

MOST_READ = 5_000  # names of a folder that are examined
MOST_SHOWN = 30  # names that are listed


class FileChoice(Vertical):
    """An input for a path, and below it the folders and files that begin as what was typed."""

    DEFAULT_CSS = """
    FileChoice { height: auto; }
    FileChoice > OptionList { height: auto; max-height: 8; margin: 0; }
    """
    input = getters.query_one(Input)

    def __init__(self, placeholder: str, suffixes: Sequence[str], *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self._placeholder = placeholder
        self._suffixes = tuple(suffixes)  # endings listed, in lower case
        self._listed: list[str] = []

    def compose(self) -> ComposeResult:
        yield Input(placeholder=self._placeholder)
        yield OptionList()

    def on_mount(self) -> None:
        self._list("")

    @property
    def path(self) -> Path | None:
        """The path that is there, None where there is none."""
        typed = self.input.value.strip()
        return _expanded(typed) if typed else None

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self._list(event.value)

    @work(thread=True, exclusive=True, group="files")
    def _list(self, typed: str) -> None:
        files = list(matching(typed, self._suffixes))
        if not get_current_worker().is_cancelled:
            bring(self, self._show, files)

    def _show(self, found: list[str]) -> None:
        self._listed = found
        names = self.query_one(OptionList)
        names.clear_options()
        names.add_options([Option(show(_name(name))) for name in found])
        names.display = bool(found)

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        field = self.input
        field.value = self._listed[event.option_index]
        field.focus()
        field.cursor_position = len(field.value)

    def on_key(self, event: events.Key) -> None:
        names = self.query_one(OptionList)
        if event.key == "down" and self.input.has_focus and self._listed:
            names.focus()
            names.highlighted = 0
            event.prevent_default().stop()
        elif event.key == "up" and names.has_focus and names.highlighted == 0:
            self.input.focus()
            event.prevent_default().stop()


def matching(typed: str, suffixes: Sequence[str]) -> Iterator[str]:
    """Yield visible paths that begin as typed, folders with a slash: MOST_SHOWN of the first MOST_READ names."""
    head, beginning = os.path.split(typed)
    folder = _expanded(head) if head else Path.cwd()
    try:
        with os.scandir(folder) as names:
            read = sorted(islice(names, MOST_READ), key=lambda entry: entry.name.casefold())
    except (OSError, ValueError):
        return
    fitting = (
        _listed(head, entry)
        for entry in read
        if entry.name.casefold().startswith(beginning.casefold())
        and (beginning.startswith(".") or not entry.name.startswith("."))
        and (_is_folder(entry) or entry.name.lower().endswith(tuple(suffixes)))
    )
    yield from (name for name in islice(fitting, MOST_SHOWN) if name != typed)


def _listed(head: str, entry: os.DirEntry[str]) -> str:
    path = os.path.join(head, entry.name)  # noqa: PTH118  keeps ./ and ~ as they were typed
    return path + os.sep if _is_folder(entry) else path


def _name(path: str) -> str:
    """Return the last part of a path, with the sign of a folder: the parts before are in the input."""
    return os.path.basename(path.rstrip(os.sep)) + os.sep * path.endswith(os.sep)  # noqa: PTH119  text, not a path


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _expanded(typed: str) -> Path:
    try:
        return Path(typed).expanduser()
    except RuntimeError:
        return Path(typed)
