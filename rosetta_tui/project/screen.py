"""One corpus in the making, section by section: what it needs, its sentences, its speakers, what is worth having, what it costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static

from corpora.model.entry import REGISTERS
from harness.core.failures import UsageError
from harness.project import candidates
from harness.project.authoring import changing
from review.office.results.into_project import gather
from review.office.results.progress import known_reviews
from review.office.store.store import Office
from rosetta_tui.project.sections import (
    ProjectReading,
    costs,
    met,
    needs,
    read_facts,
    sentences,
    speakers,
    worth_having,
)
from rosetta_tui.report.project import added_words, erase_words, left_out_lines, taken_out_words
from rosetta_tui.review.organiser.words.imported import left_lines, taken_words
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import in_thread, telling
from rosetta_tui.toolkit.content import Line, show
from rosetta_tui.toolkit.dialogs.choose import ActingScreen, answers, confirm, typed_line
from rosetta_tui.toolkit.form.file_choice import FileChoice
from rosetta_tui.toolkit.reading_screen import SectionScreen, section_keys

# ---- What the app itself does with a corpus in the making, by the same functions as the
# commands; it shows counts, and no sentence.

TIERS = ("1", "2", "3", "4", "5")


@dataclass(frozen=True)
class WantedSentences:
    file: Path
    difficulty: str = ""  # 1 to 5, of those that name none; empty: each names its own
    register: str = ""
    most: str = ""  # how many at most; empty: all of them


def checked(wanted: WantedSentences) -> tuple[candidates.CandidateDefaults, int | None]:
    """Return what holds of sentences that do not say it themselves, and how many are taken; UsageError names the field."""
    if wanted.difficulty and wanted.difficulty not in TIERS:
        raise UsageError(f"Difficulty {wanted.difficulty[:20]!r}: write a number from 1, basic, to 5, advanced, or leave it empty.")  # fmt: skip
    if wanted.register and wanted.register not in REGISTERS:
        raise UsageError(f"Register {wanted.register[:20]!r}: permitted are {', '.join(REGISTERS)}. Or leave it empty.")
    whole = wanted.most.isascii() and wanted.most.isdigit() and int(wanted.most) > 0
    if wanted.most and not whole:
        raise UsageError(f"At most {wanted.most[:20]!r}: write how many sentences, such as 104, or leave it empty.")
    tier = int(wanted.difficulty) if wanted.difficulty else None
    return candidates.CandidateDefaults(difficulty=tier, register=wanted.register or None), int(
        wanted.most or 0
    ) or None


def add_sentences(folder: Path, home: Path, wanted: WantedSentences) -> Sequence[Line]:
    """Add the sentences of a file, and say what became of them; UsageError and CorpusError in words, and then nothing is changed."""
    usual, most = checked(wanted)
    with changing(folder, home) as project:
        taken = candidates.take_candidates(project, candidates.read_candidates(project, wanted.file), usual, most)
    lines: list[Line] = [(added_words(taken), "good" if taken.entries else "warn")]
    lines += [(line, "quiet") for line in left_out_lines(taken)]
    if taken.secret:
        lines.append((erase_words(folder, wanted.file), "warn"))
    return lines


def take_out_last(folder: Path, home: Path) -> Sequence[Line]:
    """Remove the sentences that were added last, and say how many they were; UsageError where speakers have some of them."""
    with changing(folder, home) as project:
        gone = candidates.undo_last(project)
    return [(taken_out_words(gone), "plain")]


def gather_here(folder: Path, home: Path) -> Sequence[Line]:
    """Import what came back from speakers, and return what was left out; HarnessError in words. Once more changes nothing."""
    with changing(folder, home) as project:
        known_reviews(project)
        with Office.open(home) as office:
            gathered = gather(project, office)
    return [(taken_words(gathered), "plain"), *((line, "warn") for line in left_lines(gathered))]


# ---- Dialogs of a corpus in the making: sentences to add out of a file, and what became of an
# act.

Add = Callable[[WantedSentences], Sequence[Line]]
"""Adds sentences, and says what became of them; called in a thread."""

_ENDINGS = ".tsv", ".csv", ".txt", ".json", ".jsonl", ".tmx", ".xlf", ".xliff", ".xlsx", ".po", ".arb"

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
        self._title, self._lines = title, lines

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


SECTIONS = ("Needs", "Sentences", "Speakers", "Worth having", "Costs")
UNREADABLE = "This corpus cannot be shown."
AGAIN = "r  reads it again; it is also examined when one of its files changes"


class ProjectScreen(SectionScreen[ProjectReading]):
    """Reads the folder in a thread; counts alone are shown, and no sentence."""

    TITLE = "Corpus in the making"
    sections = SECTIONS
    HELP = (
        "What a corpus needs stands here as progress, and above it what comes next. No sentence is ever shown: some of them are "
        "secret. It is read again when a file of the folder changes.\n"
        "━ is there, ╌ is collected and not yet translated, · is missing.\n"
        "s adds sentences out of a file, u takes out those that were added last, t takes in what speakers sent back (after rosetta review import).\n"
        "What needs a stick, a person or a key is done with commands: c has each of them, and what comes next stands first. "
        "Words in CAPITAL LETTERS are yours to fill in."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        *section_keys("project", SECTIONS),
        Binding("c", "commands", "What to do", tooltip="Copy the command that does it", id="project.commands"),
        Binding("s", "add", "Add sentences", tooltip="From a file", id="project.add"),
        Binding("u", "take_out", "Undo", tooltip="Take out the sentences that were added last", id="project.undo"),
        Binding("t", "gather", "Take in", tooltip="Take in what came back from speakers", id="project.gather"),
        Binding("r", "read", "Read again", show=False, id="refresh"),
        Binding("question_mark", "app.keys", "Help", key_display="?", id="help"),
        Binding("q,escape", "leave", "Back", key_display="q", id="back"),
    ]  # fmt: skip

    def __init__(self, store_path: Path, folder: Path) -> None:
        super().__init__()
        self._home = store_path.parent
        self._folder = folder
        self.title = plain(folder.name) or self.TITLE

    def read(self, before: ProjectReading | None, *, anyway: bool) -> ProjectReading:
        """Read the folder, where a file of it changed or ``anyway``."""
        return read_facts(self._folder, self._home, before, anyway=anyway)

    def show_found(self, found: ProjectReading) -> None:
        facts, folder = found.facts, found.folder
        self.title = plain(found.name) or self.TITLE
        if facts is None:
            self.show_trouble(UNREADABLE, found.trouble, (str(folder), AGAIN))
            return
        made = (
            needs(facts, folder), sentences(facts, folder), speakers(facts, folder),
            worth_having(facts, folder), costs(facts),
        )  # fmt: skip
        dataset = facts.progress.dataset
        languages = show(f"{dataset.source_language} → {dataset.target_language} · ", "$quiet")
        self.show_pages(dict(zip(SECTIONS, made, strict=True)), languages + show(met(facts)))

    # Acting

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        facts = self.found.facts if self.found else None
        can = {
            "add": facts is not None and not facts.progress.in_vault,
            "take_out": facts is not None and facts.can_undo,
            "gather": facts is not None and bool(facts.reviews) and not facts.progress.in_vault,
        }
        return can[action] if action in can else super().check_action(action, parameters)

    def action_add(self) -> None:
        def added(lines: Sequence[Line] | None) -> None:
            if lines is not None:
                self._told("Sentences", lines)

        self.app.push_screen(AddSentencesScreen(partial(add_sentences, self._folder, self._home)), added)

    def action_take_out(self) -> None:
        question = Content.assemble(
            ("Take out the sentences that were added last?\n\n", "bold"),
            "They are with no speaker yet. Anyone who has their file can add them again.",
        )
        confirm(self.app, question, "Take out", partial(self._do, "Sentences", take_out_last))

    def action_gather(self) -> None:
        self._do("From speakers", gather_here)

    def _do(self, title: str, act: Callable[[Path, Path], Sequence[Line]]) -> None:
        work = partial(act, self._folder, self._home)
        done = partial(self._done, title)
        in_thread(self, "act", work, done, telling(self, title), exclusive=False)

    def _done(self, title: str, lines: Sequence[Line]) -> None:
        """Show what became of an act; in passing where something else came on top meanwhile, for it is done."""
        if self.is_active:
            self._told(title, lines)
        else:
            self.notify("\n".join(plain(text) for text, _ in lines), title=title, markup=False)
            self.action_read()

    def _told(self, title: str, lines: Sequence[Line]) -> None:
        self.app.push_screen(ToldScreen(title, lines))
        self.action_read()
