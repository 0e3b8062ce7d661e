"""A question with two answers, for what cannot be taken back."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Static


class ConfirmScreen(ModalScreen[bool]):
    """Gives True where the person agreed; escape is always the harmless answer."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "Yes"),
        Binding("n,escape,q", "answer(False)", "No"),
        Binding("left,right,tab", "app.focus_next", "Other answer", show=False),
    ]

    def __init__(self, question: Content, yes: str) -> None:
        super().__init__()
        self._question = question
        self._yes = yes

    def compose(self) -> ComposeResult:
        """Lay out the question and the answers; the harmless one has the focus."""
        with Vertical(classes="dialog"):
            yield Static(self._question)
            with Horizontal(classes="answers"):
                yield Button(Content(f"{self._yes} (y)"), id="yes")
                yield Button(Content("Back (esc)"), id="no")

    def on_mount(self) -> None:
        """Begin at the harmless answer."""
        self.query_one("#no").focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Answer."""
        self.dismiss(event.button.id == "yes")

    def action_answer(self, agreed: bool) -> None:
        """Answer by key."""
        self.dismiss(agreed)
