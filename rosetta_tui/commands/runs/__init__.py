"""``rosetta runs``: the runs of the store, one file for each of its commands."""

from __future__ import annotations

import importlib

import click

RUN_COMMANDS = {
    "list": "List all runs, newest first.",
    "show": "Show all scores of a run, its note and its tags.",
    "note": "Write a note beside a run.",
    "tag": "Give a run tags, or take them away.",
    "export": "Write a run to a file.",
    "import": "Take run cards and test reports into the list of runs.",
    "verify": "Check a card's seal, and compute its numbers again.",
    "delete": "Delete runs; for a week they can be brought back.",
    "undelete": "Bring back a deleted run.",
}
"""Name → what it does; the command of that name is in the module of that name (``import_`` for import)."""

_BUILT_IN = frozenset({"import", "list"})


class RunCommands(click.Group):
    """Imports a command when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Give the names in the order of the table."""
        return list(RUN_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the command of this name."""
        if cmd_name not in RUN_COMMANDS:
            return None
        name = f"{cmd_name}_" if cmd_name in _BUILT_IN else cmd_name
        command = getattr(importlib.import_module(f"rosetta_tui.commands.runs.{name}"), name)
        return command if isinstance(command, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands from the table, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(RUN_COMMANDS.items()))


@click.group(cls=RunCommands)
def runs() -> None:
    """List, show, note, export, import, verify and delete runs."""
