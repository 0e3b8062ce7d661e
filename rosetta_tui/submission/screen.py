"""One submission, section by section: its way to a certificate, its parts, its claim, its README, the report to its maker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content

from review.office.results.whole_way import STEPS
from rosetta_tui.session.rehearsing import RehearsalNeeds, begin_rehearsal, rehearsal_needs
from rosetta_tui.show.text import plain
from rosetta_tui.submission.facts import SubmissionFacts, SubmissionReading, read_submission_facts
from rosetta_tui.submission.pages import SubmissionPage, claim, parts, readme, told, way
from rosetta_tui.submission.rehearse_screen import RehearsalChoice, RehearseScreen
from rosetta_tui.toolkit.background import in_thread, telling
from rosetta_tui.toolkit.content import show
from rosetta_tui.toolkit.messages import RunChosen, RunPrepared
from rosetta_tui.toolkit.result_table import ResultTable
from rosetta_tui.toolkit.section_screen import SectionScreen, section_keys

SECTIONS = ("Way", "Parts", "Claim", "README", "Told")


class SubmissionScreen(SectionScreen[SubmissionReading]):
    """Reads in a thread what is known of a submission; nothing of it is run, and no text is opened."""

    TITLE = "Submission"
    sections = SECTIONS
    rows = ResultTable
    CSS_PATH = "submission.tcss"
    HELP = (
        "The way leads from the bundle to the certificate that lifts its card. Each step is read from where it was done: "
        "✓ done, ▸ the next one, · not yet. The rehearsal begins here (b); what needs keepers, your terms or speakers is done with "
        "commands: c copies the one of the step under the cursor. Words in CAPITAL LETTERS are yours to fill in.\n"
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
        self._path = store_path
        self._number = number

    # Reading

    def read(self, before: SubmissionReading | None, *, anyway: bool) -> SubmissionReading:
        """Read everything that is known of it, where a file changed or ``anyway``."""
        return read_submission_facts(self._path, self._number, before, anyway=anyway)

    def show_found(self, found: SubmissionReading) -> None:
        """Show its sections, or why it cannot be shown."""
        facts = found.facts
        if facts is None:
            self.show_trouble("This submission cannot be shown.", found.trouble)
            return
        self.title = plain(facts.kept.manifest.name)
        made = (way(facts), parts(facts), claim(facts), readme(facts), told(facts))
        self.show_pages(dict(zip(SECTIONS, made, strict=True)), _how_far(facts))

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
        """Omit what there is nothing to do with."""
        if action == "copy_command":
            return bool(self.command)
        if action == "rehearse":
            return bool(self.pages)
        return super().check_action(action, parameters)

    def action_copy_command(self) -> None:
        """Copy the command of the step under the cursor."""
        self.app.copy_to_clipboard(self.command)

    def action_rehearse(self) -> None:
        """Start the rehearsal, and watch it; ask first for what the bundle does not have."""
        look = partial(rehearsal_needs, self._path, self._number)
        cannot = telling(self, "It cannot be rehearsed")
        in_thread(self, "needs", look, self._ask_for_rehearsal, cannot, asks=True)

    def _ask_for_rehearsal(self, needs: RehearsalNeeds) -> None:
        if needs.anything:
            self.app.push_screen(RehearseScreen(needs), self._rehearse)
        else:
            self._rehearse(RehearsalChoice(None, None))

    def _rehearse(self, choice: RehearsalChoice | None) -> None:
        if choice is not None:
            self.action_section(
                "Claim"
            )  # what it is held against, and what came of it on the way back
            begin = partial(begin_rehearsal, number=self._number, model=choice.model, on=choice.corpus)  # fmt: skip
            self.post_message(RunPrepared("The rehearsal", begin))

    @on(ResultTable.Chosen)
    def _open_run(self) -> None:
        facts = None if self.found is None else self.found.facts
        run = self._of_row(lambda page: page.runs)
        if facts is not None and run in facts.runs:
            self.post_message(RunChosen(run, facts.runs[run]))


def _how_far(facts: SubmissionFacts) -> Content:
    """Return how much of the way is gone, and what is next."""
    if facts.end.step is None:
        return show(facts.end.words.partition(":")[0], "$mark")
    done = sum(step.done for step in facts.steps if step.name in STEPS)
    return show(f"{done} of {len(STEPS)} done · next: {facts.end.step.name}", "$mark")
