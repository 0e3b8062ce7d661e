"""Letters on everything that can have the focus; typing one goes there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import Static

LETTERS = "asdfghjklqwertyuiopzxcvbnm"
"""In the order in which they are given out: the nearest to the fingers first."""


class Letter(Static):
    """One letter, at the upper left corner of what it leads to."""

    def __init__(self, letter: str, target: Widget) -> None:
        super().__init__(Content(f" {letter} "))
        self.letter = letter
        self.target = target


class JumpScreen(ModalScreen[Widget | None]):
    """Gives the widget whose letter was typed or clicked, None for any other key."""

    TITLE = "Jump"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Back")]

    def __init__(self, targets: Sequence[Widget]) -> None:
        super().__init__()
        self._targets = targets[: len(LETTERS)]

    def compose(self) -> ComposeResult:
        """Lay the letters over the screen below."""
        for letter, target in zip(LETTERS, self._targets, strict=False):
            label = Letter(letter, target)
            label.styles.offset = (target.region.x, target.region.y)
            yield label

    def on_key(self, event: events.Key) -> None:
        """Go where the letter leads; any other key goes back."""
        event.stop()
        for label in self.query(Letter):
            if event.key == label.letter:
                self.dismiss(label.target)
                return
        self.dismiss(None)

    def on_click(self, event: events.Click) -> None:
        """Go where the letter leads that was clicked."""
        event.stop()
        self.dismiss(event.widget.target if isinstance(event.widget, Letter) else None)


def targets_of(screen: Screen[Any]) -> list[Widget]:
    """Return what can have the focus and is seen, from the top to the bottom."""
    seen = [each for each in screen.focus_chain if each.region and each.is_on_screen]
    return sorted(seen, key=lambda each: (each.region.y, each.region.x))
