"""The corpora in the making that this computer saw, and the way to one that it did not see yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.events import DescendantFocus
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Button, Static

from corpora.languages.tags import language_name, list_cards
from corpora.model.vocabularies import context_labels
from corpora.text.messages import counted
from harness.project.state import Project, forget, read_project, remember
from rosetta_tui.project.screen import UNREADABLE, ProjectScreen
from rosetta_tui.project.sections import ProjectReading, met, read_known
from rosetta_tui.report.project import next_step
from rosetta_tui.request import new_corpus
from rosetta_tui.request.draft import Value
from rosetta_tui.request.fields import FieldKind, FieldSection, FormField
from rosetta_tui.request.suggesting import Suggest, choices, paths
from rosetta_tui.show.columns import Cell, Column
from rosetta_tui.toolkit.background import in_thread, telling
from rosetta_tui.toolkit.content import DetailLine, StatusBar, show
from rosetta_tui.toolkit.dialogs.choose import PathScreen
from rosetta_tui.toolkit.form.form_line import FormLine
from rosetta_tui.toolkit.key_line import KeyLine
from rosetta_tui.toolkit.messages import BackRequested, Copied
from rosetta_tui.toolkit.reading_screen import ListRow, ListScreen

# ---- The form of a new corpus: its languages, its name, its terms; checked as one types by the
# rules of the command.

QUIET_SECONDS = 0.25  # how long nothing must be typed before the form is examined
_S = FieldKind.SUGGESTED

SECTIONS: Final = (
    FieldSection("Languages", (
        FormField("source_language", "Translated from", "The language of the sentences, by its tag: en for English, fr for French. ↓ lists some; any tag is taken.", kind=_S),
        FormField("target_language", "Translated into", "The language that speakers translate into, by its tag: crk for Plains Cree, eo for Esperanto.", kind=_S),
    )),
    FieldSection("Corpus", (
        FormField("title", "Title", "What the corpus is called; speakers see it."),
        FormField("organisation", "Made by", "Who makes it, by the name that speakers know: your school, band or council."),
        FormField("folder", "Folder", "A new folder on this computer. Everything is kept in it; secret sentences are stored encrypted.", kind=_S),
    )),
    FieldSection("Terms", (
        FormField("licence", "Licence", "What others may do with the open sentences, by its SPDX id or in words. ↓ lists some and what each leads to.", kind=_S),
        FormField("transmission", "Sending", "Where the open sentences may go: local-only, ask or open. Empty: as the licence says.", kind=_S, rare=True),
        FormField("labels", "Labels", "Labels of Local Contexts that the community chose. Speakers see them before they agree to take part.", kind=FieldKind.TICKS, rare=True),
        FormField("corpus_id", "Short name", "Small letters and digits. Empty: the name of the folder.", rare=True),
    )),
)  # fmt: skip

_FIELDS: Final = tuple(field for section in SECTIONS for field in section.fields)

_SENDING = {
    "local-only": "no text leaves this machine",
    "ask": "a person says of each run whether texts may be sent",
    "open": "the open texts may be sent anywhere",
}


class NewCorpusScreen(Screen[None]):
    """The fields, and below them the command that does the same."""

    TITLE = "New corpus"
    HELP = (
        "Tab and enter lead from field to field, ↓ opens a list. What a value means, or what is wrong with it, stands below it.\n"
        "Nothing is made before you begin the corpus. Then its folder holds one file, and the next screen says what comes next.\n"
        "Below the form stands the command that does the same in a shell."
    )
    CSS_PATH = "../toolkit/form/form.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "begin", "Begin", id="new_corpus.begin"),
        Binding("ctrl+t", "every", "More", tooltip="Show every field", id="new_corpus.every"),
        Binding("ctrl+y", "copy", "Copy", tooltip="Copy the command line", id="new_corpus.copy"),
        Binding("f1", "app.keys", "Help", key_display="F1", id="new_corpus.help"),
        Binding("question_mark", "app.keys", "Help", show=False, id="help"),
        Binding("escape", "leave", "Back", key_display="esc", id="back"),
    ]

    def __init__(self, store_path: Path, typed: dict[str, Value]) -> None:
        """``typed`` is filled in further, so that who comes back finds it."""
        super().__init__()
        self._path, self.typed = store_path, typed
        self._every = False
        self._wanted = False  # true once somebody wished to begin: then what is missing is said
        self._timer: Timer | None = None
        self._found = new_corpus.look_at({})
        self.lines: dict[str, FormLine] = {}

    def compose(self) -> ComposeResult:
        suggesting: Mapping[str, Suggest] = {
            "source_language": choices(_languages),
            "target_language": choices(_languages),
            "folder": paths,
            "licence": choices(new_corpus.offered_licences),
            "transmission": choices(lambda: _SENDING),
        }
        for field in _FIELDS:
            ticks = {label: label for label in context_labels()} if field.name == "labels" else None
            value, suggest = self.typed.get(field.name, ""), suggesting.get(field.name)
            self.lines[field.name] = FormLine(field, value, suggest=suggest, choices=ticks)
        yield StatusBar()
        with VerticalScroll(id="form", can_focus=False):
            for section in SECTIONS:
                with Vertical(classes="section"):
                    yield Static(Content.styled(section.title, "bold $mark"), classes="title")
                    yield from (self.lines[field.name] for field in section.fields)
            with Horizontal(classes="answers"):
                yield Button(Content("Begin (^s)"), id="start", compact=True)
        yield DetailLine(id="same")
        yield Static(id="about")
        yield KeyLine()

    def on_mount(self) -> None:
        self._arrange()
        self._show_command()
        self.look()
        empty = next((field for field in _FIELDS if not self.typed.get(field.name)), _FIELDS[0])
        self.lines[empty.name].take_focus()

    # Typing

    @on(FormLine.Changed)
    def _changed(self, event: FormLine.Changed) -> None:
        name = event.line.field.name
        if self.typed.get(name, "") == event.line.value:
            return
        self.typed[name] = event.line.value
        self._show_command()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(QUIET_SECONDS, self.look)

    @on(FormLine.Agreed)
    def _go_on(self, event: FormLine.Agreed) -> None:
        later = _FIELDS[_FIELDS.index(event.line.field) + 1 :]
        line = next((self.lines[form_field.name] for form_field in later if self.lines[form_field.name].can_be_filled), None)  # fmt: skip
        if line is None:
            self.query_one("#start").focus()
        else:
            line.take_focus()

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        line = next((ancestor for ancestor in event.widget.ancestors if isinstance(ancestor, FormLine)), None)
        about = line.field.about if line is not None else ""
        self.query_one("#about", Static).update(Content.styled(about, "$quiet"))

    def _arrange(self) -> None:
        """Show the usual fields, and of the rare ones those that matter."""
        licence = "licence" in self._found.wrong
        for name, line in self.lines.items():
            matters = self.typed.get(name) or name in self._found.wrong
            matters = matters or (name == "transmission" and licence)
            line.display = bool(self._every or not line.field.rare or matters)

    def _show_command(self) -> None:
        words = Content.assemble(("The same in a shell  ", "$quiet"), show(new_corpus.command_of(self.typed)))
        self.query_one("#same", DetailLine).tell(words)

    # Looking

    def look(self, *, begin: bool = False) -> None:
        """Check what is in the form, in a thread, as a folder may be on a slow disk."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        take = partial(self._take, typed=dict(self.typed), begin=begin)
        in_thread(self, "look", partial(new_corpus.look_at, dict(self.typed)), take, self._cannot)

    def _take(self, found: new_corpus.NewCorpusLook, typed: dict[str, Value], *, begin: bool) -> None:
        self._found = found
        self._arrange()
        for name, line in self.lines.items():
            wrong = [*found.wrong.get(name, ())]
            if self._wanted and name in found.missing:
                wrong.append("This is still to be filled in.")
            line.say("\n".join(wrong) or found.notes.get(name, ""), bad=bool(wrong))
        if begin and typed == self.typed:
            self._begin(found)

    def _cannot(self, why: str) -> None:
        self.query_one(StatusBar).cannot(why)

    # Acting

    def action_begin(self) -> None:
        self._wanted = True
        self.look(begin=True)

    @on(Button.Pressed, "#start")
    def _pressed(self) -> None:
        self.action_begin()

    def _begin(self, found: new_corpus.NewCorpusLook) -> None:
        stop = [form_field.name for form_field in _FIELDS if form_field.name in found.wrong or form_field.name in found.missing]  # fmt: skip
        if stop:
            self.query_one(StatusBar).cannot(f"{counted(len(stop), 'thing is', 'things are')} not right yet")
            self.lines[stop[0]].take_focus()
            return

        def begun(project: Project) -> None:
            self.typed.clear()
            self.app.switch_screen(ProjectScreen(self._path, project.folder))

        make = partial(new_corpus.begin_corpus, dict(self.typed), self._path.parent)
        in_thread(self, "begin", make, begun, self._cannot)

    def action_every(self) -> None:
        self._every = not self._every
        self._arrange()

    def action_copy(self) -> None:
        self.post_message(Copied(new_corpus.command_of(self.typed), "Command", cleared=True))

    def action_leave(self) -> None:
        """Return to the previous screen; what was typed stays for the next time, as long as the app is open."""
        self.post_message(BackRequested())


