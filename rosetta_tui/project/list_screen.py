"""The corpora in the making that this computer saw, and the way to one that it did not see yet."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from corpora.languages.tags import language_name
from harness.project.known import forget, remember
from harness.project.state import read_project
from rosetta_tui.project.facts import ProjectReading, read_known
from rosetta_tui.project.new_corpus_form import NewCorpusScreen
from rosetta_tui.project.requirements import met
from rosetta_tui.project.screen import UNREADABLE, ProjectScreen
from rosetta_tui.report.project import next_step
from rosetta_tui.request.draft import Value
from rosetta_tui.show.columns import Cell, Column
from rosetta_tui.toolkit.background import in_thread, telling
from rosetta_tui.toolkit.content import show
from rosetta_tui.toolkit.dialogs.path import PathScreen
from rosetta_tui.toolkit.list_screen import ListRow, ListScreen
from scoring.core.messages import counted

COLUMNS = (
    Column("corpus", "corpus", 14, share=2),
    Column("languages", "languages", 12, share=1, drop=2),
    Column("met", "needs met", 10),
    Column("next", "next", 20, share=3),
    Column("folder", "folder", 12, share=2, drop=4),
)


class ProjectsScreen(ListScreen[Sequence[ProjectReading], Path]):
    """Reads each folder in a thread; counts alone are shown."""

    TITLE = "New languages"
    list_name = "projects"
    columns = COLUMNS
    none_yet = "No corpus has been begun here yet."
    HELP = (
        "A corpus in the making is a folder: sentences, what speakers made of them, and how far it is. Some of its sentences are secret "
        "and are stored encrypted in it.\n"
        "Here stand those that this computer saw before. One on a stick is there again when the stick is in its place."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "begin", "New corpus", id="projects.new"),
        Binding("o", "open", "Open a folder", id="projects.open"),
        Binding("delete,backspace", "forget", "Off the list", key_display="del", tooltip="Nothing in the folder is touched", id="projects.forget"),
        Binding("r", "read", "Read again", show=False, id="refresh"),
        Binding("question_mark", "app.keys", "Help", key_display="?", id="help"),
        Binding("q,escape", "leave", "Back", key_display="q", id="back"),
    ]  # fmt: skip

    def __init__(self, store_path: Path) -> None:
        super().__init__(store_path)
        self._typed: dict[str, Value] = {}
        """What is in the form of a new corpus."""

    def read(
        self, before: Sequence[ProjectReading] | None, *, anyway: bool
    ) -> Sequence[ProjectReading]:
        """Read those of which a file changed or, with ``anyway``, every folder."""
        return read_known(self.home, before, anyway=anyway)

    def show_found(self, found: Sequence[ProjectReading]) -> None:
        """Show the corpora."""
        rows = [
            ListRow(project_reading.folder, _cells(project_reading), _about(project_reading))
            for project_reading in found
        ]
        self.show_list(rows, counted(len(rows), "corpus", "corpora"), _what_to_do())

    # Opening

    def action_begin(self) -> None:
        """Open the form of a new corpus."""
        self.app.push_screen(NewCorpusScreen(self.store_path, self._typed))

    def action_open(self) -> None:
        words = ("Open a corpus in the making", "Its folder has a file project.json. It is only examined.", "path of the folder")  # fmt: skip
        self.app.push_screen(PathScreen(*words), self._opened)

    def _opened(self, folder: Path | None) -> None:
        """Show a folder, and keep where it lies."""
        if folder is not None:
            cannot = telling(self, "It cannot be opened")
            in_thread(self, "open", partial(self._known, folder), self.open_row, cannot, asks=True)

    def _known(self, folder: Path) -> Path:
        project = read_project(folder.absolute(), self.home)
        remember(self.home, project.state.number, project.folder)
        return project.folder

    def open_row(self, key: Path) -> None:
        """Show the corpus in a folder."""
        self.app.push_screen(ProjectScreen(self.store_path, key))

    def action_forget(self) -> None:
        """Remove a folder from the list; nothing in it is touched."""
        if self.chosen is not None:
            forget(self.home, self.chosen.key)
            self.notify("Taken off the list. The folder is as it was; o opens it again.", markup=False)  # fmt: skip
            self.look()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Omit what there is no folder for."""
        if action == "forget":
            return bool(self.rows)
        return super().check_action(action, parameters)


def _cells(found: ProjectReading) -> tuple[Cell, ...]:
    facts, folder = found.facts, Cell(str(found.folder), "quiet")
    if facts is None:
        return (Cell(found.name), Cell(""), Cell("✗", "bad"), Cell(UNREADABLE, "bad"), folder)
    dataset, done = (
        facts.progress.dataset,
        all(requirement.met for requirement in facts.progress.requirements),
    )
    return (
        Cell(found.name),
        Cell(f"{dataset.source_language} → {dataset.target_language}"),
        Cell(met(facts).removesuffix(" met"), "good" if done else "plain"),
        Cell(next_step(facts.progress, found.folder).words),
        folder,
    )


def _about(found: ProjectReading) -> Content:
    """Return which languages it is of, what comes next and where it lies, or why it cannot be shown."""
    facts, where = found.facts, show(str(found.folder), "$quiet")
    if facts is None:
        return Content.assemble(show(found.trouble, "$bad"), "\n", where)
    dataset = facts.progress.dataset
    names = " → ".join(language_name(tag) for tag in (dataset.source_language, dataset.target_language))  # fmt: skip
    step = next_step(facts.progress, found.folder).words
    return Content.assemble(
        show(f"{found.name} · {names}"), "\n", show(f"Next: {step}"), "\n", where
    )


def _what_to_do() -> Content:
    return Content.assemble(
        "A corpus for a language that has none: sentences that its speakers translate and look over, with their community's consent.\n\n",
        ("n", "bold $mark"),
        "  begins a new one, in an empty folder\n",
        ("o", "bold $mark"),
        "  opens a folder that another computer began",
    )
