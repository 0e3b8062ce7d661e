"""Questions: a short list of which one is chosen, and yes or no for what cannot be taken back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Generic

from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Label, OptionList, Static
from textual.widgets.option_list import Option

from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import Answer, AnsweringScreen, in_thread
from rosetta_tui.toolkit.content import Harmless, show
from rosetta_tui.toolkit.form.file_choice import FileChoice
from rosetta_tui.toolkit.result_table import ResultTable


def choose(app: App[Any], title: str, choices: Mapping[str, str], now: str, then: Callable[[str], object]) -> None:
    """Prompt for one of some words, by their keys, and act where one is chosen."""

    def chosen(key: str | None) -> None:
        if key is not None:
            then(key)

    app.push_screen(ChooseScreen(title, choices, now), chosen)


def answers(said: str, id_: str, back: str = "back", *, first: bool = False) -> ComposeResult:
    """Yield a dialog's two buttons, agree (``said`` on it) and go back; ``first``: more follows below them."""
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
    ENDING = "enter chooses · esc goes back"

    def __init__(self, title: str, choices: Mapping[str, str], chosen: str) -> None:
        super().__init__()
        self._title = title
        self._choices = dict(choices)
        self._chosen = chosen

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(Content.styled(self._title, "bold"))
            yield OptionList(*(Option(self.line(key), id=key) for key in self._choices))
            yield Static(Content.styled(self.ENDING, "$quiet"))

    def line(self, key: str) -> Content:
        """Return a choice as it is shown."""
        return Content(f"{'●' if key == self._chosen else ' '} {self._choices[key]}")

    def on_mount(self) -> None:
        self.query_one(OptionList).highlighted = list(self._choices).index(self._chosen)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option.id)

    def action_down(self) -> None:
        self.query_one(OptionList).action_cursor_down()

    def action_up(self) -> None:
        self.query_one(OptionList).action_cursor_up()


class ColumnsScreen(ChooseScreen):
    """Gives what to sort by; ``space`` shows and hides columns meanwhile."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "show", "Show or hide")]
    ENDING = "esc goes back"

    def __init__(
        self,
        title: str,
        choices: Mapping[str, str],
        chosen: str,
        shown: Mapping[str, bool],
        then: Callable[[frozenset[str]], object],
    ) -> None:
        """``shown``: whether each column is, by its key; ``then`` is called with those that are, at every change."""
        super().__init__(title, choices, chosen)
        self._shown, self._then = dict(shown), then

    def line(self, key: str) -> Content:
        box = " " if key not in self._shown else "☑" if self._shown[key] else "☐"
        return Content.assemble((f"{box} ", "$mark"), super().line(key))

    def action_show(self) -> None:
        options = self.query_one(OptionList)
        key = None if options.highlighted is None else options.get_option_at_index(options.highlighted).id
        if key in self._shown:
            self._shown[key] = not self._shown[key]
            options.replace_option_prompt(key, self.line(key))
            self._then(frozenset(key for key, shown in self._shown.items() if shown))


def choose_columns(
    app: App[Any], table: ResultTable, sorts: Mapping[str, str], now: str, then: Callable[[str], object]
) -> None:
    """Offer what a table can be sorted by and its columns; ``then`` is called with what to sort by."""
    titles = {column.key: plain(column.title) for column in table.columns}
    shown = table.shown_columns
    columns = {key: f"{titles.get(key, key)} (column)" for key in shown if key not in sorts}

    def chosen(key: str | None) -> None:
        if key is not None and key in sorts:
            then(key)

    title = "Columns: space shows or hides · enter sorts, again turns round"
    app.push_screen(ColumnsScreen(title, {**sorts, **columns}, now, shown, table.choose_columns), chosen)


class ConfirmScreen(ModalScreen[bool]):
    """Gives True where the person agreed; escape is always the harmless answer."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "Yes"),
        Binding("n,escape,q", "answer(False)", "No"),
        Binding("left,right,tab", "app.focus_next", "Other answer", show=False),
    ]

    def __init__(self, question: Content, yes: str) -> None:
        super().__init__()
        self._question, self._yes = question, yes

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


# ---- A dialog that stays until its act is done, and shows what is wrong where it can be fixed.


class ActingScreen(AnsweringScreen[Answer | None], Generic[Answer]):
    """Gives what became of its act, None where the person went back; has a line ``#said`` and a button ``#back``."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Back")]

    acting: ClassVar[str]  # what is said while it acts

    def say(self, words: str, style: str = "$quiet") -> None:
        """Show something below what is typed."""
        self.query_one("#said", Static).update(show(words, style))

    def act(self, work: Callable[[], Answer]) -> None:
        """Run ``work`` in a thread; until it is done no button counts, and nothing is done a second time."""
        if not self._acts:
            self._rest(self.acting, acts=True)
            in_thread(self, "act", work, self.answer, lambda why: self._rest(why, "$bad", acts=False))

    @property
    def _acts(self) -> bool:
        return self.query_one("#back", Button).disabled

    def _rest(self, words: str, style: str = "$quiet", *, acts: bool) -> None:
        self.say(words, style)
        for button in self.query(Button):
            button.disabled = acts

    @on(Button.Pressed, "#back")
    def action_leave(self) -> None:
        if not self._acts:
            self.answer(None)


def typed_line(label: str, name: str, placeholder: str, most: int = 0) -> ComposeResult:
    """Yield a line to type in under a name, of at most that many characters; 0: any number."""
    with Horizontal(classes="setting"):
        yield Label(label)
        yield Input(id=name, placeholder=placeholder, highlighter=Harmless(), select_on_focus=False, max_length=most)
