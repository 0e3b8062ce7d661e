"""Asks for what a rehearsal needs and the bundle does not have: a model on this computer, the open corpus of its card."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static

from harness.submission.lanes import ModelHere
from rosetta_tui.session.rehearsing import RehearsalNeeds
from rosetta_tui.toolkit.content import show
from rosetta_tui.toolkit.dialogs.acting import typed_line
from rosetta_tui.toolkit.dialogs.choose import answers
from rosetta_tui.toolkit.form.file_choice import FileChoice


@dataclass(frozen=True)
class RehearsalChoice:
    """What a person chose for a rehearsal."""

    model: ModelHere | None
    corpus: Path | None


class RehearseScreen(ModalScreen[RehearsalChoice | None]):
    """Gives what was chosen, None where the person went back."""

    CSS_PATH = "submission.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Back")]

    def __init__(self, needs: RehearsalNeeds) -> None:
        super().__init__()
        self._needs = needs

    def compose(self) -> ComposeResult:
        needs = self._needs
        with VerticalScroll(classes="dialog -wide", id="rehearsing", can_focus=False):
            yield Static(Content.styled("Rehearse it here", "bold"))
            if needs.model:
                made = f" It was made with {needs.made_for}." if needs.made_for else ""
                yield Static(show(f"It asks a model, which you choose, on this computer.{made}", "$quiet"))  # fmt: skip
                yield from typed_line("Endpoint", "endpoint", "such as http://127.0.0.1:11434/v1")
                yield from typed_line("Model", "model", "its name there")
            if needs.corpus:
                yield Static(show(needs.corpus.partition(": name")[0] + ".", "$quiet"))
                yield FileChoice("path of the corpus", (".json", ".jsonl", ".tsv", ".csv"), id="corpus")  # fmt: skip
            yield Static(id="said")
            yield from answers("Begin (enter)", "begin")

    def on_mount(self) -> None:
        self.query(Input).first().focus()

    @on(Input.Submitted)
    def _begin(self) -> None:
        typed = {result.id: result.value.strip() for result in self.query(".setting Input").results(Input)}  # fmt: skip
        corpus = self.query_one(FileChoice).path if self._needs.corpus else None
        empty = next((name for name, value in typed.items() if not value), None)
        if empty is not None or (self._needs.corpus and corpus is None):
            what = "path of the corpus" if empty is None else empty
            self.query_one("#said", Static).update(show(f"Name the {what}.", "$bad"))
            return
        model = ModelHere(typed["endpoint"], typed["model"]) if self._needs.model else None
        self.dismiss(RehearsalChoice(model, corpus))

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Answer."""
        if event.button.id == "begin":
            self._begin()
        else:
            self.dismiss(None)
