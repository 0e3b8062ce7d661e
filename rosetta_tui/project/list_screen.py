"""The corpora in the making that this computer saw, and the way to one that it did not see yet."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen

from corpora.languages.tags import language_name
from harness.project.known import forget, remember
from harness.project.state import read_project
from rosetta_tui.project.facts import ProjectReading, read_known
from rosetta_tui.project.needs import met
from rosetta_tui.project.new_corpus_form import NewCorpusScreen
from rosetta_tui.project.screen import UNREADABLE, ProjectScreen
from rosetta_tui.report.project import next_step
from rosetta_tui.request.draft import Value
from rosetta_tui.show.columns import Cell, Column
from rosetta_tui.toolkit.background import in_thread, telling
from rosetta_tui.toolkit.content import EmptyState, Telling, Where, show
from rosetta_tui.toolkit.dialogs.path import PathScreen
from rosetta_tui.toolkit.key_line import KeyLine
from rosetta_tui.toolkit.messages import Left
from rosetta_tui.toolkit.result_table import ResultTable
from rosetta_tui.toolkit.section_page import PageRows
from rosetta_tui.toolkit.section_screen import LOOK_SECONDS
from scoring.core.wording import counted

COLUMNS = (
    Column("corpus", "corpus", 14, share=2),
    Column("languages", "languages", 12, share=1, drop=2),
    Column("met", "needs met", 10),
    Column("next", "next", 20, share=3),
    Column("folder", "folder", 12, share=2, drop=4),
)


class ProjectsScreen(Screen[None]):
    """Reads each folder in a thread; counts alone are shown."""

    TITLE = "New languages"
    HELP = (
        "A corpus in the making is a folder: sentences, what speakers made of them, and how far it is. Some of its sentences are secret "
        "and lie sealed in it.\n"
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
        super().__init__()
        self._path = store_path
        self._found: list[ProjectReading] | None = None
        self._typed: dict[str, Value] = {}
        """What stands in the form of a new corpus."""

    def compose(self) -> ComposeResult:
        """Lay out where am I, the corpora, the one under the cursor, and the keys."""
        yield Where()
        yield EmptyState("Reading …")
        yield ResultTable(COLUMNS, id="projects")
        yield Telling(id="chosen")
        yield KeyLine()

    def on_mount(self) -> None:
        """Show the frame, then read."""
        self._show_list(there=False)
        self.set_interval(LOOK_SECONDS, self.look)
        self.action_read()

    def on_screen_resume(self) -> None:
        """Look again when coming back."""
        if self._found is not None:
            self.look()

    @property
    def table(self) -> ResultTable:
        """The corpora."""
        return self.query_one("#projects", ResultTable)

    @property
    def chosen(self) -> ProjectReading | None:
        """The corpus under the cursor."""
        return self._found[self.table.cursor] if self._found else None

    # Reading

    def action_read(self) -> None:
        """Read every folder again."""
        self._read(anyway=True)

    def look(self) -> None:
        """Read again those of which a file changed, unless a look is under way."""
        looks = (each for each in self.workers if each.node is self and each.group == "projects")
        if self.is_current and all(each.is_finished for each in looks):
            self._read(anyway=False)

    def _read(self, *, anyway: bool) -> None:
        before = {each.folder: each for each in self._found or ()}
        read = partial(read_known, self._path.parent, before, anyway=anyway)
        in_thread(self, "projects", read, self._take, self.query_one(Where).cannot)

    def _take(self, found: list[ProjectReading]) -> None:
        if self._found is not None and list(map(id, found)) == list(map(id, self._found)):
            return
        here = self.chosen
        self._found = found
        folders = [each.folder for each in found]
        place = folders.index(here.folder) if here is not None and here.folder in folders else None
        self.table.show_rows(PageRows(COLUMNS, [_cells(each) for each in found]), place)
        self.query_one(EmptyState).say("No corpus was begun here yet.", _what_to_do())
        self._show_list(there=bool(found))
        many = counted(len(found), "corpus", "corpora") if found else ""
        self.query_one(Where).say(show(many, "$quiet"))
        if found:
            self.table.focus()
        self._moved()

    def _show_list(self, *, there: bool) -> None:
        """Show the list, or what is said in its place."""
        self.query_one(EmptyState).display = not there
        self.table.display = self.query_one("#chosen").display = there
        self.refresh_bindings()

    @on(ResultTable.Moved)
    def _moved(self) -> None:
        if self.chosen is not None:
            self.query_one("#chosen", Telling).tell(_about(self.chosen))

    # Opening

    @on(ResultTable.Chosen)
    def _choose(self) -> None:
        if self.chosen is not None:
            self._show(self.chosen.folder)

    def action_begin(self) -> None:
        """Open the form of a new corpus."""
        self.app.push_screen(NewCorpusScreen(self._path, self._typed))

    def action_open(self) -> None:
        """Ask for the folder of a corpus in the making, and show it."""
        words = ("Open a corpus in the making", "Its folder has a file project.json. It is only looked at.", "path of the folder")  # fmt: skip
        self.app.push_screen(PathScreen(*words), self._opened)

    def _opened(self, folder: Path | None) -> None:
        """Show a folder, and keep where it lies."""
        if folder is not None:
            cannot = telling(self, "It cannot be opened")
            in_thread(self, "open", partial(self._known, folder), self._show, cannot, asks=True)

    def _known(self, folder: Path) -> Path:
        home = self._path.parent
        project = read_project(folder.absolute(), home)
        remember(home, project.state.number, project.folder)
        return project.folder

    def _show(self, folder: Path) -> None:
        self.app.push_screen(ProjectScreen(self._path, folder))

    def action_forget(self) -> None:
        """Take a folder off the list; nothing in it is touched."""
        if self.chosen is not None:
            forget(self._path.parent, self.chosen.folder)
            self.notify("Taken off the list. The folder is as it was; o opens it again.", markup=False)  # fmt: skip
            self.look()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave out what there is no folder for."""
        if action == "forget":
            return bool(self._found)
        return super().check_action(action, parameters)

    def action_leave(self) -> None:
        """Go back."""
        self.post_message(Left())


def _cells(found: ProjectReading) -> tuple[Cell, ...]:
    facts, folder = found.facts, Cell(str(found.folder), "quiet")
    if facts is None:
        return (Cell(found.name), Cell(""), Cell("✗", "bad"), Cell(UNREADABLE, "bad"), folder)
    dataset, done = facts.progress.dataset, all(each.met for each in facts.progress.requirements)
    return (
        Cell(found.name),
        Cell(f"{dataset.source_language} → {dataset.target_language}"),
        Cell(met(facts).removesuffix(" met"), "good" if done else "plain"),
        Cell(next_step(facts.progress, found.folder).words),
        folder,
    )


def _about(found: ProjectReading) -> Content:
    """Say which languages it is of, what comes next and where it lies, or why it cannot be shown."""
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
