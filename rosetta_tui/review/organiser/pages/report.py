"""What something came to, line by line, until the person has read it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from rosetta_tui.toolkit.content import show


class ReportScreen(ModalScreen[None]):
    """Stays until it is closed: a path or a warning must not vanish by itself."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "dismiss(None)", "Back"),
    ]

    def __init__(self, title: str, lines: Sequence[str]) -> None:
        super().__init__()
        self._title = title
        self._lines = lines

    def compose(self) -> ComposeResult:
        """Lay out the lines."""
        with VerticalScroll(classes="dialog -wide"):
            yield Static(show(self._title, "bold"))
            yield Static(Content("\n").join(map(show, self._lines)), classes="about")
            yield Static(Content.styled("esc goes back", "$quiet"))
