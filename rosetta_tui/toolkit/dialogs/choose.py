"""Questions: a short list of which one is chosen, and yes or no for what cannot be taken back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, OptionList, Static
from textual.widgets.option_list import Option

from rosetta_tui.toolkit.form.file_choice import FileChoice


def choose(
    app: App[Any], title: str, choices: Mapping[str, str], now: str, then: Callable[[str], object]
) -> None:
    """Prompt for one of some words, by their keys, and act where one is chosen."""

    def chosen(key: str | None) -> None:
        if key is not None:
            then(key)

    app.push_screen(ChooseScreen(title, choices, now), chosen)


def answers(said: str, id_: str, back: str = "back", *, first: bool = False) -> ComposeResult:
    """Yield the buttons of a dialog: the one that ``said`` is on, and the one that goes back.

    ``first``: more follows below them.
    """
    with Horizontal(classes="answers -first" if first else "answers"):
        yield Button(Content(said), id=id_)
        yield Button(Content("Back (esc)"), id=back)


def confirm(app: App[Any], question: Content, yes: str, then: Callable[[], object]) -> None:
    """Prompt before what cannot be undone, and act where the person agrees."""

    def answered(agreed: bool | None) -> None:
        if agreed:
            then()

    app.push_screen(ConfirmScreen(question, yes), answered)


class ChooseScreen(ModalScreen[str | None]):
    """Gives the key of the choice, None where nothing was chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", "Back"),
        Binding("j", "down", "Down", show=False),
        Binding("k", "up", "Up", show=False),
    ]

    def __init__(self, title: str, choices: Mapping[str, str], chosen: str) -> None:
        super().__init__()
        self._title = title
        self._choices = dict(choices)
        self._chosen = chosen

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(Content.styled(self._title, "bold"))
            yield OptionList(
                *(
                    Option(Content(f"{'●' if key == self._chosen else ' '} {words}"), id=key)
                    for key, words in self._choices.items()
                )
            )
            yield Static(Content.styled("enter chooses · esc goes back", "$quiet"))

    def on_mount(self) -> None:
        self.query_one(OptionList).highlighted = list(self._choices).index(self._chosen)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option.id)

    def action_down(self) -> None:
        self.query_one(OptionList).action_cursor_down()

    def action_up(self) -> None:
        self.query_one(OptionList).action_cursor_up()


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
        with Vertical(classes="dialog"):
            yield Static(self._question)
            yield from answers(f"{self._yes} (y)", "yes", "no")

    def on_mount(self) -> None:
        self.query_one("#no").focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "yes")

    def action_answer(self, agreed: bool) -> None:
        self.dismiss(agreed)


# ---- Asks for a file or folder that a screen is to read ----


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
        if event.button.id == "open":
            self._submitted()
        else:
            self.dismiss(None)
