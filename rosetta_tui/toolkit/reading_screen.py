"""A screen of what was read from files, which are read again where one of them changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.style import Style
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from rosetta_tui.show.clipboard import command_line
from rosetta_tui.show.columns import Cell, Column
from rosetta_tui.toolkit.background import in_thread
from rosetta_tui.toolkit.content import DetailLine, EmptyState, Line, PageRows, SectionPage, StatusBar, show
from rosetta_tui.toolkit.key_line import KeyLine
from rosetta_tui.toolkit.messages import BackRequested
from rosetta_tui.toolkit.result_table import ResultTable

LOOK_SECONDS = 2.0  # how often the files of what is shown are examined
READING = "reading"  # group of the workers that read

Found = TypeVar("Found")


class ReadingScreen(Screen[None], Generic[Found]):
    """Reads in a thread: when it opens, when a person asks for it, and where a file changed; has a ``StatusBar``."""

    found: Found | None = None  # what was read last; None before the first time
    _failed = False  # whether the last reading failed

    @property
    def awaits_rows(self) -> bool:
        """Return whether it reads for the first time: keys for a row wait for that (``TerminalApp``)."""
        return self.found is None and not self._failed

    def on_mount(self) -> None:
        """Read, now and again; Textual calls this after the ``on_mount`` of the class below it."""
        self.set_interval(LOOK_SECONDS, self.look)
        self.action_read()

    def on_screen_resume(self) -> None:
        if self.found is not None:
            self.look()

    # What each screen does in its own way

    def read(self, before: Found | None, *, anyway: bool) -> Found:
        """Read; called in a thread. Gives ``before`` back where nothing changed since, unless it is to be read ``anyway``."""
        raise NotImplementedError

    def show_found(self, found: Found) -> None:
        raise NotImplementedError

    # Reading

    def action_read(self) -> None:
        self._read(anyway=True)

    def look(self) -> None:
        """Read again where a file changed, unless a reading is under way."""
        readings = (w for w in self.workers if w.node is self and w.group == READING)
        if self.is_current and all(reading.is_finished for reading in readings):
            self._read(anyway=False)

    def _read(self, *, anyway: bool) -> None:
        read = partial(self.read, self.found, anyway=anyway)
        in_thread(self, READING, read, self._take, self._cannot)

    def _cannot(self, why: str) -> None:
        self._failed = True
        self.query_one(StatusBar).cannot(why)

    def _take(self, found: Found) -> None:
        self._failed = False
        if found is not self.found:
            self.found = found
            self.show_found(found)

    def action_leave(self) -> None:
        self.post_message(BackRequested())


# ---- A screen of a list that is read from files: its rows, the words about the one under the
# cursor, what to do where there is none.

Key = TypeVar("Key")


@dataclass(frozen=True)
class ListRow(Generic[Key]):
    key: Key  # by what it is known: where it lies, or its number. The cursor stays on it.
    cells: tuple[Cell, ...]  # a cell for each column
    about: Content  # what is said below the table when the cursor is on it


class ListScreen(ReadingScreen[Found], Generic[Found, Key]):
    """Shows what its maker reads, a row each, and opens the one that is chosen."""

    list_name: ClassVar[str]  # id of the table and beginning of an export's file name
    columns: ClassVar[Sequence[Column]]
    none_yet: ClassVar[str]  # what is said instead of the list where it is empty
    table = getters.query_one(ResultTable)

    def __init__(self, store_path: Path) -> None:
        super().__init__()
        self.store_path = store_path
        self.home = store_path.parent  # the data folder
        self.rows: Sequence[ListRow[Key]] = ()

    def compose(self) -> ComposeResult:
        yield StatusBar()
        yield EmptyState("Reading …")
        yield ResultTable(self.columns, id=self.list_name)
        yield DetailLine(id="chosen")
        yield KeyLine()

    def on_mount(self) -> None:
        self._show_parts()

    @property
    def chosen(self) -> ListRow[Key] | None:
        """The row under the cursor; None where the list is empty."""
        return self.rows[self.table.cursor] if self.rows else None

    def open_row(self, key: Key) -> None:
        """Open the thing that is known by this key."""
        raise NotImplementedError

    def show_list(self, rows: Sequence[ListRow[Key]], count: str, what_to_do: Content, wrong: str = "") -> None:
        """Show these rows, and ``what_to_do`` where there is none; behind the title how many they are, and what is ``wrong``."""
        here = self.chosen
        self.rows = rows
        keys = [row.key for row in rows]
        place = keys.index(here.key) if here is not None and here.key in keys else None
        self.table.show_rows(PageRows(self.columns, [row.cells for row in rows]), place)
        self.query_one(EmptyState).say(self.none_yet, what_to_do)
        self._show_parts()
        content = Content.assemble(show(count if rows else "", "$quiet"), (wrong, "$bad"))
        self.query_one(StatusBar).say(content)
        if rows:
            self.table.focus()
        self._moved()

    def _show_parts(self) -> None:
        """Show the list, or the words in its place."""
        self.query_one(EmptyState).display = not self.rows
        self.table.display = self.query_one("#chosen").display = bool(self.rows)
        self.refresh_bindings()

    @on(ResultTable.Moved)
    def _moved(self) -> None:
        if self.chosen is not None:
            self.query_one("#chosen", DetailLine).tell(self.chosen.about)

    @on(ResultTable.Chosen)
    def _choose(self) -> None:
        if self.chosen is not None:
            self.open_row(self.chosen.key)


# ---- The sections of a screen that shows one thing from several sides, in one line with their
# numbers.


class SectionLine(Static):
    """One line; the section that is open stands out by its brackets and its weight."""

    def show_sections(self, names: Sequence[str], opened: str, waiting: Mapping[str, int]) -> None:
        """Show the sections; ``waiting`` counts what in them asks for a person."""
        self.update(
            Content(" ").join(
                _section(number, name, waiting.get(name, 0), opened=name == opened)
                for number, name in enumerate(names, 1)
            )
        )


def _section(number: int, name: str, waiting: int, *, opened: bool) -> Content:
    left, right = ("[", "]") if opened else (" ", " ")
    words = Content.assemble(
        (left, "bold $mark"),
        (f"{number} ", "bold $mark"),
        (name, "bold" if opened else "$quiet"),
        (f" {waiting}" if waiting else "", "bold $warn"),
        (right, "bold $mark"),
    )
    return words.stylize(Style.from_meta({"@click": f"screen.section('{name}')"}))


# ---- A screen of one thing, section by section: the words about it, rows, the row under the
# cursor, and what to do about it.


def section_keys(room: str, sections: Sequence[str]) -> list[Binding]:
    """Return the keys that open a section by its number, and the one before or after the open one."""
    return [
        *(
            Binding(str(number), f"section('{name}')", name, show=False, id=f"{room}.section_{number}")
            for number, name in enumerate(sections, 1)
        ),
        Binding("left,h", "turn(-1)", "Section before", show=False, id="previous"),
        Binding("right,l", "turn(1)", "Section after", show=False, id="next"),
    ]  # fmt: skip


class CommandRows(ResultTable):
    """Rows that do not open: Enter offers the commands, which the line of keys names already."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "choose", "What to do", show=False, id="open")]


