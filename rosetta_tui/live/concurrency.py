"""How many calls may be under way at once."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.validation import Integer
from textual.widgets import Input, Static

MOST = 1024
"""As on the command line."""


class ConcurrencyScreen(ModalScreen[int | None]):
    """Gives a ceiling from 1 to MOST, None where nothing was changed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back"),
        Binding("up", "step(1)", "More"),
        Binding("down", "step(-1)", "Fewer"),
    ]

    def __init__(self, now: int) -> None:
        super().__init__()
        self._now = now

    def compose(self) -> ComposeResult:
        """Lay out the number."""
        with Vertical(classes="dialog"):
            yield Static(Content.styled("At most this many calls at once", "bold"))
            yield Input(str(self._now), type="integer", max_length=4, validators=[Integer(1, MOST)])
            yield Static(
                Content.styled(
                    f"1 to {MOST}. The run still goes slower by itself where the endpoint asks for it.\n"
                    "↑ more · ↓ fewer · enter applies · esc goes back",
                    "$quiet",
                )
            )

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Apply a number that is valid; say what is wrong with another."""
        if event.validation_result is not None and event.validation_result.is_valid:
            self.dismiss(int(event.value))
        else:
            self.notify(f"Give a whole number from 1 to {MOST}.", severity="warning", markup=False)

    def action_step(self, by: int) -> None:
        """Count up or down."""
        field = self.query_one(Input)
        now = int(field.value) if field.value.isdecimal() else self._now
        field.value = str(max(1, min(MOST, now + by)))

    def action_leave(self) -> None:
        """Change nothing."""
        self.dismiss(None)
