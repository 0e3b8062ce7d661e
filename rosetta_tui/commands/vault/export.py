"""``rosetta vault export``: Make a sealed copy of a vault, or bring one up to date."""

from __future__ import annotations

from pathlib import Path

import click

from rosetta_tui.commands.vault.sharing import FILE, changing, keeper, purpose, vault_at
from rosetta_tui.show.text import plain
from scoring.core.messages import counted


@click.command("export")
@changing
@click.argument("target", type=FILE, metavar="FOLDER")
@purpose
def export_(
    vault: Path, key: Path | None, target: Path, purpose: str, *, clock_was_wrong: bool
) -> None:
    """Copy VAULT, sealed as it is, to FOLDER: a new one, or an older copy of the same vault.

    The copy opens for the same keepers, and holds the whole log. No text is opened.
    """
    made = vault_at(vault, clock_was_wrong=clock_was_wrong)
    state = made.export(target, purpose, keeper(key))
    click.echo(plain(f"{target} is a sealed copy of {vault} now, with {counted(state.head.lines, 'line')} of log. Use one of them only: a copy that is used on its own can no longer be brought together with the other."))  # fmt: skip
