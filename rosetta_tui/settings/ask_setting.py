"""One text, one path or one secret, asked for in a dialog and looked at before it is taken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static

from rosetta_tui.toolkit.content import show, show_lines
from rosetta_tui.toolkit.form.file_choice import FileChoice

Check = Callable[[str], str | None]
"""Says what is wrong with what was typed and the mend; None where nothing is."""


class AskSettingScreen(ModalScreen[str | None]):
    """Gives what was typed, without spaces around it; None where nothing was changed."""

    CSS_PATH = "settings.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back"),
        Binding("ctrl+s", "save", "Save", priority=True),
    ]

    def __init__(
        self,
        title: str,
        about: str,
        check: Check,
        *,
        now: str = "",
        hidden: bool = False,
        files: Sequence[str] | None = None,
    ) -> None:
        """Ask under ``title``; ``hidden`` shows no letter, ``files`` lists files of these endings and folders."""
        super().__init__()
        self._title = title
        self._about = about
        self._check = check
        self._now = now
        self._hidden = hidden
        self._files = files

    def compose(self) -> ComposeResult:
        """Lay out the question, the field, what is wrong, and the answers."""
        with Vertical(classes="dialog -wide", id="asking"):
            yield Static(show(self._title, "bold"))
            if self._files is None:
                yield Input(self._now, password=self._hidden, id="asked")
            else:
                yield FileChoice("path", self._files, id="asked")
            yield Static(id="trouble")
            yield Static(show_lines(self._about, "$quiet"))
            with Horizontal(classes="answers"):
                yield Button(Content("Save (enter)"), id="save")
                yield Button(Content("Back (esc)"), id="back")

    def on_mount(self) -> None:
        """Begin at the field, with what holds now."""
        self.query_one("#trouble").display = False
        field = self.field
        field.value = self._now
        field.focus()

    @property
    def field(self) -> Input:
        """Where it is typed."""
        asked = self.query_one("#asked")
        return asked.input if isinstance(asked, FileChoice) else self.query_one("#asked", Input)

    @on(Input.Submitted)
    @on(Button.Pressed, "#save")
    def action_save(self) -> None:
        """Give what was typed, or say what is wrong with it."""
        typed = self.field.value.strip()
        wrong = self._check(typed)
        if wrong is None:
            self.dismiss(typed)
            return
        line = self.query_one("#trouble", Static)
        line.display = True
        line.update(show_lines(wrong, "$bad"))
        self.field.focus()

    @on(Button.Pressed, "#back")
    def action_leave(self) -> None:
        """Change nothing."""
        self.dismiss(None)
