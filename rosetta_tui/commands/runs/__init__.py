"""``rosetta runs``: List, show, note, export, import and delete runs."""

from __future__ import annotations

import click

from rosetta_tui.commands.naming import FiledCommands


class RunCommands(FiledCommands):
    """The commands about runs, one file each."""

    folder = "runs"
    order = ("list", "show", "note", "export", "proof", "import", "verify", "lint", "reproduce", "attach", "delete")


@click.group(cls=RunCommands)
def runs() -> None:
    """List, show, note, export, import, verify, lint, reproduce and delete runs."""
