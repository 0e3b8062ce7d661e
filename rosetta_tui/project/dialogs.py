"""Dialogs of a corpus in the making: sentences to add out of a file, and what became of an act."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static

from rosetta_tui.project.actions import WantedSentences, checked
from rosetta_tui.toolkit.content import show
from rosetta_tui.toolkit.dialogs.acting import ActingScreen, typed_line
from rosetta_tui.toolkit.dialogs.choose import answers
from rosetta_tui.toolkit.form.file_choice import FileChoice
from rosetta_tui.toolkit.section_page import Line

Add = Callable[[WantedSentences], Sequence[Line]]
"""Adds sentences, and says what became of them; called in a thread."""

_ENDINGS = (
    ".tsv",
    ".csv",
    ".txt",
    ".json",
    ".jsonl",
    ".tmx",
    ".xlf",
    ".xliff",
    ".xlsx",
    ".po",
    ".arb",
)

_FIELDS = (
    ("difficulty", "Difficulty", "1 to 5, of those that name none"),
    ("register", "Register", "formal, educational …, of those that name none"),
    ("most", "At most", "such as 104; most of difficulty 2 to 4"),
)


class AddSentencesScreen(ActingScreen[Sequence[Line]]):
    """Gives what became of the sentences, None where the person went back; what is wrong is said and stays to be mended."""

    acting = "Adding …"

    def __init__(self, add: Add) -> None:
        super().__init__()
        self._add = add

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog -wide", id="adding"):
            yield Static(Content.styled("Add sentences from a file", "bold"))
            hint = "A table with source, difficulty and register, or a text with one sentence on each line. Secret ones are sealed at once."
            yield Static(Content.styled(hint, "$quiet"))
            yield FileChoice("path of the file", _ENDINGS, id="path")
            for name, label, placeholder in _FIELDS:
                yield from typed_line(label, name, placeholder, 40)
            yield Static(id="said")
            yield from answers("Add (enter)", "add")

    def on_mount(self) -> None:
        self.query_one(FileChoice).input.focus()

    @on(Input.Submitted)
    @on(Button.Pressed, "#add")
    def _submitted(self) -> None:
        path = self.query_one(FileChoice).path
        if path is None:
            self.say("Name the file.", "$bad")
            return
        typed = {name: self.query_one(f"#{name}", Input).value.strip() for name, _, _ in _FIELDS}
        self.act(partial(self._added, WantedSentences(path, **typed)))

    def _added(self, wanted: WantedSentences) -> Sequence[Line]:
        checked(wanted)
        return self._add(wanted)


class ToldScreen(ModalScreen[None]):
    """Says what became of an act, as long as somebody reads it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,enter", "dismiss(None)", "Back")]

    def __init__(self, title: str, lines: Sequence[Line]) -> None:
        super().__init__()
        self._title = title
        self._lines = lines

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -wide", id="told"):
            yield Static(show(self._title, "bold"))
            with VerticalScroll(id="lines"):
                styles = {"plain": ""}
                for text, tone in self._lines:
                    yield Static(show(text, styles.get(tone, f"${tone}")))
            with Horizontal(classes="answers"):
                yield Button(Content("Back (enter)"), id="back")

    def on_mount(self) -> None:
        self.query_one("#back").focus()

    @on(Button.Pressed, "#back")
    def _back(self) -> None:
        self.dismiss(None)
