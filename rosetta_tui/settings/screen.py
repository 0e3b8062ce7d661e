"""Settings: everything that a person can choose once, in parts, kept in settings.toml."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from harness.core.failures import UsageError
from harness.endpoint.endpoints import presets
from harness.settings import Changes, Settings, changed, read_settings, taking_back
from rosetta_tui.settings.actions import SecretActions, SettingActions, secret_states
from rosetta_tui.settings.of_app import SettingsWriting, take_settings, theme_of
from rosetta_tui.settings.rows import (
    ADDED,
    PARTS,
    SecretState,
    SettingRow,
    SettingRows,
    SettingsSection,
    colour_rows,
    endpoint_rows,
    file_rows,
    keyboard_rows,
    secret_row,
    short,
)
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import bring
from rosetta_tui.toolkit.content import DetailLine, StatusBar, show
from rosetta_tui.toolkit.customization import keyboard
from rosetta_tui.toolkit.key_line import KeyLine
from rosetta_tui.toolkit.messages import BackRequested
from rosetta_tui.toolkit.ordered_table import SearchedScreen
from rosetta_tui.toolkit.result_table import ResultTable


class PartsList(OptionList):
    """Goes into a part within the key itself: one that is pressed right behind it finds the lines there."""

    def __init__(self, names: Iterable[str], go: Callable[[], None], *, id_: str) -> None:
        super().__init__(*(Option(Content(name), id=name) for name in names), id=id_)
        self._go = go

    def action_select(self) -> None:
        self._go()


PREVIEW_SECONDS = 0.08
"""How long the cursor rests on colours until they are shown: all of the screen is styled again then."""


class SettingsScreen(SearchedScreen):
    """Parts at the left, lines of the part at the right; what is changed holds and is written at once."""

    TITLE = "Settings"
    HELP = (
        "Everything but keys of services is in settings.toml of the data folder, which you may also "
        "write by hand. Keys of services are kept by the operating system's keyring and never shown."
    )
    CSS_PATH = "settings.tcss"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "add", "Add", id="settings.add"),
        Binding("delete,backspace", "remove", "Remove", key_display="del", id="settings.remove"),
        Binding("r", "reset", "All as shipped", id="settings.reset"),
        Binding("u", "undo", "Undo", id="settings.undo"),
        Binding("slash", "search", "Search", key_display="/", id="search"),
        Binding("right", "lines", "Lines", show=False, id="settings.lines"),
        Binding("left", "parts", "Parts", show=False, id="settings.parts"),
        Binding("q,escape", "leave", "Back", key_display="q", id="back"),
    ]

    def __init__(self, store_path: Path) -> None:
        super().__init__()
        self._home = store_path.parent
        self._section = SettingsSection.COLOURS
        self._back: list[Changes] = []
        """What takes each change back."""
        self._can: tuple[SettingsSection, bool, bool] | None = None
        """The part, and whether a line of it can be removed and a change taken back."""
        self._preview: Timer | None = None
        self._secrets: Sequence[SecretState] | None = None
        self._acts = SettingActions(self, self.change)
        self._writing: SettingsWriting
        self._secret_acts = SecretActions(self, self._secrets_changed)

    def compose(self) -> ComposeResult:
        yield StatusBar()
        with Horizontal(id="settings-page"):
            yield PartsList(SettingsSection, self.action_lines, id_="parts")
            with Vertical():
                yield Static(id="about")
                yield Input(placeholder="words", id="search")
                yield ResultTable(PARTS[self._section][1], id="lines")
                yield DetailLine(id="line")
        yield KeyLine()

    def on_mount(self) -> None:
        self._writing = SettingsWriting(self.app, self._home, self._written, self._unwritten)
        self.query_one("#parts", OptionList).highlighted = 0
        self.query_one("#parts").focus()
        self._read()

    @property
    def table(self) -> ResultTable:
        """The lines of the part."""
        return self.query_one("#lines", ResultTable)

    @property
    def row(self) -> SettingRow | None:
        """The line under the cursor."""
        return self._line(self.table.cursor)

    def _line(self, index: int) -> SettingRow | None:
        rows = self.table.rows
        return rows.items[index] if isinstance(rows, SettingRows) and index < rows.count else None

    @property
    def settings(self) -> Settings:
        """Return the settings that hold now."""
        return self._acts.settings

    # Reading

    @work(thread=True, exclusive=True, group="settings")
    def _read(self) -> None:
        wrong = ""
        try:
            settings = read_settings(self._home)
        except UsageError as error:
            settings, wrong = Settings(), str(error)
        known = {name: preset.url for name, preset in presets("chat").items()}
        bring(self, self._begin, settings, known, wrong)

    def _begin(self, settings: Settings, known: dict[str, str], wrong: str) -> None:
        self._acts.settings, self._acts.presets = settings, known
        where = short(self._home / "settings.toml")
        if wrong:
            kept = f"{wrong} A change made here keeps your file beside the new one."
            self.query_one(StatusBar).cannot(kept)
            self.notify(plain(kept), severity="error", timeout=20, markup=False)
        else:
            self.query_one(StatusBar).say(show(where, "$quiet"))
        self._show()

    @work(thread=True, exclusive=True, group="keyboard")
    def _read_keyboard(self) -> None:
        self._acts.board = keyboard()
        bring(self, self._show)

    @work(thread=True, exclusive=True, group="secrets")
    def _read_secrets(self) -> None:
        bring(self, self._take_secrets, *secret_states(self.settings))

    def _secrets_changed(self) -> None:
        self._secrets = None
        if self.is_attached:
            self._show()

    def _take_secrets(self, states: Sequence[SecretState], trouble: str) -> None:
        self._secrets = states
        self._show()
        if trouble:
            self.query_one("#about", Static).update(show(trouble, "$warn"))

    # Showing

    def _show(self) -> None:
        rows: list[SettingRow] | None = None  # where they have to be read first
        match self._section:
            case SettingsSection.COLOURS:
                rows = colour_rows(self.settings)
            case SettingsSection.SECRETS:
                rows = None if self._secrets is None else list(map(secret_row, self._secrets))
            case SettingsSection.KEYBOARD:
                rows = None if self._acts.board is None else keyboard_rows(self.settings, self._acts.board)
            case section:
                shipped = endpoint_rows(self._acts.presets) if section is SettingsSection.ENDPOINTS else []
                rows = [*file_rows(section, self.settings, self._home), *shipped]
        here = self.row
        made = SettingRows(rows or [], self.query_one("#search", Input).value)
        if rows is None:
            self._say("Reading …")
            self._read_secrets() if self._section is SettingsSection.SECRETS else self._read_keyboard()
        elif rows and not made.count:
            self._say("Nothing here has these words; esc ends the search.")
        else:
            self._say(PARTS[self._section][0])
        self.table.show_rows(made, None if here is None else made.find(here.id))
        self._show_line()

    def _say(self, words: str) -> None:
        self.query_one("#about", Static).update(show(words, "$quiet"))

    def _show_line(self) -> None:
        """Show all of the line under the cursor, which its columns may cut."""
        row, line = self.row, self.query_one("#line", DetailLine)
        line.display = row is not None
        if row is not None:
            whole = Content.assemble(show(row.name, "bold"), "  ", show(row.value))
            line.tell(Content("\n").join([whole, show(row.note, "$quiet")]))
        can = (self._section, row is not None and row.removal is not None, bool(self._back))
        if can != self._can:  # the footer is redrawn only then
            self._can = can
            self.refresh_bindings()

    @on(OptionList.OptionHighlighted, "#parts")
    def _part_chosen(self) -> None:
        """Show the part under the cursor now: it may have gone on since this was said."""
        parts = self.query_one("#parts", PartsList)
        if parts.highlighted is not None:
            section = list(SettingsSection)[parts.highlighted]
            if section is not self._section:
                self._end_preview()
                self._section = section
                self.query_one("#search", Input).value = ""
                self.query_one("#search").display = False
                self.table.show_rows(SettingRows([]))
                self.table.show_columns(PARTS[section][1])
                self._show()

    def action_lines(self) -> None:
        self._part_chosen()
        self.set_focus(self.table)

    def action_parts(self) -> None:
        self._end_preview()
        self.set_focus(self.query_one("#parts"))

    @on(ResultTable.Moved, "#lines")
    def _moved(self) -> None:
        self._show_line()
        if self.row is not None and self.row.setting == "theme" and not self.app.no_color:
            self._stop_preview()
            look = partial(setattr, self.app, "theme", self.row.id)
            self._preview = self.set_timer(PREVIEW_SECONDS, look)

    def _stop_preview(self) -> None:
        if self._preview is not None:
            self._preview.stop()

    def _end_preview(self) -> None:
        self._stop_preview()
        self.app.theme = theme_of(self.app, self.settings)

    def look_for(self, text: str) -> None:  # noqa: ARG002  the lines read the field themselves
        """Show the lines that have these words."""
        self._show()

    # Changing

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Omit what cannot be done here; it is asked before the lines are arranged, too."""
        row = self.row if self.query("#lines") else None
        match action:
            case "add":
                return self._section is SettingsSection.SECRETS or self._section in ADDED
            case "remove":
                return row is not None and row.removal is not None
            case "undo":
                return bool(self._back)
            case "reset":
                return self._section is not SettingsSection.SECRETS
        return super().check_action(action, parameters)

    @on(ResultTable.Chosen, "#lines")
    def _choose(self, event: ResultTable.Chosen) -> None:
        row = self._line(event.index)  # the cursor may have gone on
        if row is not None:
            secret = self._section is SettingsSection.SECRETS
            self._secret_acts.ask(row.id) if secret else self._acts.change(row)

    def change(self, changes: Changes) -> None:
        if changed(self.settings, changes) != self.settings:
            self._back.append(taking_back(changes, self.settings))
            self._take(changes)

    def _take(self, changes: Changes) -> None:
        self._stop_preview()
        self._hold(changed(self.settings, changes))
        self._writing.write(changes)

    def _hold(self, settings: Settings) -> None:
        self._acts.settings = settings
        take_settings(self.app, settings)
        self._secrets = None
        self._show()

    def show_held(self, settings: Settings) -> None:
        """Show what holds now, where another screen or process changed it."""
        if settings != self.settings and not self._writing.busy:
            self._hold(settings)

    def _unwritten(self, why: str) -> None:
        words = plain(f"{why} The change holds until Rosetta is closed.")
        self.notify(words, title="The settings are not saved", severity="error", markup=False)

    def _written(self, settings: Settings) -> None:
        if not self.is_attached:
            return
        self.show_held(settings)
        where = short(self._home / "settings.toml")
        saved = Content.assemble(("saved ✓   ", "$good"), show(where, "$quiet"))
        self.query_one(StatusBar).say(saved)

    def action_undo(self) -> None:
        self._take(self._back.pop())

    def action_add(self) -> None:
        if self._section is SettingsSection.SECRETS:
            self._secret_acts.ask_host()
        else:
            self._acts.add(self._section)

    def action_remove(self) -> None:
        row = self.row
        if row is not None and row.removal is not None:
            self.change(row.removal) if row.removal else self._secret_acts.ask_to_delete(row.id)

    def action_reset(self) -> None:
        self._acts.reset(self._section)

    def action_leave(self) -> None:
        """End the search or the preview of colours, else return to the previous screen."""
        if self.end_search():
            return
        self._end_preview()
        self.post_message(BackRequested())
