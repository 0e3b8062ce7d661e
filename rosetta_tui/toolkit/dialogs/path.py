"""Asks for a file or folder that a screen is to read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static

from rosetta_tui.toolkit.dialogs.choose import answers
from rosetta_tui.toolkit.form.file_choice import FileChoice


class PathScreen(ModalScreen[Path | None]):
    """Gives a path, None where the person went back."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Back")]

    def __init__(self, title: str, hint: str, asked: str, suffixes: Sequence[str] = ()) -> None:
        super().__init__()
        self._words = (title, hint, asked)
        self._suffixes = suffixes

    def compose(self) -> ComposeResult:
        title, hint, asked = self._words
        with VerticalScroll(classes="dialog -wide", id="choosing-path"):
            yield Static(Content.styled(title, "bold"))
            yield Static(Content.styled(hint, "$quiet"))
            yield FileChoice(asked, self._suffixes, id="path")
            yield from answers("Open (enter)", "open")

    def on_mount(self) -> None:
        self.query_one(FileChoice).input.focus()

    @on(Input.Submitted)
    def _submitted(self) -> None:
        path = self.query_one(FileChoice).path
        if path is not None:
            self.dismiss(path)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Answer."""
        if event.button.id == "open":
            self._submitted()
        else:
            self.dismiss(None)
