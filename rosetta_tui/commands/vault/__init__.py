"""``rosetta vault``: Keep secret texts sealed, and see who opened them."""

from __future__ import annotations

import click

from rosetta_tui.commands.naming import FiledCommands


class VaultCommands(FiledCommands):
    """The commands about vaults, one file each."""

    folder = "vault"
    order = (
        "card", "init", "add", "list", "open", "log", "check-up", "enrol", "revoke", "share",
        "export", "budget", "compare",
    )  # fmt: skip


@click.group(cls=VaultCommands)
def vault() -> None:
    """Protect secret texts on the disk: who can open them, and a signed log of who did, and why."""
