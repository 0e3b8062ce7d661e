"""``rosetta vault show``: Open the app at the vaults, or at one of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.vault.sharing import FILE

with when_used():
    from rosetta_tui.app import launch
    from rosetta_tui.vault import list_screen, screen

if TYPE_CHECKING:
    from textual.screen import Screen


@click.command("show")
@click.argument("vault", type=FILE, required=False)
def show_(vault: Path | None) -> None:
    """Show VAULT on the screen: what it holds, who opens it, its log, requests and budgets. Without VAULT: all that are known here.

    No key is needed, and no text is opened. `list`, `log`, `grant show` and `budget` say the same in a shell.
    """

    def screens(store_path: Path) -> Iterator[Screen[None]]:
        yield list_screen.VaultsScreen(store_path)
        if vault is not None:
            yield screen.VaultScreen(store_path, vault.absolute())

    launch.open_app(screens)
