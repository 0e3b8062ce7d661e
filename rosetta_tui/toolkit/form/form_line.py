"""One field of a form: its name, its control, and what there is to say about what was typed."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from rosetta_tui.request.draft import YES, Value
from rosetta_tui.request.fields import OPEN, FieldKind, FormField
from rosetta_tui.request.suggesting import Suggest
from rosetta_tui.toolkit.content import show_lines
from rosetta_tui.toolkit.form.harmless import Harmless
from rosetta_tui.toolkit.form.suggesting_line import SuggestingLine
from rosetta_tui.toolkit.form.ticks import Ticks

MOST_TYPED = 20_000
"""Characters of one field; a list of entry ids may be long."""


LISTS = "↓ lists what there is"
"""Stands in an empty line that suggests and has no value by default."""


class FormLine(Vertical):
    """Label and control side by side; words about the value below, with a mark where it is wrong."""

    @dataclass
    class Changed(Message):
        """The value is another one."""

        line: FormLine

    @dataclass
    class Agreed(Message):
        """Enter was pressed: the person goes on to the next field."""

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
        self._said = ""

    def compose(self) -> ComposeResult:
        """Lay out label, control and words."""
        with Horizontal():
            yield Static(Content.styled(self.field.label, "$quiet"), classes="label")
            yield self._control
        yield Static(classes="words")

    def offer(self, choices: Mapping[str, str]) -> None:
        """Offer other boxes."""
        if isinstance(self._control, Ticks):
            self._control.offer(choices)

    def open_list(self) -> None:
        """Open the list of a line that suggests."""
        if isinstance(self._control, SuggestingLine):
            self._control.action_open()

    @property
    def value(self) -> Value:
        """What stands in it, as a draft holds it."""
        if isinstance(self._control, Ticks):
            ticked = self._control.value
            return ticked if self.field.kind is FieldKind.TICKS else (YES if ticked else "")
        typed = self._control.value
        return _parted(typed) if self.field.kind is FieldKind.WORDS else typed

    def put(self, value: Value) -> None:
        """Put a value there."""
        if isinstance(self._control, Ticks):
            self._control.put(_ticked(self.field, value))
        elif isinstance(self._control, SuggestingLine):
            self._control.put(_typed(value))
        else:
            self._control.value = _typed(value)

    @property
    def can_be_filled(self) -> bool:
        """Whether it is shown and there is something to do in it."""
        return self.display and self._control.allow_focus()

    def take_focus(self) -> None:
        """Give the control the focus."""
        control = self._control
        control.call_after_refresh(
            control.take_focus if isinstance(control, SuggestingLine) else control.focus
        )

    def say(self, words: str, *, bad: bool = False) -> None:
        """Say something about the value, or nothing."""
        mark = "✗ " if bad else ""
        if self._said == mark + words:
            return
        self._said = mark + words
        self.set_class(bad, "-bad")
        self.set_class(bool(words), "-said")
        if self.is_mounted:
            self._tell()

    def on_mount(self) -> None:
        """Say what was to be said before there was a place for it."""
        self._tell()

    def _tell(self) -> None:
        style = "$bad" if self.has_class("-bad") else "$quiet"
        self.query_one(".words", Static).update(show_lines(self._said, style))

    @on(Input.Changed)
    @on(Ticks.Changed)
    @on(SuggestingLine.Changed)
    def _changed(self, event: Message) -> None:
        event.stop()
        self.post_message(self.Changed(self))

    @on(Input.Submitted)
    @on(SuggestingLine.Agreed)
    def _agreed(self, event: Message) -> None:
        event.stop()
        self.post_message(self.Agreed(self))


def _control(
    field: FormField, value: Value, suggest: Suggest | None, choices: Mapping[str, str]
) -> Input | Ticks | SuggestingLine:
    if field.kind in {FieldKind.TICKS, FieldKind.SWITCH}:
        return Ticks(
            {YES: "yes"} if field.kind is FieldKind.SWITCH else choices, _ticked(field, value)
        )
    if suggest is not None:
        return SuggestingLine(
            _typed(value), suggest, field.default or LISTS, completes=field.name not in OPEN
        )
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
    """Part a line into its values as a shell does; an open quote leaves it whole until it is closed."""
    try:
        return tuple(shlex.split(typed))
    except ValueError:
        return (typed,)