class SectionScreen(ReadingScreen[Found]):
    """Shows the pages that its maker reads; ``sections`` are their names, in order."""

    sections: ClassVar[Sequence[str]]
    rows: ClassVar[type[ResultTable]] = CommandRows  # `ResultTable` where Enter opens one
    table = getters.query_one("#lines", ResultTable)

    def __init__(self) -> None:
        super().__init__()
        self.opened = self.sections[0]  # the open section
        self.pages: Mapping[str, SectionPage] = {}  # none of them where nothing can be shown

    def compose(self) -> ComposeResult:
        yield StatusBar()
        yield SectionLine(id="sections")
        yield DetailLine(id="said")
        yield EmptyState("Reading …")
        yield self.rows((), id="lines")
        with VerticalScroll(id="about"):
            yield DetailLine()
        yield KeyLine(palette_from=100)

    def on_mount(self) -> None:
        self.query_one("#about", VerticalScroll).can_focus = False
        self._show_parts(said=False, rows=False, about=False)
        self.query_one(SectionLine).show_sections(self.sections, self.opened, {})

    @property
    def page(self) -> SectionPage | None:
        """The open section; None where nothing can be shown."""
        return self.pages.get(self.opened)

    # Showing

    def show_pages(self, pages: Mapping[str, SectionPage], state: Content) -> None:
        """Show the pages, one for each section, and behind the title how things are."""
        before, self.pages = self.page, pages
        self.query_one(StatusBar).say(state)
        follows = before is None or self.table.cursor == before.first
        self._fill(self.page.first if follows and self.page else None)

    def show_trouble(self, title: str, why: str, more: Sequence[str] = ()) -> None:
        """Show why nothing is shown, instead of all of it."""
        self.pages = {}
        self._show_parts(said=False, rows=False, about=False)
        self.query_one(SectionLine).show_sections(self.sections, self.opened, {})
        self.query_one(StatusBar).say(show(f"✗ {title}", "$bad"))
        quiet = [Content("\n\n") + show(line, "$quiet") for line in more]
        self.query_one(EmptyState).say(title, Content.assemble(show(why), *quiet))
        self.set_focus(None)
        self.refresh_bindings()

    def _show_parts(self, *, said: bool, rows: bool, about: bool) -> None:
        self.query_one("#said").display = said
        self.table.display = rows
        self.query_one("#about").display = about
        self.query_one(EmptyState).display = not rows

    def _fill(self, cursor: int | None = None) -> None:
        """Show the open section."""
        page = self.page
        waiting = {name: page.waiting for name, page in self.pages.items()}
        self.query_one(SectionLine).show_sections(self.sections, self.opened, waiting)
        if page is None:
            return
        self._show_parts(said=bool(page.said), rows=bool(page.rows), about=any(page.about))
        self.query_one("#said", DetailLine).tell(_content(page.said))
        self.query_one(EmptyState).say(page.empty or "Nothing is here.")
        self.table.show_columns(page.columns)
        self.table.show_rows(PageRows(page.columns, page.rows), cursor)
        self.set_focus(self.table if page.rows else None)
        self._moved()

    @on(ResultTable.Moved)
    def _moved(self) -> None:
        page = self.page
        about = page.about[self.table.cursor] if page and page.rows else ()
        self.query_one("#about DetailLine", DetailLine).tell(_content(about))
        self.query_one("#about", VerticalScroll).scroll_home(animate=False)
        self.refresh_bindings()

    def action_section(self, name: str) -> None:
        self.opened = name
        self._fill(self.page.first if self.page else 0)

    def action_turn(self, by: int) -> None:
        place = (self.sections.index(self.opened) + by) % len(self.sections)
        self.action_section(self.sections[place])

    # What to do

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "commands":
            return bool(self._commands)
        return super().check_action(action, parameters)

    @property
    def _commands(self) -> Mapping[str, str]:
        """Return what can be done here → the command, as it is typed."""
        page = self.page
        if page is None:
            return {}
        at = self.table.cursor if page.rows else 0
        return {words: command_line(arguments) for words, arguments in page.commands[at].items()}

    @on(ResultTable.Chosen)
    def action_commands(self) -> None:
        commands = self._commands
        if not commands:
            return

        def copy(command: str | None) -> None:
            if command is not None:
                self.app.copy_to_clipboard(command)
                self.notify("Copied: paste it into a shell.", timeout=2, markup=False)

        self.app.push_screen(CommandsScreen(commands), copy)


