"""One vault, section by section: what it holds, who opens it, what was done, who asked, what was told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from harness.release.budget import MOMENT
from harness.sealed.forms import FileProblem
from harness.vault.grants.files import REQUEST_SUFFIX
from rosetta_tui.show.clipboard import command_line
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import in_thread, telling
from rosetta_tui.toolkit.content import EmptyState, Telling, Where, show
from rosetta_tui.toolkit.key_line import KeyLine
from rosetta_tui.toolkit.messages import Left
from rosetta_tui.toolkit.result_table import ResultTable
from rosetta_tui.toolkit.sections import SectionLine
from rosetta_tui.vault.answer_screen import AnswerScreen
from rosetta_tui.vault.answers import AskedRequest, asked_in_file, asked_in_log
from rosetta_tui.vault.budgets import budgets
from rosetta_tui.vault.contents import contents, log
from rosetta_tui.vault.facts import VaultReading, read_in_full
from rosetta_tui.vault.keepers import keepers
from rosetta_tui.vault.page import Line, SectionPage, VaultRows
from rosetta_tui.vault.path_screen import PathScreen
from rosetta_tui.vault.requests import requests
from scoring.core.wording import counted

REQUESTS = "Requests"
SECTIONS = ("Contents", "Keepers", "Log", REQUESTS, "Budgets")

LOOK_SECONDS = 2.0
"""How often the files of the vault are looked at; they are read again where one of them changed."""

TROUBLES = {
    FileProblem.NOT_OURS: "No vault is here now.",
    FileProblem.DAMAGED: "This vault is not as its keepers left it. Nothing of it is shown.",
}
UNREADABLE = "This vault cannot be read."


def _utc_now() -> datetime:
    return datetime.now(UTC)


class VaultScreen(Screen[None]):
    """Reads and checks the vault in a thread; no key is needed, and no text is opened."""

    TITLE = "Vault"
    CSS_PATH = "vault.tcss"
    HELP = (
        "Everything stands here without a key, and no secret text is opened for it. Every file, line and signature of the "
        "vault is checked each time it is read; it is read again when a file of it changes.\n"
        "Among the requests, a answers the one under the cursor, and f one in a file, such as from a stick. What else changes a vault "
        "is done with commands: c has each of them, with the names filled in. Words in CAPITAL LETTERS are yours to fill in.\n"
        "Times are UTC, as the log has them."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(str(number), f"section('{name}')", name, show=False, id=f"vault.section_{number}")
            for number, name in enumerate(SECTIONS, 1)
        ),
        Binding("left,h", "turn(-1)", "Section before", show=False, id="previous"),
        Binding("right,l", "turn(1)", "Section after", show=False, id="next"),
        Binding("c", "commands", "What to do", tooltip="Copy the command that does it", id="vault.commands"),
        Binding("a", "answer", "Answer", tooltip="Allow or refuse this request", id="vault.answer"),
        Binding("f", "answer_file", "From a file", tooltip="Answer a request in a file, such as on a stick", id="vault.answer_file"),
        Binding("r", "read", "Check again", id="refresh"),
        Binding("question_mark", "app.keys", "Help", key_display="?", id="help"),
        Binding("q,escape", "leave", "Back", key_display="q", id="back"),
    ]  # fmt: skip

    def __init__(
        self, store_path: Path, folder: Path, clock: Callable[[], datetime] = _utc_now
    ) -> None:
        super().__init__()
        self._home = store_path.parent
        self._folder = folder
        self.title = plain(folder.name) or self.TITLE
        self._clock = clock
        self._section = SECTIONS[0]
        self._reading: VaultReading | None = None
        self._pages: Mapping[str, SectionPage] = {}

    def compose(self) -> ComposeResult:
        """Lay out where am I, the sections, what is said of the open one, its rows, the one under the cursor, the keys."""
        yield Where()
        yield SectionLine(id="sections")
        yield Telling(id="said")
        yield EmptyState("Reading …")
        yield ResultTable((), id="vault-lines")
        with VerticalScroll(id="about"):
            yield Telling()
        yield KeyLine(palette_from=100)

    def on_mount(self) -> None:
        """Show the frame, then read."""
        self.query_one("#about", VerticalScroll).can_focus = False
        self._show_parts(said=False, rows=False)
        self.query_one(SectionLine).show_sections(SECTIONS, self._section, {})
        self.set_interval(LOOK_SECONDS, self.look)
        self.action_read()

    @property
    def table(self) -> ResultTable:
        """The rows of the open section."""
        return self.query_one("#vault-lines", ResultTable)

    @property
    def page(self) -> SectionPage | None:
        """The open section; None where the vault cannot be shown."""
        return self._pages.get(self._section)

    # Reading

    def action_read(self) -> None:
        """Read and check the whole vault again."""
        self._read(anyway=True)

    def look(self) -> None:
        """Read again where a file changed, unless a look is under way."""
        looks = (each for each in self.workers if each.node is self and each.group == "vault")
        if self.is_current and all(each.is_finished for each in looks):
            self._read(anyway=False)

    def _read(self, *, anyway: bool) -> None:
        read = partial(read_in_full, self._folder, self._home, self._reading, anyway=anyway)
        in_thread(self, "vault", read, self._take, self.query_one(Where).cannot)

    def _take(self, found: VaultReading) -> None:
        if found is self._reading:
            return
        self._reading, facts = found, found.facts
        self.title = plain(found.name) or self.TITLE
        if facts is None:
            self._pages = {}
        else:
            now, folder = self._clock(), str(found.folder)
            made = (
                contents(facts, folder), keepers(facts, folder), log(facts, folder),
                requests(facts, folder, now.strftime(MOMENT)), budgets(found.told, now),
            )  # fmt: skip
            self._pages = dict(zip(SECTIONS, made, strict=True))
        self._fill()

    # Showing

    def _show_parts(self, *, said: bool, rows: bool) -> None:
        self.query_one("#said").display = said
        self.table.display = rows
        self.query_one("#about").display = rows
        self.query_one(EmptyState).display = not rows

    def _fill(self, cursor: int | None = None) -> None:
        """Show the open section."""
        found, page = self._reading, self.page
        if found is None:
            return
        waiting = {name: each.waiting for name, each in self._pages.items()}
        self.query_one(SectionLine).show_sections(SECTIONS, self._section, waiting)
        if found.facts is None or page is None:
            self._cannot(found)
            return
        old = found.facts.older_copy
        lines = counted(len(found.facts.log), "line")
        state = (
            f"! an older copy · {lines}" if old else f"✓ whole and unchanged · {lines} in its log"
        )
        self.query_one(Where).say(show(state, "$bad" if old else "$good"))
        self._show_parts(said=bool(page.said), rows=bool(page.rows))
        self.query_one("#said", Telling).tell(_content(page.said))
        self.query_one(EmptyState).say(page.empty or "Nothing is here.")
        self.table.show_columns(page.columns)
        self.table.show_rows(VaultRows(page.columns, page.rows), cursor)
        self.set_focus(self.table if page.rows else None)
        self._moved()

    def _cannot(self, found: VaultReading) -> None:
        """Say why nothing of the vault is shown, in the place of all of it."""
        self._show_parts(said=False, rows=False)
        title = UNREADABLE if found.problem is None else TROUBLES.get(found.problem, UNREADABLE)
        self.query_one(Where).say(show(f"✗ {title}", "$bad"))
        words = Content.assemble(
            show(found.trouble), "\n\n", show(str(found.folder), "$quiet"),
            ("\n\nr  checks it again; it is also looked at when one of its files changes", "$quiet"),
        )  # fmt: skip
        self.query_one(EmptyState).say(title, words)
        self.set_focus(None)
        self.refresh_bindings()

    @on(ResultTable.Moved)
    def _moved(self) -> None:
        page = self.page
        about = page.about[self.table.cursor] if page and page.rows else ()
        self.query_one("#about Telling", Telling).tell(_content(about))
        self.query_one("#about", VerticalScroll).scroll_home(animate=False)
        self.refresh_bindings()

    def action_section(self, name: str) -> None:
        """Open a section."""
        self._section = name
        self._fill(0)

    def action_turn(self, by: int) -> None:
        """Open the section before or after this one."""
        place = (SECTIONS.index(self._section) + by) % len(SECTIONS)
        self.action_section(SECTIONS[place])

    # What to do

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave out what there is no command for."""
        if action == "commands":
            return bool(self._commands)
        if action == "answer":
            return bool(self._answerable)
        if action == "answer_file":
            return self._section == REQUESTS and self.page is not None
        return super().check_action(action, parameters)

    @property
    def _commands(self) -> Mapping[str, str]:
        """What can be done here → the command, as it is typed."""
        page = self.page
        if page is None:
            return {}
        at = self.table.cursor if page.rows else 0
        return {words: command_line(each) for words, each in page.commands[at].items()}

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

    # Answering

    @property
    def _answerable(self) -> str:
        """Number of the request under the cursor, where it can be answered."""
        page = self.page
        at = self.table.cursor if page and page.rows else 0
        return page.answerable[at] if page and page.answerable else ""

    def action_answer(self) -> None:
        """Ask whether the request under the cursor is allowed."""
        self._look_at(partial(asked_in_log, self._folder, self._home, self._answerable))

    def action_answer_file(self) -> None:
        """Ask for the file of a request, and then whether it is allowed."""

        def chosen(path: Path | None) -> None:
            if path is not None:
                self._look_at(partial(asked_in_file, self._folder, self._home, path))

        hint = "It came on a stick, for example. It is only looked at; you answer after that."
        self.app.push_screen(PathScreen("Open a request", hint, "path of NAME.rosetta-request", (REQUEST_SUFFIX,)), chosen)  # fmt: skip

    def _look_at(self, read: Callable[[], AskedRequest]) -> None:
        in_thread(self, "request", read, self._show_request, telling(self, "Request"), asks=True)

    def _show_request(self, asked: AskedRequest) -> None:
        def answered(words: str | None) -> None:
            if words is not None:
                self.notify(plain(words), markup=False)
                self.action_read()

        self.app.push_screen(AnswerScreen(asked), answered)

    def action_leave(self) -> None:
        """Go back."""
        self.post_message(Left())


class CommandsScreen(ModalScreen[str | None]):
    """Gives the command of what is to be done, None where nothing was chosen."""

    CSS_PATH = "vault.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", "Back"),
        Binding("j", "move(1)", "Down", show=False),
        Binding("k", "move(-1)", "Up", show=False),
    ]

    def __init__(self, commands: Mapping[str, str]) -> None:
        super().__init__()
        self._commands = list(commands.items())

    def compose(self) -> ComposeResult:
        """Lay out what can be done, and the command of what the cursor is on."""
        with Vertical(classes="dialog -wide", id="vault-commands"):
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
        """Go up or down."""
        names = self.query_one(OptionList)
        names.action_cursor_down() if by > 0 else names.action_cursor_up()


def _content(lines: Sequence[Line]) -> Content:
    styles = {"plain": ""}
    return Content("\n").join([show(text, styles.get(tone, f"${tone}")) for text, tone in lines])
