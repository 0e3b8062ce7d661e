"""One field of a form: its name, its control (a line, a choice, boxes to tick), the words about it."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Click
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Input, Static

from rosetta_tui.request.draft import YES, Value
from rosetta_tui.request.fields import OPEN, FieldKind, FormField
from rosetta_tui.request.suggesting import Suggest
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.content import Harmless, show_lines
from rosetta_tui.toolkit.form.suggesting_line import SuggestingLine

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
LISTS = "↓ lists what there is"  # is in an empty line that suggests and has no value by default


class FormLine(Vertical):
    """Label and control side by side; words about the value below, with a mark where it is wrong."""

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
        return SuggestingLine(_typed(value), suggest, field.default or LISTS, completes=field.name not in OPEN)
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