class CommandsScreen(ModalScreen[str | None]):
    """Gives the command of what is to be done, None where nothing was chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", "Back"),
        Binding("j", "move(1)", "Down", show=False),
        Binding("k", "move(-1)", "Up", show=False),
    ]

    def __init__(self, commands: Mapping[str, str]) -> None:
        super().__init__()
        self._commands = list(commands.items())

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -wide", id="commands"):
            yield Static(Content.styled("What to do", "bold"))
            yield OptionList(*(Option(show(words)) for words, _ in self._commands))
            yield Static(id="command")
            hint = "enter copies the command for a shell; words in CAPITAL LETTERS are yours to fill in · esc goes back"
            yield Static(Content.styled(hint, "$quiet"))

    @on(OptionList.OptionHighlighted)
    def _moved(self, event: OptionList.OptionHighlighted) -> None:
        command = self._commands[event.option_index][1]
        self.query_one("#command", Static).update(show(command, "bold $mark"))

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._commands[event.option_index][1])

    def action_move(self, by: int) -> None:
        names = self.query_one(OptionList)
        names.action_cursor_down() if by > 0 else names.action_cursor_up()


def _content(lines: Sequence[Line]) -> Content:
    styles = {"plain": ""}
    return Content("\n").join([show(text, styles.get(tone, f"${tone}")) for text, tone in lines])
