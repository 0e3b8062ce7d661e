"""The submissions at the desk of this computer, and the way to one that did not come yet."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from harness.method.shipped import BUNDLE_SUFFIX
from harness.submission.desk import SubmissionEvent
from rosetta_tui.show.columns import Cell, Column
from rosetta_tui.submission.facts import DeskReading, ListedSubmission, read_desk, take_in
from rosetta_tui.submission.messages import bundle_lines
from rosetta_tui.submission.screen import SubmissionScreen
from rosetta_tui.toolkit.background import in_thread
from rosetta_tui.toolkit.content import show, show_lines
from rosetta_tui.toolkit.dialogs.path import PathScreen
from rosetta_tui.toolkit.list_screen import ListRow, ListScreen
from scoring.core.messages import counted

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
    SubmissionEvent.NOT_REPEATED: "bad",
    SubmissionEvent.REFUSED: "bad",
    SubmissionEvent.BEGUN: "warn",
    SubmissionEvent.NOT_RUN: "warn",
    SubmissionEvent.SCORED: "mark",
    SubmissionEvent.TOLD: "good",
}
"""What was done last → the tone in which it is in the list."""


class SubmissionsScreen(ListScreen[DeskReading, str]):
    """Reads the desk in a thread; nothing of a bundle is run."""

    TITLE = "Submissions"
    list_name = "submissions"
    columns = COLUMNS
    none_yet = "No submission has come yet."
    CSS_PATH = "submission.tcss"
    HELP = (
        "A submission is a method that somebody handed in as one signed file, to be run over secret texts that they never see.\n"
        "o takes one in from a path or a stick: its file is checked and kept, and nothing of it is run. Who signed it, six words "
        "say: by telephone its maker reads the same six to you.\n"
        "enter shows where one is on its whole way, and what to do next."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "open", "Open a file", tooltip="Take in a submission from a file", id="submissions.open"),
        Binding("r", "read", "Read again", id="refresh"),
        Binding("question_mark", "app.keys", "Help", key_display="?", id="help"),
        Binding("q,escape", "leave", "Back", key_display="q", id="back"),
    ]  # fmt: skip

    def read(self, before: DeskReading | None, *, anyway: bool) -> DeskReading:
        """Read the desk, where a file of it changed or ``anyway``."""
        return read_desk(self.home, before, anyway=anyway)

    def show_found(self, found: DeskReading) -> None:
        """Show the submissions, and what is wrong with those that cannot be read."""
        wrong = [show(f"✗ {message}", "$bad") for message in found.wrong]
        rows = [
            ListRow(
                listed_submission.number,
                _cells(listed_submission),
                _about(listed_submission, wrong),
            )
            for listed_submission in found.listed
        ]
        note = f" · {len(wrong)} cannot be read" if wrong else ""
        self.show_list(rows, counted(len(rows), "submission"), _what_to_do(wrong), note)

    # Opening

    def action_open(self) -> None:
        def chosen(path: Path | None) -> None:
            if path is not None:
                take = partial(take_in, self.home, path)
                in_thread(self, "taking", take, self.open_row, self._refused, asks=True)

        hint = "Its signature and every member are checked, and its file is kept at the desk. Nothing of it is run."
        self.app.push_screen(PathScreen("Open a submission", hint, f"path of NAME{BUNDLE_SUFFIX}", (BUNDLE_SUFFIX,)), chosen)  # fmt: skip

    def _refused(self, why: str) -> None:
        self.app.push_screen(RefusedScreen(why))

    def open_row(self, key: str) -> None:
        """Show the submission with a number."""
        self.app.push_screen(SubmissionScreen(self.store_path, key))


class RefusedScreen(ModalScreen[None]):
    """Says why a file was not imported, naming each member that is the reason."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,enter", "dismiss(None)", "Back")]

    def __init__(self, why: str) -> None:
        super().__init__()
        self._why = why

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -wide"):
            yield Static(Content.styled("✗ Not imported", "bold $bad"))
            with VerticalScroll(id="refused"):
                yield Static(show_lines(self._why))
            yield Static(Content.styled("↑ ↓ scroll · esc goes back", "$quiet"))

    def on_mount(self) -> None:
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


def _about(found: ListedSubmission, wrong: Sequence[Content]) -> Content:
    """Return in three lines whose it is, how it is known and who signed it; below it what is wrong with others."""
    first, *more = bundle_lines(found.manifest, found.number, found.phrase)
    quiet = [show(line.strip(), "$quiet") for line in more]
    return Content("\n").join([show(first), *quiet, *wrong])


def _what_to_do(wrong: Sequence[Content]) -> Content:
    return Content.assemble(
        "A submission is a method that somebody hands in as one signed file, NAME.rosetta-submission.\n\n",
        ("o", "bold $mark"),
        "  takes one in from a path or a stick; it is checked, and nothing of it is run\n\n",
        ("To make a small one, to try everything out, use a shell:\n\n", "$quiet"),
        ("  rosetta submission demo", "bold"),
        *(part for content in wrong for part in ("\n\n", content)),
    )
