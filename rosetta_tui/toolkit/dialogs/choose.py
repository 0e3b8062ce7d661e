"""Questions: a short list of which one is chosen, yes or no for what cannot be taken back, and where rows are written to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Generic

from textual import on, work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Button, Input, Label, OptionList, Static
from textual.widgets.option_list import Option

from corpora.text.messages import counted
from harness.core.failures import UsageError
from harness.core.storage import write_file
from harness.settings import read_settings
from rosetta_tui.show import figures
from rosetta_tui.show.columns import SLICE, Record, Records, ShownRecords, read_all
from rosetta_tui.show.exporting import FORM_WORDS, PAGES, TableFormat, encoded, table_text
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


# ---- Where rows are written to, and in which format ----

TOLD = 2_000  # rows after which it is said again how far it is
SUFFIXES = {f".{form}": form for form in TableFormat}


def exports_folder(widget: Widget, home: Path) -> Path:
    """Return the folder that the settings of a data folder name for exports, else where the program was started; what is wrong with them is said."""
    try:
        chosen = read_settings(home).exports
    except UsageError as error:
        widget.notify(plain(str(error)), title="Settings", severity="warning", markup=False)
        chosen = None
    return Path.cwd() if chosen is None else chosen.expanduser()


def free_path(folder: Path, name: str, ending: str) -> Path:
    """Return the path of a file that is not there yet: with a number behind its name where one is."""
    path, number = folder / f"{name}.{ending}", 2
    while path.exists():
        path = folder / f"{name}-{number}.{ending}"
        number += 1
    return path


class ExportScreen(ModalScreen[None]):
    """Asks for form and path (the folder from the settings in ``home``) and writes the rows while the screen stays awake."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Back")]

    def __init__(self, home: Path, records: Records, name: str, page: ShownRecords | None = None) -> None:
        super().__init__()
        self._home, self._records, self._name = home, records, name
        self._page = page  # the same rows for a page that people read
        self._proposal: Path | None = None
        self._folder = Path()

    def compose(self) -> ComposeResult:
        rows = f"{counted(self._records.count, 'row')}, as shown"
        with Vertical(classes="dialog"):
            yield Static(Content.assemble(("Export   ", "bold"), (rows, "$quiet")))
            yield OptionList(*(Option(Content(words), id=form) for form, words in FORM_WORDS.items()), id="form")
            yield Input(id="path", highlighter=Harmless(), select_on_focus=False)
            yield Static(id="said")
            yield from answers("Export", "write")

    def on_mount(self) -> None:
        forms = self.query_one("#form", OptionList)
        forms.highlighted = 0
        forms.focus()
        self._folder = self.folder_of_settings()
        self._propose(TableFormat.CSV)
        self._say("enter continues · the file is readable by you alone")

    def _propose(self, form: TableFormat) -> None:
        self._proposal = free_path(self._folder, str(self._name), form)
        self.query_one("#path", Input).value = str(self._proposal)

    def folder_of_settings(self) -> Path:
        return exports_folder(self, self._home)

    def _say(self, words: str, tone: str = "$quiet") -> None:
        self.query_one("#said", Static).update(show(words, tone))

    # Choosing

    @property
    def _path(self) -> Path:
        return Path(self.query_one("#path", Input).value.strip())

    @on(OptionList.OptionHighlighted)
    def _form_seen(self, event: OptionList.OptionHighlighted) -> None:
        field, path = self.query_one("#path", Input), self._path
        if path == self._proposal:
            self._propose(TableFormat(str(event.option.id)))
        elif path.suffix.lower() in SUFFIXES:
            field.value = str(path.with_suffix(f".{event.option.id}"))

    @on(Input.Changed)
    def _path_typed(self) -> None:
        """Choose the form that the ending of a typed path names."""
        form = SUFFIXES.get(self._path.suffix.lower())
        if form is not None:
            self.query_one("#form", OptionList).highlighted = list(FORM_WORDS).index(form)

    @on(OptionList.OptionSelected)
    def _form_chosen(self) -> None:
        field = self.query_one("#path", Input)
        field.focus()
        field.cursor_position = len(field.value)

    @on(Input.Submitted)
    @on(Button.Pressed, "#write")
    def _agreed(self) -> None:
        try:
            path = self._path.expanduser()
            there, folder = path.exists(), path.is_dir()
        except (OSError, RuntimeError, ValueError) as error:
            self._say(f"That path cannot be used: {error}", "$warn")
            return
        if not path.name or folder or "\0" in path.name:
            self._say("Give the name of a file.", "$warn")
        elif there:
            question = Content.assemble(show(path.name, "bold"), " is there already.")
            confirm(self.app, question, "Replace it", lambda: self._write(path, self._form, overwrite=True))
        else:
            self._write(path, self._form, overwrite=False)

    @property
    def _form(self) -> TableFormat:
        return list(FORM_WORDS)[self.query_one("#form", OptionList).highlighted or 0]

    # Writing

    @work(exclusive=True, group="export")
    async def _write(self, path: Path, form: TableFormat, *, overwrite: bool) -> None:
        records: list[Record] = []
        page = self._page if form in PAGES else None
        total = self._records.count
        async for some in read_all(page or self._records):
            records += some
            if len(records) % TOLD < SLICE:
                self._say(f"{figures.count(len(records))} of {figures.count(total)} rows …")

        right = page.right if page else frozenset()

        def write() -> None:
            write_file(path, encoded(table_text(records, form, right)), overwrite=overwrite)

        try:
            await asyncio.to_thread(write)
        except UsageError as error:
            self._say(str(error), "$warn")
        else:
            rows = counted(len(records), "row")
            self.app.notify(f"{rows} written: {plain(str(path))}", markup=False)
            self.dismiss(None)

    @on(Button.Pressed, "#back")
    def action_leave(self) -> None:
        self.workers.cancel_group(self, "export")
        self.dismiss(None)
