"""A person's own words beside a run: tags to find it by, and a note."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static, TextArea

from rosetta_tui.screens.confirm import ConfirmScreen
from rosetta_tui.text import plain, show


class Words(NamedTuple):
    """What stands beside a run."""

    tags: tuple[str, ...]
    note: str


class NotesScreen(ModalScreen[Words | None]):
    """Gives what is to stand beside the run, None where nothing was changed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back"),
        Binding("ctrl+s", "save", "Save", priority=True),
    ]

    def __init__(self, run: str, tags: Sequence[str], note: str) -> None:
        super().__init__()
        self._run = run
        self._before = Words(
            tuple(map(plain, tags)), "\n".join(plain(line) for line in note.split("\n"))
        )

    def compose(self) -> ComposeResult:
        """Lay out the tags and the note, with what is there already."""
        with Vertical(classes="dialog"):
            yield Static(Content.assemble(("Tags and note\n", "bold"), show(self._run, "$quiet")))
            yield Input(
                " ".join(self._before.tags),
                placeholder="tags: single words, with spaces between them",
                id="tags",
                select_on_focus=False,
            )
            yield TextArea(self._before.note, soft_wrap=True, tab_behavior="focus", id="note")
            yield Static(
                Content.styled(
                    "They stay on this computer: no card and no export holds them.", "$quiet"
                )
            )
            with Horizontal(classes="answers"):
                yield Button(Content("Save (^s)"), id="save")
                yield Button(Content("Back (esc)"), id="back")

    def on_mount(self) -> None:
        """Begin at the tags."""
        self.query_one("#tags").focus()

    @property
    def _now(self) -> Words:
        tags = self.query_one("#tags", Input).value.replace(",", " ").split()
        return Words(tuple(tags), self.query_one("#note", TextArea).text)

    @on(Input.Submitted)
    @on(Button.Pressed, "#save")
    def action_save(self) -> None:
        """Give what was typed."""
        self.dismiss(None if self._now == self._before else self._now)

    @on(Button.Pressed, "#back")
    def action_leave(self) -> None:
        """Change nothing; what was typed goes only after a question."""
        if self._now == self._before:
            self.dismiss(None)
            return

        def answered(agreed: bool | None) -> None:
            if agreed:
                self.dismiss(None)

        question = Content.styled("Throw away what you typed?", "bold")
        self.app.push_screen(ConfirmScreen(question, "Throw away"), answered)
