"""The least that a Textual app can be, to measure ours against: a text and a footer, and the same once more.

    python -P -m benchmarks.bare_app

``d`` changes the text, ``o`` opens a screen with a text and a footer, ``q`` goes back.
"""

from __future__ import annotations

from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Footer, Static


class BareScreen(Screen[None]):
    """A text and a footer."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d", "change", "Change"),
        Binding("o", "open", "Open"),
        Binding("q", "dismiss", "Back"),
    ]

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name
        self._times = 0

    def compose(self) -> ComposeResult:
        """Lay out the two."""
        yield Static(self._name or "")
        yield Footer(compact=True)

    def action_change(self) -> None:
        """Change the text."""
        self._times += 1
        self.query_one(Static).update(f"{self._name} {self._times}")

    def action_open(self) -> None:
        """Open one more."""
        self.app.push_screen(BareScreen("second"))


class BareApp(App[None]):
    """Opens the first."""

    def on_mount(self) -> None:
        """Open the first."""
        self.push_screen(BareScreen("first"))


if __name__ == "__main__":
    BareApp().run()