def _languages() -> dict[str, str]:
    tags = (path.stem for path in list_cards())
    return {tag: language_name(tag) for tag in tags if tag.isalpha()}


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
        self._typed: dict[str, Value] = {}  # what is in the form of a new corpus

    def read(self, before: Sequence[ProjectReading] | None, *, anyway: bool) -> Sequence[ProjectReading]:
        """Read those of which a file changed or, with ``anyway``, every folder."""
        return read_known(self.home, before, anyway=anyway)

    def show_found(self, found: Sequence[ProjectReading]) -> None:
        rows = [ListRow(reading.folder, _cells(reading), _about(reading)) for reading in found]
        what_to_do = Content.assemble(
            "A corpus for a language that has none: sentences that its speakers translate and look over, with their community's consent.\n\n",
            ("n", "bold $mark"),
            "  begins a new one, in an empty folder\n",
            ("o", "bold $mark"),
            "  opens a folder that another computer began",
        )
        self.show_list(rows, counted(len(rows), "corpus", "corpora"), what_to_do)

    # Opening

    def action_begin(self) -> None:
        self.app.push_screen(NewCorpusScreen(self.store_path, self._typed))

    def action_open(self) -> None:
        def remembered(folder: Path) -> Path:
            project = read_project(folder.absolute(), self.home)
            remember(self.home, project.state.number, project.folder)
            return project.folder

        def chosen(folder: Path | None) -> None:
            if folder is not None:
                cannot = telling(self, "It cannot be opened")
                in_thread(self, "open", partial(remembered, folder), self.open_row, cannot, asks=True)

        words = "Open a corpus in the making", "Its folder has a file project.json. It is only examined.", "path of the folder"  # fmt: skip
        self.app.push_screen(PathScreen(*words), chosen)

    def open_row(self, key: Path) -> None:
        self.app.push_screen(ProjectScreen(self.store_path, key))

    def action_forget(self) -> None:
        if self.chosen is not None:
            forget(self.home, self.chosen.key)
            self.notify("Taken off the list. The folder is as it was; o opens it again.", markup=False)
            self.look()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "forget":
            return bool(self.rows)
        return super().check_action(action, parameters)


def _cells(found: ProjectReading) -> tuple[Cell, ...]:
    facts, folder = found.facts, Cell(str(found.folder), "quiet")
    if facts is None:
        return (Cell(found.name), Cell(""), Cell("✗", "bad"), Cell(UNREADABLE, "bad"), folder)
    dataset, done = (facts.progress.dataset, all(requirement.met for requirement in facts.progress.requirements))
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
    names = " → ".join(language_name(tag) for tag in (dataset.source_language, dataset.target_language))
    step = next_step(facts.progress, found.folder).words
    return Content.assemble(show(f"{found.name} · {names}"), "\n", show(f"Next: {step}"), "\n", where)
