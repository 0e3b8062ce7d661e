"""One field of a form: its name, its control (a line, a choice, boxes to tick), the words about it."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Click
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option
from textual.worker import Worker, WorkerError

from rosetta_tui.request.draft import YES, Value
from rosetta_tui.request.fields import OPEN, FieldKind, FormField
from rosetta_tui.request.suggesting import Suggest, Suggestion
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import bring
from rosetta_tui.toolkit.content import Harmless, show, show_lines

# ---- A line to type that offers what there is: files and folders, names, models ----

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

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether a key is for the list; while none is open or being found only ``down`` is."""
        return self.is_open or self._looking is not None or (action, parameters) == ("move", (1,))

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

    def _offer(self, suggestions: list[Suggestion], marked: str, asked_for: bool) -> None:
        self._looking = None
        moves, self._moves = self._moves, []
        if not (asked_for or self.input.has_focus):
            return
        if not asked_for and [suggestion.value for suggestion in suggestions] == [self.value]:
            suggestions = []  # it says nothing new, and would cover what is said of the value
        self._offered = suggestions
        self.offers.clear_options()
        self.offers.add_options([Option(_words(suggestion)) for suggestion in suggestions])
        place = next((n for n, suggestion in enumerate(suggestions) if suggestion.value == marked), None)
        self.offers.highlighted = 0 if place is None and asked_for and suggestions else place
        self.set_class(bool(suggestions), "-open")
        for by in moves:
            self.action_move(by)


def _words(each: Suggestion) -> Content:
    about = Content.assemble("  ", show(each.about, "$quiet")) if each.about else Content()
    return show(each.label) + about


GAP = 2  # empty cells between two boxes


