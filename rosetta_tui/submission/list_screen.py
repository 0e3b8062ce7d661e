"""The submissions at the desk of this computer, and the way to one that did not come yet."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

from harness.method.shipped import BUNDLE_SUFFIX
from harness.submission.desk import DeskAct
from rosetta_tui.show.columns import Cell, Column
from rosetta_tui.submission.facts import DeskReading, ListedSubmission, read_desk, take_in
from rosetta_tui.submission.screen import SubmissionScreen
from rosetta_tui.submission.words import bundle_lines
from rosetta_tui.toolkit.background import in_thread
from rosetta_tui.toolkit.content import EmptyState, Telling, Where, show, show_lines
from rosetta_tui.toolkit.dialogs.path import PathScreen
from rosetta_tui.toolkit.key_line import KeyLine
from rosetta_tui.toolkit.messages import Left
from rosetta_tui.toolkit.result_table import ResultTable
from rosetta_tui.toolkit.section_page import PageRows
from rosetta_tui.toolkit.section_screen import LOOK_SECONDS, READING
from scoring.core.wording import counted

COLUMNS = (
    Column("name", "submission", 16, share=3),
    Column("by", "by", 10, share=1),
    Column("phrase", "six words of who signed it", 26, share=2, drop=4),
    Column("lane", "lane", 4, drop=2),
    Column("state", "where it stands", 15),
    Column("since", "since", 10),
    Column("number", "number", 16, drop=5),
)

TONES = {
    DeskAct.NOT_REPEATED: "bad",
    DeskAct.REFUSED: "bad",
    DeskAct.BEGUN: "warn",
    DeskAct.NOT_RUN: "warn",
    DeskAct.SCORED: "mark",
    DeskAct.TOLD: "good",
}
"""What was done last → the tone in which it stands in the list."""


class SubmissionsScreen(Screen[None]):
    """Reads the desk in a thread; nothing of a bundle is run."""

    TITLE = "Submissions"
    CSS_PATH = "submission.tcss"
    HELP = (
        "A submission is a method that somebody handed in as one signed file, to be run over secret texts that they never see.\n"
        "o takes one in from a path or a stick: its file is checked and kept, and nothing of it is run. Who signed it, six words "
        "say: by telephone its maker reads the same six to you.\n"
        "enter shows where one stands on its whole way, and what to do next."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "open", "Open a file", tooltip="Take in a submission from a file", id="submissions.open"),
        Binding("r", "read", "Read again", id="refresh"),
        Binding("question_mark", "app.keys", "Help", key_display="?", id="help"),
        Binding("q,escape", "leave", "Back", key_display="q", id="back"),
    ]  # fmt: skip

    def __init__(self, store_path: Path) -> None:
        super().__init__()
        self._path = store_path
        self._desk: DeskReading | None = None

    def compose(self) -> ComposeResult:
        """Lay out where am I, the submissions, the one under the cursor, and the keys."""
        yield Where()
        yield EmptyState("Reading …")
        yield ResultTable(COLUMNS, id="submissions")
        yield Telling(id="about")
        yield KeyLine()

    def on_mount(self) -> None:
        """Show the frame, then read."""
        self._show_list(there=False)
        self.set_interval(LOOK_SECONDS, self.look)
        self.action_read()

    def on_screen_resume(self) -> None:
        """Look again when coming back."""
        if self._desk is not None:
            self.look()

    @property
    def table(self) -> ResultTable:
        """The submissions."""
        return self.query_one("#submissions", ResultTable)

    @property
    def chosen(self) -> ListedSubmission | None:
        """The submission under the cursor."""
        return self._desk.listed[self.table.cursor] if self._desk and self._desk.listed else None

    # Reading

    def action_read(self) -> None:
        """Read the desk again."""
        self._read(anyway=True)

    def look(self) -> None:
        """Read again where a file changed, unless a look is under way."""
        looks = (each for each in self.workers if each.node is self and each.group == READING)
        if self.is_current and all(each.is_finished for each in looks):
            self._read(anyway=False)

    def _read(self, *, anyway: bool) -> None:
        read = partial(read_desk, self._path.parent, self._desk, anyway=anyway)
        in_thread(self, READING, read, self._take, self.query_one(Where).cannot)

    def _take(self, found: DeskReading) -> None:
        if found is self._desk:
            return
        here = self.chosen.number if self.chosen else ""
        self._desk = found
        numbers = [each.number for each in found.listed]
        place = numbers.index(here) if here in numbers else None
        self.table.show_rows(PageRows(COLUMNS, [_cells(each) for each in found.listed]), place)
        self.query_one(EmptyState).say("No submission came yet.", _what_to_do(found))
        self._show_list(there=bool(found.listed))
        count = counted(len(found.listed), "submission") if found.listed else ""
        wrong = f" · {len(found.wrong)} cannot be read" if found.wrong else ""
        self.query_one(Where).say(Content.assemble(show(count, "$quiet"), (wrong, "$bad")))
        if found.listed:
            self.table.focus()
        self._moved()

    def _show_list(self, *, there: bool) -> None:
        """Show the list, or what is said in its place."""
        self.query_one(EmptyState).display = not there
        self.table.display = self.query_one("#about").display = there

    @on(ResultTable.Moved)
    def _moved(self) -> None:
        if self.chosen is not None and self._desk is not None:
            wrong = [show(f"✗ {each}", "$bad") for each in self._desk.wrong]
            lines = [*_about(self.chosen), *wrong]
            self.query_one("#about", Telling).tell(Content("\n").join(lines))

    # Opening

    @on(ResultTable.Chosen)
    def _choose(self) -> None:
        if self.chosen is not None:
            self._show_submission(self.chosen.number)

    def action_open(self) -> None:
        """Ask for the file of a submission, take it in and show it."""

        def chosen(path: Path | None) -> None:
            if path is not None:
                take = partial(take_in, self._path.parent, path)
                in_thread(self, "taking", take, self._show_submission, self._refused, asks=True)

        hint = "Its signature and every member are checked, and its file is kept at the desk. Nothing of it is run."
        self.app.push_screen(PathScreen("Open a submission", hint, f"path of NAME{BUNDLE_SUFFIX}", (BUNDLE_SUFFIX,)), chosen)  # fmt: skip

    def _refused(self, why: str) -> None:
        self.app.push_screen(RefusedScreen(why))

    def _show_submission(self, number: str) -> None:
        self.app.push_screen(SubmissionScreen(self._path, number))

    def action_leave(self) -> None:
        """Go back."""
        self.post_message(Left())


class RefusedScreen(ModalScreen[None]):
    """Says why a file was not taken in, naming each member that is the reason."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,enter", "dismiss(None)", "Back")]

    def __init__(self, why: str) -> None:
        super().__init__()
        self._why = why

    def compose(self) -> ComposeResult:
        """Lay out the words, and the way back."""
        with Vertical(classes="dialog -wide"):
            yield Static(Content.styled("✗ Not taken in", "bold $bad"))
            with VerticalScroll(id="refused"):
                yield Static(show_lines(self._why))
            yield Static(Content.styled("↑ ↓ scroll · esc goes back", "$quiet"))

    def on_mount(self) -> None:
        """Let the arrows scroll."""
        self.query_one("#refused").focus()


def _cells(found: ListedSubmission) -> tuple[Cell, ...]:
    manifest = found.manifest
    return (
        Cell(manifest.name),
        Cell(manifest.submitter),
        Cell(found.phrase, "quiet"),
        Cell(manifest.method.lane),
        Cell(found.state, TONES.get(found.act, "plain")),
        Cell(found.since[:10]),
        Cell(found.number, "quiet"),
    )


def _about(found: ListedSubmission) -> list[Content]:
    """Say in three lines whose it is, how it is known, and who signed it."""
    first, *more = bundle_lines(found.manifest, found.number, found.phrase)
    return [show(first), *(show(each.strip(), "$quiet") for each in more)]


def _what_to_do(found: DeskReading) -> Content:
    return Content.assemble(
        "A submission is a method that somebody hands in as one signed file, NAME.rosetta-submission.\n\n",
        ("o", "bold $mark"),
        "  takes one in from a path or a stick; it is checked, and nothing of it is run\n\n",
        ("A small one to try everything with is made in a shell:\n\n", "$quiet"),
        ("  rosetta submission demo", "bold"),
        *(part for each in found.wrong for part in ("\n\n", show(f"✗ {each}", "$bad"))),
    )
