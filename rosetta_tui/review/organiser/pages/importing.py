"""Taking ratings in: the files on the sticks that are plugged in, or in a folder, each whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import SelectionList, Static
from textual.widgets.selection_list import Selection
from textual.worker import get_current_worker

from harness.core.failures import HarnessError
from harness.sealed.carried_files import ReviewFile
from harness.sealed.found_files import FileSearch, FoundFile, find_files
from harness.sealed.stick import RATINGS_SUFFIX, mounted_sticks
from rosetta_tui.review.organiser.desk import OrganiserService
from rosetta_tui.review.organiser.pages.parts import STYLES, ask, typed_path
from rosetta_tui.review.organiser.words.imported import report_lines, skipped_lines
from rosetta_tui.toolkit.background import bring
from rosetta_tui.toolkit.content import StatusBar, show
from rosetta_tui.toolkit.key_line import KeyLine


class ImportScreen(Screen[None]):
    """First which files, then what became of each; leaving stops between two files."""

    TITLE = "Take ratings in"
    CSS_PATH = STYLES
    HELP = (
        "The same file may be imported any number of times, in any order: nothing is taken twice.\n"
        "Files of laptops that nobody has vouched for are set aside until their six words were compared."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("i", "import", "Take in", id="importing.take_in"),
        Binding("f", "folder", "Folder or file", id="importing.folder"),
        Binding("k", "recovery", "Recovery key", id="importing.recovery"),
        Binding("r", "read", "Look again", id="refresh"),
        Binding("q,escape", "dismiss(None)", "Back", key_display="q", id="back"),
    ]

    def __init__(self, desk: OrganiserService) -> None:
        super().__init__()
        self._desk = desk
        self._added: list[Path] = []
        """Folders and files that were named."""
        self._recovery: Path | None = None
        self._lines: list[Content] = []
        self._busy = False

    def compose(self) -> ComposeResult:
        yield StatusBar()
        yield Static(id="about")
        yield SelectionList[FoundFile](id="files")
        with VerticalScroll(id="page"):
            yield Static(id="report")
        yield KeyLine()

    def on_mount(self) -> None:
        self.files.focus()
        self.action_read()

    @property
    def files(self) -> SelectionList[FoundFile]:
        """The files that were found."""
        return self.query_one("#files", SelectionList)

    # Looking for files

    def action_read(self) -> None:
        if not self._busy:
            self._look()

    @work(thread=True, exclusive=True, group="look")
    def _look(self) -> None:
        folders = [path for path in self._added if path.is_dir()]
        search = find_files([*mounted_sticks(), *folders], ReviewFile.RATINGS)
        named = [path for path in self._added if not path.is_dir()]
        bring(self, self._show, search, named)

    def _show(self, search: FileSearch, named: Sequence[Path]) -> None:
        self.files.clear_options()
        self.files.add_options(_selections(search.files, named))
        self.query_one("#report", Static).update(
            Content("\n").join(map(_line, skipped_lines(search.skipped)))
        )
        many = self.files.option_count
        self.files.display = bool(many)
        self.files.highlighted = 0 if many else None
        (self.files if many else self.query_one("#page")).focus()
        recovery = f"   recovery key: {self._recovery}" if self._recovery else ""
        words = (
            f"{many} file{'s' * (many != 1)} of ratings. space marks, i takes the marked ones in."
            if many
            else "No file of ratings on the sticks that are plugged in. Plug one in and press r, or f names a folder."
        )
        self.query_one("#about", Static).update(Content.assemble(words, show(recovery, "$quiet")))

    def action_folder(self) -> None:
        """Name a folder or a file."""

        def typed(text: str) -> None:
            if text:
                self._add(typed_path(text))

        about = f"Files NAME{RATINGS_SUFFIX}, also renamed or in a zip; of a folder, those in it and below."
        ask(self.app, "Folder or file", about, typed, str(Path.cwd()))

    def _add(self, path: Path) -> None:
        if path.exists():
            self._added.append(path)
            self.action_read()
        else:
            self.notify(f"{path} is not there.", severity="warning", markup=False)

    def action_recovery(self) -> None:
        """Name the recovery key, where this installation's own cannot open the files."""

        def typed(text: str) -> None:
            self._recovery = typed_path(text) if text else None
            self.action_read()

        about = "A file with an age identity, for files that this installation cannot open itself."
        ask(self.app, "Recovery key", about, typed)

    # Taking in

    def action_import(self) -> None:
        chosen = list(self.files.selected)
        if not chosen:
            self.notify("No file is marked.", severity="warning", markup=False)
        elif not self._busy:
            self._busy = True
            self._lines = []
            self._desk.reports = []
            self._import(chosen)

    @work(thread=True, group="import")
    def _import(self, files: Sequence[FoundFile]) -> None:
        worker = get_current_worker()
        try:
            for report in self._desk.import_files(files, self._recovery):
                self._desk.reports.append(report)
                bring(self, self._tell, report_lines(report), len(files))
                if worker.is_cancelled:
                    break
        except HarnessError as error:
            bring(self, self._tell, [f"NOT TAKEN  {error}"], len(files))
        finally:
            self._busy = False

    def _tell(self, lines: Iterable[str], of: int) -> None:
        if not self.is_attached:
            return
        self._lines += [_line(line) for line in lines]
        done = len(self._desk.reports)
        self.query_one("#about", Static).update(
            Content.assemble((f"{done} of {of}", "bold"), " imported." if done == of else " …")
        )
        self.query_one("#report", Static).update(Content("\n").join(self._lines))
        self.query_one("#page").scroll_end(animate=False)


def _selections(found: Sequence[FoundFile], named: Sequence[Path]) -> list[Selection[FoundFile]]:
    """Return each file once, marked; with when it was written, by the clock of anyone who wrote it."""
    files = {file.path: file for file in reversed(found)}
    listed = [
        Selection(
            _file(file.path, datetime.fromtimestamp(file.modified, UTC).astimezone()), file, True
        )
        for file in reversed(files.values())
    ]
    added = (path for path in named if path not in files)
    return [
        *listed,
        *(Selection(_file(path, None), FoundFile(path, 0, 0.0), True) for path in added),
    ]


def _file(path: Path, written: datetime | None) -> Content:
    when = "" if written is None else f"  {written:%Y-%m-%d %H:%M}"
    return Content.assemble(show(path.name), show(f"{when}  {path.parent}", "$quiet"))


def _line(line: str) -> Content:
    """Return a line of a report; what an organiser must see stands out by its first word already."""
    attention = line.lstrip().split(" ")[0].rstrip(":")
    return show(line, "$warn" if attention.isupper() and len(attention) > 2 else "")
