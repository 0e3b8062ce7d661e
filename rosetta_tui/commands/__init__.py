"""The commands, one file each, with a group that imports a command only when it is used."""

from __future__ import annotations

from types import MappingProxyType

import click

from rosetta_tui.commands.naming import TabledCommands
from rosetta_tui.front import COMMANDS, help_text


class Commands(TabledCommands):
    """Finds commands by the table of the front door."""

    table = MappingProxyType({name: words for name, (_, words) in COMMANDS.items()})

    def place(self, name: str) -> tuple[str, str]:
        """Return where the command of this name is."""
        return COMMANDS[name][0], name

    def get_help(self, ctx: click.Context) -> str:  # noqa: ARG002
        """Return the page of the front door."""
        return help_text()


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="rosetta-tui", prog_name="rosetta")
@click.pass_context
def rosetta(context: click.Context) -> None:
    """Find out, offline and honestly, whether a machine translation is good enough."""
    if context.invoked_subcommand is None:
        from rosetta_tui.app.launch import open_app

        open_app()
