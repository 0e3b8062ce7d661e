"""The vaults that this computer saw, and the way to one that it did not see yet."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from rosetta_tui.show.columns import Cell, Column
from rosetta_tui.toolkit.content import show
from rosetta_tui.toolkit.dialogs.path import PathScreen
from rosetta_tui.toolkit.list_screen import ListRow, ListScreen
from rosetta_tui.toolkit.section_page import moment
from rosetta_tui.vault.facts import VaultReading, read_vaults
from rosetta_tui.vault.screen import TROUBLES, UNREADABLE, VaultScreen
from scoring.core.messages import counted

COLUMNS = (
    Column("vault", "vault", 14, share=3),
    Column("state", "how it is", 9),
    Column("opens", "opens for", 10),
    Column("holds", "holds", 12, share=1, drop=1),
    Column("last", "last line (UTC)", 16, drop=3),
    Column("folder", "folder", 12, share=2, drop=4),
)


class VaultsScreen(ListScreen[Sequence[VaultReading], Path]):
    """Reads each vault in a thread and says whether it is whole; no key is needed."""

    TITLE = "Vaults"
    list_name = "vaults"
    columns = COLUMNS
    none_yet = "This computer knows no vault yet."
    CSS_PATH = "vault.tcss"
    HELP = (
        "A vault is a folder that holds secret texts, encrypted; only its keepers open them, and each opening is in "
        "its log.\n"
        "Here stand those that this computer saw before. One on a stick is there again when the stick is in its place."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "open", "Open a folder", id="vaults.open"),
        Binding("r", "read", "Check again", id="refresh"),
        Binding("question_mark", "app.keys", "Help", key_display="?", id="help"),
        Binding("q,escape", "leave", "Back", key_display="q", id="back"),
    ]

    def read(
        self, before: Sequence[VaultReading] | None, *, anyway: bool
    ) -> Sequence[VaultReading]:
        """Read and check those of which a file changed or, with ``anyway``, every vault."""
        return read_vaults(self.home, before, anyway=anyway)

    def show_found(self, found: Sequence[VaultReading]) -> None:
        """Show the vaults, and how many of them cannot be shown."""
        rows = [
            ListRow(vault_reading.folder, _cells(vault_reading), _about(vault_reading))
            for vault_reading in found
        ]
        wrong = sum(vault_reading.facts is None for vault_reading in found)
        message = f" · {wrong} cannot be shown" if wrong else ""
        self.show_list(rows, counted(len(rows), "vault"), _what_to_do(), message)

    # Opening

    def action_open(self) -> None:
        def chosen(folder: Path | None) -> None:
            if folder is not None:
                self.open_row(folder)

        self.app.push_screen(OpenVaultScreen(), chosen)

    def open_row(self, key: Path) -> None:
        """Show the vault in a folder."""
        self.app.push_screen(VaultScreen(self.store_path, key))


class OpenVaultScreen(PathScreen):
    """Gives the folder of a vault, None where the person went back."""

    def __init__(self) -> None:
        super().__init__(
            "Open the folder of a vault",
            "It is only examined: no key is needed, and no text is opened.",
            "path of the folder",
        )


def _cells(found: VaultReading) -> tuple[Cell, ...]:
    facts = found.facts
    folder = Cell(str(found.folder), "quiet")
    if facts is None:
        return (Cell(found.name), Cell("✗ wrong", "bad"), Cell(""), Cell(""), Cell(""), folder)
    state = facts.state
    entries = sum(sum(corpus.entries.values()) for corpus in state.head.corpora.values())
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
    """Return in a few words how many keepers open a vault."""
    return f"any {threshold} of {count}" if threshold > 1 else f"each of {count}"


def _about(found: VaultReading) -> Content:
    """Return in two lines what was done last with a vault, or why it cannot be shown."""
    facts = found.facts
    if facts is None:
        title = UNREADABLE if found.problem is None else TROUBLES.get(found.problem, UNREADABLE)
        return Content.assemble(show(title, "$bad"), "\n", show(found.trouble))
    last = facts.log[-1]
    lines_shown: Sequence[str] = facts.older_copy or [
        f"{moment(last.when)}  {last.by}: {last.words}"
    ]
    style = "$bad" if facts.older_copy else ""
    return Content.assemble(show(lines_shown[0], style), "\n", show(str(found.folder), "$quiet"))


def _what_to_do() -> Content:
    return Content.assemble(
        "A vault is a folder that holds a community's secret texts, encrypted. You make one in a shell:\n\n",
        ('  rosetta vault init FOLDER --name "WORDS OF THE ELDERS" --as "YOUR NAME" --recovery STICK/recovery-key.txt\n\n', "bold"),
        ("One that another computer made, on a stick for example, is shown too:\n\n", "$quiet"),
        ("o", "bold $mark"),
        "  opens the folder of a vault",
    )  # fmt: skip
