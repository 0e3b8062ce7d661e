"""Where rows are written to, and in which form."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Button, Input, OptionList, Static
from textual.widgets.option_list import Option

from corpora.text.messages import counted
from harness.core.failures import UsageError
from harness.core.storage import write_file
from harness.settings import read_settings
from rosetta_tui.show import figures
from rosetta_tui.show.columns import SLICE, Record, Records, ShownRecords, read_all
from rosetta_tui.show.exporting import FORM_WORDS, PAGES, TableFormat, encoded, table_text
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.content import Harmless, show
from rosetta_tui.toolkit.dialogs.choose import answers, confirm

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