class Ticks(Widget, can_focus=True):
    """Some of a few choices; a tick is seen by its cross, never by a colour alone."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "move(-1)", "Before", show=False),
        Binding("right", "move(1)", "After", show=False),
        Binding("space", "tick", "Tick", show=False),
    ]

    cursor = reactive(0)

    @dataclass
    class Ticked(Message):
        ticks: Ticks

        @property
        def control(self) -> Ticks:
            return self.ticks

    def __init__(self, choices: Mapping[str, str], ticked: Collection[str] = ()) -> None:
        """``choices``: value → label."""
        super().__init__()
        self._ticked = set(ticked)
        self._choices: dict[str, str] = {}
        self.offer(choices)

    def allow_focus(self) -> bool:
        return bool(self._choices)

    @property
    def value(self) -> tuple[str, ...]:
        """Return what is ticked, in the order of the choices; ticks on what is no choice any more stay."""
        offered = [key for key in self._choices if key in self._ticked]
        return (*offered, *sorted(self._ticked - self._choices.keys()))

    def offer(self, choices: Mapping[str, str]) -> None:
        """Offer other choices; a ticked one that is no choice stays to be seen and cleared."""
        kept = {key: f"{plain(key)} (none)" for key in self._ticked - choices.keys()}
        if self._choices != {**choices, **kept}:
            self._choices = {**choices, **kept}
            self.cursor = min(self.cursor, max(0, len(self._choices) - 1))
            self.refresh(layout=True)

    def put(self, ticked: Collection[str]) -> None:
        """Tick exactly these, without telling anybody."""
        self._ticked = set(ticked)
        self.refresh(layout=True)

    def action_move(self, by: int) -> None:
        self.cursor = max(0, min(len(self._choices) - 1, self.cursor + by))

    def action_tick(self) -> None:
        if self._choices:
            self._ticked ^= {list(self._choices)[self.cursor]}
            self.refresh()
            self.post_message(self.Ticked(self))

    def on_click(self, event: Click) -> None:
        for index, (line, start, text) in enumerate(self._placed(self.content_size.width)):
            if event.y == line and start <= event.x < start + len(text):
                self.cursor = index
                self.action_tick()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002  Textual's form
        placed = self._placed(width)
        return placed[-1][0] + 1 if placed else 1

    def render(self) -> Content:
        if not self._choices:
            style = "$on-cursor on $cursor" if self.has_focus else "$quiet"
            return Content.styled("nothing to choose from", style)
        lines: list[Content] = [Content()]
        for index, (line, start, text) in enumerate(self._placed(self.content_size.width)):
            if line == len(lines):
                lines.append(Content())
            here = self.has_focus and index == self.cursor
            space = Content(" " * (start - lines[-1].cell_length))
            lines[-1] += space + Content.styled(text, "$on-cursor on $cursor" if here else "")
        return Content("\n").join(lines)

    def _placed(self, width: int) -> list[tuple[int, int, str]]:
        """Return line, first cell and text of each box."""
        placed: list[tuple[int, int, str]] = []
        line = start = 0
        for key, label in self._choices.items():
            text = f"[{'x' if key in self._ticked else ' '}] {label}"
            if start and start + len(text) > width:
                line, start = line + 1, 0
            placed.append((line, start, text))
            start += len(text) + GAP
        return placed


MOST_TYPED = 20_000  # characters of one field; a list of entry ids may be long
LISTS = "↓ lists what there is"  # is in an empty line that suggests


class FormLine(Vertical):
    """Label and control side by side; words about the value below, with a mark where it is wrong."""

    BINDINGS: ClassVar[list[BindingType]] = [  # for controls that do not use them
        Binding("down", "app.focus_next", "Next field", show=False),
        Binding("up", "app.focus_previous", "Field before", show=False),
    ]

    @dataclass
    class Changed(Message):
        line: FormLine

    @dataclass
    class Agreed(Message):
        """Enter was pressed: the person continues to the next field."""

        line: FormLine

    def __init__(
        self,
        field: FormField,
        value: Value = "",
        *,
        suggest: Suggest | None = None,
        choices: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(id=f"field-{field.name}")
        self.field = field
        self._control = _control(field, value, suggest, choices or {})
        self.said = ""

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Static(Content.styled(self.field.label, "$quiet"), classes="label")
            yield self._control
        yield Static(classes="words")

    def offer(self, choices: Mapping[str, str]) -> None:
        """Offer other boxes."""
        if isinstance(self._control, Ticks):
            self._control.offer(choices)

    def open_list(self) -> None:
        if isinstance(self._control, SuggestingLine):
            self._control.action_open()

    @property
    def value(self) -> Value:
        if isinstance(self._control, Ticks):
            ticked = self._control.value
            return ticked if self.field.kind is FieldKind.TICKS else (YES if ticked else "")
        typed = self._control.value
        return _parted(typed) if self.field.kind is FieldKind.WORDS else typed

    def put(self, value: Value) -> None:
        if isinstance(self._control, Ticks):
            self._control.put(_ticked(self.field, value))
        elif isinstance(self._control, SuggestingLine):
            self._control.put(_typed(value))
        else:
            self._control.value = _typed(value)

    @property
    def can_be_filled(self) -> bool:
        """Return whether it is shown and there is something to do in it."""
        if isinstance(self._control, SuggestingLine):  # the line in it has the focus
            return self.display
        return self.display and self._control.allow_focus()

    def take_focus(self) -> None:
        control = self._control
        control.call_after_refresh(control.take_focus if isinstance(control, SuggestingLine) else control.focus)

    def say(self, words: str, *, bad: bool = False) -> None:
        """Show something about the value, or nothing."""
        mark = "✗ " if bad else ""
        if self.said == mark + words:
            return
        self.said = mark + words
        self.set_class(bad, "-bad")
        self.set_class(bool(words), "-said")
        if self.is_mounted:
            self._tell()

    def on_mount(self) -> None:
        self._tell()

    def _tell(self) -> None:
        style = "$bad" if self.has_class("-bad") else "$quiet"
        self.query_one(".words", Static).update(show_lines(self.said, style))

    @on(Input.Changed)
    @on(Ticks.Ticked)
    @on(SuggestingLine.TextChanged)
    def _changed(self, event: Message) -> None:
        event.stop()
        self.post_message(self.Changed(self))

    @on(Input.Submitted)
    @on(SuggestingLine.TextAgreed)
    def _agreed(self, event: Message) -> None:
        event.stop()
        self.post_message(self.Agreed(self))


def _control(
    field: FormField, value: Value, suggest: Suggest | None, choices: Mapping[str, str]
) -> Input | Ticks | SuggestingLine:
    if field.kind in {FieldKind.TICKS, FieldKind.SWITCH}:
        return Ticks({YES: "yes"} if field.kind is FieldKind.SWITCH else choices, _ticked(field, value))
    if suggest is not None:
        hint = f"{field.default} · ↓ lists more" if field.default else LISTS
        return SuggestingLine(_typed(value), suggest, hint, completes=field.name not in OPEN)
    return Input(
        _typed(value),
        placeholder=field.default,
        highlighter=Harmless(),
        compact=True,
        max_length=MOST_TYPED,
        select_on_focus=False,
    )


def _ticked(field: FormField, value: Value) -> tuple[str, ...]:
    if field.kind is FieldKind.SWITCH:
        return (YES,) if value else ()
    return (value,) if isinstance(value, str) and value else tuple(value)


def _typed(value: Value) -> str:
    return value if isinstance(value, str) else shlex.join(value)


def _parted(typed: str) -> tuple[str, ...]:
    """Split a line into its values as a shell does; an open quote leaves it whole until it is closed."""
    try:
        return tuple(shlex.split(typed))
    except ValueError:
        return (typed,)
