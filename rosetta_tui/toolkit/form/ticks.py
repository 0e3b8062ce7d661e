"""Boxes to tick, in one field: tab reaches them all at once, the arrows lead from one to the next."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from rosetta_tui.show.text import plain

GAP = 2
"""Empty cells between two boxes."""


class Ticks(Widget, can_focus=True):
    """Some of a few choices; a tick is seen by its cross, never by a colour alone."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "move(-1)", "Before", show=False),
        Binding("right", "move(1)", "After", show=False),
        Binding("space", "tick", "Tick", show=False),
    ]

    cursor = reactive(0)

    @dataclass
    class Changed(Message):
        """A box was ticked or cleared."""

        ticks: Ticks

        @property
        def control(self) -> Ticks:
            """Whose box it was."""
            return self.ticks

    def __init__(self, choices: Mapping[str, str], ticked: Collection[str] = ()) -> None:
        """``choices``: value → label."""
        super().__init__()
        self._ticked = set(ticked)
        self._choices: dict[str, str] = {}
        self.offer(choices)

    def allow_focus(self) -> bool:
        """Let nobody come to a field in which there is nothing to do."""
        return bool(self._choices)

    @property
    def value(self) -> tuple[str, ...]:
        """What is ticked, in the order of the choices; ticks on what is no choice any more stay."""
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
        """Go to the box beside."""
        self.cursor = max(0, min(len(self._choices) - 1, self.cursor + by))

    def action_tick(self) -> None:
        """Tick the box, or clear it."""
        if self._choices:
            self._ticked ^= {list(self._choices)[self.cursor]}
            self.refresh()
            self.post_message(self.Changed(self))

    def on_click(self, event: Click) -> None:
        """Tick the box under the mouse."""
        for index, (line, start, text) in enumerate(self._placed(self.content_size.width)):
            if event.y == line and start <= event.x < start + len(text):
                self.cursor = index
                self.action_tick()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002  Textual's form
        """Take as many lines as the boxes need."""
        placed = self._placed(width)
        return placed[-1][0] + 1 if placed else 1

    def render(self) -> Content:
        """Draw the boxes, the one that space would change marked."""
        if not self._choices:
            style = "$on-cursor on $cursor" if self.has_focus else "$quiet"
            return Content.styled("nothing to choose from", style)
        lines: list[Content] = [Content()]
        for index, (line, start, text) in enumerate(self._placed(self.content_size.width)):
            if line == len(lines):
                lines.append(Content())
            here = self.has_focus and index == self.cursor
            space = Content(" " * (start - lines[-1].cell_length))
            lines[-1] = (
                lines[-1] + space + Content.styled(text, "$on-cursor on $cursor" if here else "")
            )
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
