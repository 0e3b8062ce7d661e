"""One line to type: a folder, a file, a name, a note."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from rosetta_tui.toolkit.content import show

MOST_TYPED = 4000


class AskScreen(ModalScreen[str | None]):
    """Gives what was typed, None where the person went back."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Back")]

    def __init__(self, title: str, about: str, answer: str = "") -> None:
        super().__init__()
        self._title = title
        self._about = about
        self._answer = answer

    def compose(self) -> ComposeResult:
        """Lay out the question and the line."""
        with Vertical(classes="dialog"):
            yield Static(show(self._title, "bold"))
            yield Input(self._answer, max_length=MOST_TYPED, select_on_focus=True)
            yield Static(show(self._about, "$quiet"))
            yield Static(Content.styled("\nenter goes on · esc goes back", "$quiet"))

    def on_input_submitted(self, message: Input.Submitted) -> None:
        """Give the answer."""
        message.stop()
        self.dismiss(message.value.strip())


def typed_path(text: str) -> Path:
    """Read a path as people type it."""
    return Path(text or ".").expanduser()
