"""Choosing another key by pressing it."""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from rosetta_tui.show.key_names import key_name
from rosetta_tui.toolkit.content import show
from rosetta_tui.toolkit.keyboard import KEPT

Taken = Callable[[str], str | None]
"""Says what else a key does where it would be pressed; None where it is free."""


class PressKeyScreen(ModalScreen[str | None]):
    """Gives the name of the key that was pressed, None for escape; a key that is taken is refused."""

    def __init__(self, act: str, now: str, taken: Taken) -> None:
        super().__init__()
        self._act = act
        self._now = now
        self._taken = taken

    def compose(self) -> ComposeResult:
        """Lay out the question, and room for what is wrong with a key."""
        with Vertical(classes="dialog"):
            yield Static(
                Content.assemble(("Press the key for ", "bold"), show(self._act, "bold $mark"))
            )
            yield Static(id="refused", classes="about")
            yield Static(show(f"now: {self._now} · esc goes back", "$quiet"))

    def on_key(self, event: events.Key) -> None:
        """Take the key, or say why not."""
        event.stop()
        event.prevent_default()
        if event.key == "escape":
            self.dismiss(None)
        elif event.key in KEPT:
            self._refuse(f"{key_name(event.key)} always keeps its meaning.")
        elif (what := self._taken(event.key)) is not None:
            self._refuse(f"{key_name(event.key)} is taken: {what}.")
        else:
            self.dismiss(event.key)

    def _refuse(self, why: str) -> None:
        self.query_one("#refused", Static).update(show(f"{why} Press another.", "$warn"))
