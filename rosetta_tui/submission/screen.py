"""One submission, section by section: its way to a certificate, its parts, its claim, its README, the report to its maker."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult, SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static

from corpora.text.messages import counted
from harness.method.method_names import BUNDLE_SUFFIX
from harness.submission.desk import SubmissionEvent
from harness.submission.rehearsal import ModelHere
from review.office.results.whole_way import STEPS
from rosetta_tui.session.trials import RehearsalNeeds, begin_rehearsal, rehearsal_needs
from rosetta_tui.show.columns import Cell, Column
from rosetta_tui.show.text import plain
from rosetta_tui.submission.facts import (
    DeskReading,
    ListedSubmission,
    SubmissionReading,
    bundle_lines,
    read_desk,
    read_submission_facts,
    take_in,
)
from rosetta_tui.submission.pages import SubmissionPage, claim, parts, readme, told, way
from rosetta_tui.toolkit.background import in_thread, telling
from rosetta_tui.toolkit.content import show, show_lines
from rosetta_tui.toolkit.dialogs.choose import PathScreen, answers, typed_line
from rosetta_tui.toolkit.form.file_choice import FileChoice
from rosetta_tui.toolkit.messages import RunChosen, RunPrepared
from rosetta_tui.toolkit.reading_screen import ListRow, ListScreen, SectionScreen, section_keys
from rosetta_tui.toolkit.result_table import ResultTable

# ---- Asks for what a rehearsal needs and the bundle does not have: a model on this computer, the
# open corpus of its card.


@dataclass(frozen=True)
class RehearsalChoice:
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
                yield Static(show(f"It asks a model, which you choose, on this computer.{made}", "$quiet"))
                yield from typed_line("Endpoint", "endpoint", "such as http://127.0.0.1:11434/v1")
                yield from typed_line("Model", "model", "its name there")
            if needs.corpus:
                yield Static(show(needs.corpus.partition(": name")[0] + ".", "$quiet"))
                yield FileChoice("path of the corpus", (".json", ".jsonl", ".tsv", ".csv"), id="corpus")
            yield Static(id="said")
            yield from answers("Begin (enter)", "begin")

    def on_mount(self) -> None:
        self.query(Input).first().focus()

    @on(Input.Submitted)
    def _begin(self) -> None:
        typed = {result.id: result.value.strip() for result in self.query(".setting Input").results(Input)}
        corpus = self.query_one(FileChoice).path if self._needs.corpus else None
        empty = next((name for name, value in typed.items() if not value), None)
        if empty is not None or (self._needs.corpus and corpus is None):
            what = "path of the corpus" if empty is None else empty
            self.query_one("#said", Static).update(show(f"Name the {what}.", "$bad"))
            return
        model = ModelHere(typed["endpoint"], typed["model"]) if self._needs.model else None
        self.dismiss(RehearsalChoice(model, corpus))

    def on_button_pressed(self, event: Button.Pressed) -> None:
        if event.button.id == "begin":
            self._begin()
        else:
            self.dismiss(None)


SECTIONS = ("Way", "Parts", "Claim", "README", "Told")


class SubmissionScreen(SectionScreen[SubmissionReading]):
    """Reads in a thread what is known of a submission; nothing of it is run, and no text is opened."""

    TITLE = "Submission"
    sections = SECTIONS
    rows = ResultTable
    CSS_PATH = "submission.tcss"
    HELP = (
        "The way leads from the bundle to the certificate that lifts its card. Each step is read from where it was done: "
        "✓ done, ▸ the next one, · not yet. enter does the next one: the rehearsal here (b, too), any other in the terminal, "
        "where you are asked for the words in CAPITAL LETTERS. c copies its command.\n"
        "enter opens the run of a step that has one. Everything that its maker wrote stands here as text, and nothing of it acts."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        *section_keys("submission", SECTIONS),
        Binding("b", "rehearse", "Rehearse", tooltip="Run it over the open sentences of its card", id="submission.rehearse"),
        Binding("c", "copy_command", "Copy command", tooltip="Copy the command of this step", id="submission.copy_command"),
        Binding("r", "read", "Read again", id="refresh"),
        Binding("question_mark", "app.keys", "Help", key_display="?", id="help"),
        Binding("q,escape", "leave", "Back", key_display="q", id="back"),
    ]  # fmt: skip

    def __init__(self, store_path: Path, number: str) -> None:
        super().__init__()
        self._path, self._number = store_path, number

    # Reading

    def read(self, before: SubmissionReading | None, *, anyway: bool) -> SubmissionReading:
        """Read everything that is known of it, where a file changed or ``anyway``."""
        return read_submission_facts(self._path, self._number, before, anyway=anyway)

    def show_found(self, found: SubmissionReading) -> None:
        facts = found.facts
        if facts is None:
            self.show_trouble("This submission cannot be shown.", found.trouble)
            return
        self.title = plain(facts.kept.manifest.name)
        made = (way(facts), parts(facts), claim(facts), readme(facts), told(facts))
        if facts.end.step is None:
            how_far = facts.end.words.partition(":")[0]
        else:
            done = sum(step.done for step in facts.steps if step.name in STEPS)
            how_far = f"{done} of {len(STEPS)} done · next: {facts.end.step.name}"
        self.show_pages(dict(zip(SECTIONS, made, strict=True)), show(how_far, "$mark"))

    # What to do

    def _of_row(self, each: Callable[[SubmissionPage], Sequence[str]]) -> str:
        """Return what belongs to the row under the cursor; empty where nothing does."""
        page = self.page
        there = each(page) if isinstance(page, SubmissionPage) and page.rows else ()
        return there[self.table.cursor] if there else ""

    @property
    def command(self) -> str:
        """The command that stands below the row under the cursor."""
        return self._of_row(lambda page: page.typed)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "copy_command":
            return bool(self.command)
        if action == "rehearse":
            return bool(self.pages)
        return super().check_action(action, parameters)

    def action_copy_command(self) -> None:
        self.app.copy_to_clipboard(self.command)

    def action_rehearse(self) -> None:

        def ask(needs: RehearsalNeeds) -> None:
            if needs.anything:
                self.app.push_screen(RehearseScreen(needs), self._rehearse)
            else:
                self._rehearse(RehearsalChoice(None, None))

        look = partial(rehearsal_needs, self._path, self._number)
        in_thread(self, "needs", look, ask, telling(self, "It cannot be rehearsed"), asks=True)

    def _rehearse(self, choice: RehearsalChoice | None) -> None:
        if choice is not None:
            # what it is held against, and what came of it on the way back
            self.action_section("Claim")
            begin = partial(begin_rehearsal, number=self._number, model=choice.model, on=choice.corpus)
            self.post_message(RunPrepared("The rehearsal", begin))

    @on(ResultTable.Chosen)
    def _open_run(self) -> None:
        facts = None if self.found is None else self.found.facts
        run = self._of_row(lambda page: page.runs)
        if facts is not None and run in facts.runs:
            self.post_message(RunChosen(run, facts.runs[run]))
        elif self.command and facts is not None and facts.end.step is not None:
            if facts.end.step.name == "rehearsed":
                self.action_rehearse()
            else:
                self._do_step()

    def _do_step(self) -> None:
        """Run ``rosetta council`` in the terminal, which asks for what the next step needs and does it."""
        program = [sys.executable, "-P", "-c", "from rosetta_tui.cli import main; main()", "council", self._number]
        try:
            with self.app.suspend():
                subprocess.run(program, check=False, env={**os.environ, "ROSETTA_HOME": str(self._path.parent)})  # noqa: S603  this program
                input("Enter brings the screen back. ")
        except SuspendNotSupported:
            self.notify("This terminal cannot be left for a command. c copies it.", severity="error")
        self.action_read()


# ---- The submissions at the desk of this computer, and the way to one that did not come yet.

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
            ListRow(submission.number, _cells(submission), _about(submission, wrong)) for submission in found.listed
        ]
        note = f" · {len(wrong)} cannot be read" if wrong else ""
        what_to_do = Content.assemble(
            "A submission is a method that somebody hands in as one signed file, NAME.rosetta-submission.\n\n",
            ("o", "bold $mark"),
            "  takes one in from a path or a stick; it is checked, and nothing of it is run\n\n",
            ("To make a small one, to try everything out, use a shell:\n\n", "$quiet"),
            ("  rosetta submission demo", "bold"),
            *(part for content in wrong for part in ("\n\n", content)),
        )
        self.show_list(rows, counted(len(rows), "submission"), what_to_do, note)

    # Opening

    def action_open(self) -> None:
        def chosen(path: Path | None) -> None:
            if path is not None:
                take = partial(take_in, self.home, path)
                refused = lambda why: self.app.push_screen(RefusedScreen(why))  # noqa: E731
                in_thread(self, "taking", take, self.open_row, refused, asks=True)

        hint = "Its signature and every member are checked, and its file is kept at the desk. Nothing of it is run."
        self.app.push_screen(PathScreen("Open a submission", hint, f"path of NAME{BUNDLE_SUFFIX}", (BUNDLE_SUFFIX,)), chosen)  # fmt: skip

    def open_row(self, key: str) -> None:
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
