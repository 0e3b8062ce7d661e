"""The vaults that this computer saw, and the way to one that it did not see yet."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen

from rosetta_tui.show.columns import Cell, Column
from rosetta_tui.toolkit.background import in_thread
from rosetta_tui.toolkit.content import EmptyState, Telling, Where, show
from rosetta_tui.toolkit.dialogs.path import PathScreen
from rosetta_tui.toolkit.key_line import KeyLine
from rosetta_tui.toolkit.messages import Left
from rosetta_tui.toolkit.result_table import ResultTable
from rosetta_tui.toolkit.section_page import PageRows, moment
from rosetta_tui.toolkit.section_screen import LOOK_SECONDS
from rosetta_tui.vault.facts import VaultReading, read_vaults
from rosetta_tui.vault.screen import TROUBLES, UNREADABLE, VaultScreen
from scoring.core.wording import counted

COLUMNS = (
    Column("vault", "vault", 14, share=3),
    Column("state", "how it is", 9),
    Column("opens", "opens for", 10),
    Column("holds", "holds", 12, share=1, drop=1),
    Column("last", "last line (UTC)", 16, drop=3),
    Column("folder", "folder", 12, share=2, drop=4),
)


class VaultsScreen(Screen[None]):
    """Reads each vault in a thread and says whether it is whole; no key is needed."""

    TITLE = "Vaults"
    CSS_PATH = "vault.tcss"
    HELP = (
        "A vault is a folder that holds secret texts, encrypted; only its keepers open them, and each opening stands in "
        "its log.\n"
        "Here stand those that this computer saw before. One on a stick is there again when the stick is in its place."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "open", "Open a folder", id="vaults.open"),
        Binding("r", "read", "Check again", id="refresh"),
        Binding("question_mark", "app.keys", "Help", key_display="?", id="help"),
        Binding("q,escape", "leave", "Back", key_display="q", id="back"),
    ]

    def __init__(self, store_path: Path) -> None:
        super().__init__()
        self._path = store_path
        self._vaults: list[VaultReading] | None = None

    def compose(self) -> ComposeResult:
        """Lay out where am I, the vaults, the one under the cursor, and the keys."""
        yield Where()
        yield EmptyState("Reading …")
        yield ResultTable(COLUMNS, id="vaults")
        yield Telling(id="about")
        yield KeyLine()

    def on_mount(self) -> None:
        """Show the frame, then read."""
        self._show_list(there=False)
        self.set_interval(LOOK_SECONDS, self.look)
        self.action_read()

    def on_screen_resume(self) -> None:
        """Look again when coming back."""
        if self._vaults is not None:
            self.look()

    @property
    def table(self) -> ResultTable:
        """The vaults."""
        return self.query_one("#vaults", ResultTable)

    @property
    def chosen(self) -> VaultReading | None:
        """The vault under the cursor."""
        return self._vaults[self.table.cursor] if self._vaults else None

    # Reading

    def action_read(self) -> None:
        """Read and check every vault again."""
        self._read(anyway=True)

    def look(self) -> None:
        """Read again those of which a file changed, unless a look is under way."""
        looks = (each for each in self.workers if each.node is self and each.group == "vaults")
        if self.is_current and all(each.is_finished for each in looks):
            self._read(anyway=False)

    def _read(self, *, anyway: bool) -> None:
        before = {each.folder: each for each in self._vaults or ()}
        read = partial(read_vaults, self._path.parent, before, anyway=anyway)
        in_thread(self, "vaults", read, self._take, self.query_one(Where).cannot)

    def _take(self, found: list[VaultReading]) -> None:
        if self._vaults is not None and list(map(id, found)) == list(map(id, self._vaults)):
            return
        here = self.chosen
        self._vaults = found
        folders = [each.folder for each in found]
        place = folders.index(here.folder) if here is not None and here.folder in folders else None
        self.table.show_rows(PageRows(COLUMNS, [_cells(each) for each in found]), place)
        self.query_one(EmptyState).say("This computer knows no vault yet.", _what_to_do())
        self._show_list(there=bool(found))
        wrong = sum(each.facts is None for each in found)
        self.query_one(Where).say(
            Content.assemble(
                show(counted(len(found), "vault") if found else "", "$quiet"),
                (f" · {wrong} cannot be shown" if wrong else "", "$bad"),
            )
        )
        if found:
            self.table.focus()
        self._moved()

    def _show_list(self, *, there: bool) -> None:
        """Show the list, or what is said in its place."""
        self.query_one(EmptyState).display = not there
        self.table.display = self.query_one("#about").display = there

    @on(ResultTable.Moved)
    def _moved(self) -> None:
        if self.chosen is not None:
            self.query_one("#about", Telling).tell(_about(self.chosen))

    # Opening

    @on(ResultTable.Chosen)
    def _choose(self) -> None:
        if self.chosen is not None:
            self._show_vault(self.chosen.folder)

    def action_open(self) -> None:
        """Ask for the folder of a vault and show it."""
        self.app.push_screen(OpenVaultScreen(), self._show_vault)

    def _show_vault(self, folder: Path | None) -> None:
        if folder is not None:
            self.app.push_screen(VaultScreen(self._path, folder))

    def action_leave(self) -> None:
        """Go back."""
        self.post_message(Left())


class OpenVaultScreen(PathScreen):
    """Gives the folder of a vault, None where the person went back."""

    def __init__(self) -> None:
        super().__init__(
            "Open the folder of a vault",
            "It is only looked at: no key is needed, and no text is opened.",
            "path of the folder",
        )


def _cells(found: VaultReading) -> tuple[Cell, ...]:
    facts = found.facts
    folder = Cell(str(found.folder), "quiet")
    if facts is None:
        return (Cell(found.name), Cell("✗ wrong", "bad"), Cell(""), Cell(""), Cell(""), folder)
    state = facts.state
    entries = sum(sum(each.entries.values()) for each in state.head.corpora.values())
    held = f"{counted(entries, 'entry', 'entries')}, {counted(len(state.head.corpora), 'corpus', 'corpora')}"
    return (
        Cell(found.name),
        Cell("! older", "bad") if facts.taken_out else Cell("✓ whole", "good"),
        Cell(opens_for(state.threshold, len(state.keepers))),
        Cell(held if state.head.corpora else "nothing yet"),
        Cell(moment(facts.log[-1].when)),
        folder,
    )


def opens_for(threshold: int, count: int) -> str:
    """Say in a few words how many keepers open a vault."""
    return f"any {threshold} of {count}" if threshold > 1 else f"each of {count}"


def _about(found: VaultReading) -> Content:
    """Say in two lines what was done last with a vault, or why it cannot be shown."""
    facts = found.facts
    if facts is None:
        title = UNREADABLE if found.problem is None else TROUBLES.get(found.problem, UNREADABLE)
        return Content.assemble(show(title, "$bad"), "\n", show(found.trouble))
    last = facts.log[-1]
    told: Sequence[str] = facts.older_copy or [f"{moment(last.when)}  {last.by}: {last.words}"]
    style = "$bad" if facts.older_copy else ""
    return Content.assemble(show(told[0], style), "\n", show(str(found.folder), "$quiet"))


def _what_to_do() -> Content:
    return Content.assemble(
        "A vault is a folder that holds a community's secret texts, encrypted. You make one in a shell:\n\n",
        ('  rosetta vault init FOLDER --name "WORDS OF THE ELDERS" --as "YOUR NAME" --recovery STICK/recovery-key.txt\n\n', "bold"),
        ("One that another computer made, on a stick for example, is shown too:\n\n", "$quiet"),
        ("o", "bold $mark"),
        "  opens the folder of a vault",
    )  # fmt: skip
