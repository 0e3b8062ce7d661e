"""One corpus in the making, section by section: what it needs, its sentences, its speakers, what is worth having, what it costs."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import ClassVar

from textual.binding import Binding, BindingType

from rosetta_tui.project.facts import ProjectReading, read_facts
from rosetta_tui.project.needs import met, needs
from rosetta_tui.project.sentences import sentences
from rosetta_tui.project.speakers import speakers
from rosetta_tui.project.worth import costs, worth_having
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import in_thread
from rosetta_tui.toolkit.content import Where, show
from rosetta_tui.toolkit.section_screen import READING, SectionScreen

SECTIONS = ("Needs", "Sentences", "Speakers", "Worth having", "Costs")
UNREADABLE = "This corpus cannot be shown."
AGAIN = "r  reads it again; it is also looked at when one of its files changes"


class ProjectScreen(SectionScreen):
    """Reads the folder in a thread; counts alone are shown, and no sentence."""

    TITLE = "Corpus in the making"
    sections = SECTIONS
    HELP = (
        "What a corpus needs stands here as progress, and above it what comes next. No sentence is ever shown: some of them are "
        "secret. It is read again when a file of the folder changes.\n"
        "━ is there, ╌ is collected and not yet translated, · is missing.\n"
        "What needs a stick, a person or a key is done with commands: c has each of them, and what comes next stands first. "
        "Words in CAPITAL LETTERS are yours to fill in."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(str(number), f"section('{name}')", name, show=False, id=f"project.section_{number}")
            for number, name in enumerate(SECTIONS, 1)
        ),
        Binding("left,h", "turn(-1)", "Section before", show=False, id="previous"),
        Binding("right,l", "turn(1)", "Section after", show=False, id="next"),
        Binding("c", "commands", "What to do", tooltip="Copy the command that does it", id="project.commands"),
        Binding("r", "read", "Read again", id="refresh"),
        Binding("question_mark", "app.keys", "Help", key_display="?", id="help"),
        Binding("q,escape", "leave", "Back", key_display="q", id="back"),
    ]  # fmt: skip

    def __init__(self, store_path: Path, folder: Path) -> None:
        super().__init__()
        self._home = store_path.parent
        self._folder = folder
        self.title = plain(folder.name) or self.TITLE
        self._reading: ProjectReading | None = None

    def read(self, *, anyway: bool) -> None:
        """Read the folder, where a file of it changed or ``anyway``."""
        read = partial(read_facts, self._folder, self._home, self._reading, anyway=anyway)
        in_thread(self, READING, read, self._take, self.query_one(Where).cannot)

    def _take(self, found: ProjectReading) -> None:
        if found is self._reading:
            return
        self._reading, facts, folder = found, found.facts, found.folder
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
