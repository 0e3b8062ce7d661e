"""A screen of one thing, section by section: the words about it, rows, the row under the cursor, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from rosetta_tui.show.clipboard import command_line
from rosetta_tui.toolkit.content import DetailLine, EmptyState, StatusBar, show
from rosetta_tui.toolkit.key_line import KeyLine
from rosetta_tui.toolkit.reading_screen import Found, ReadingScreen
from rosetta_tui.toolkit.result_table import ResultTable
from rosetta_tui.toolkit.section_page import Line, PageRows, SectionPage
from rosetta_tui.toolkit.sections import SectionLine


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

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "What to do", show=False, id="open")
    ]


class SectionScreen(ReadingScreen[Found]):
    """Shows the pages that its maker reads; ``sections`` are their names, in order."""

    sections: ClassVar[Sequence[str]]
    rows: ClassVar[type[ResultTable]] = CommandRows
    """What its rows are; ``ResultTable`` itself where Enter opens one."""

    def __init__(self) -> None:
        super().__init__()
        self.opened = self.sections[0]
        """The open section."""
        self.pages: Mapping[str, SectionPage] = {}
        """None of them where nothing can be shown."""

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
        """Show the frame."""
        self.query_one("#about", VerticalScroll).can_focus = False
        self._show_parts(said=False, rows=False, about=False)
        self.query_one(SectionLine).show_sections(self.sections, self.opened, {})

    @property
    def table(self) -> ResultTable:
        """The rows of the open section."""
        return self.query_one("#lines", ResultTable)

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
        quiet = [show(f"\n\n{line}", "$quiet") for line in more]
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
        """Open a section."""
        self.opened = name
        self._fill(self.page.first if self.page else 0)

    def action_turn(self, by: int) -> None:
        """Open the section before or after this one."""
        place = (self.sections.index(self.opened) + by) % len(self.sections)
        self.action_section(self.sections[place])

    # What to do

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Omit what there is no command for."""
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
        """Offer the commands that belong here, and copy the one that is chosen."""
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
