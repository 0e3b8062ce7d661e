"""One corpus in the making, section by section: what it needs, its sentences, its speakers, what is worth having, what it costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from rosetta_tui.project.actions import add_sentences, gather_here, take_out_last
from rosetta_tui.project.dialogs import AddSentencesScreen, ToldScreen
from rosetta_tui.project.facts import ProjectReading, read_facts
from rosetta_tui.project.recommendations import costs, worth_having
from rosetta_tui.project.requirements import met, needs
from rosetta_tui.project.sentences import sentences
from rosetta_tui.project.speakers import speakers
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import in_thread, telling
from rosetta_tui.toolkit.content import show
from rosetta_tui.toolkit.dialogs.choose import confirm
from rosetta_tui.toolkit.section_page import Line
from rosetta_tui.toolkit.section_screen import SectionScreen, section_keys

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
        """Show its sections, or why it cannot be shown."""
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
        """Omit what cannot be done with this corpus now."""
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

        self.app.push_screen(AddSentencesScreen(partial(add_sentences, self._folder, self._home)), added)  # fmt: skip

    def action_take_out(self) -> None:
        question = Content.assemble(
            ("Take out the sentences that were added last?\n\n", "bold"),
            "They are with no speaker yet. Anyone who has their file can add them again.",
        )
        confirm(self.app, question, "Take out", partial(self._do, "Sentences", take_out_last))

    def action_gather(self) -> None:
        """Import what came back from speakers; once more changes nothing."""
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
