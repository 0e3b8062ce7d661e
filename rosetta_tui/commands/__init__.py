"""The commands, one file each, with a group that imports a command only when it is used."""

from __future__ import annotations

import importlib

import click

from rosetta_tui.cli import COMMANDS, help_text


class Commands(click.Group):
    """Finds commands by the table of the front door."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Give the names in the order in which a newcomer needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the command of this name."""
        if cmd_name not in COMMANDS:
            return None
        command = getattr(importlib.import_module(COMMANDS[cmd_name][0]), cmd_name)
        return command if isinstance(command, click.Command) else None

    def get_help(self, ctx: click.Context) -> str:  # noqa: ARG002
        """Give the page of the front door."""
        return help_text()


@click.group(cls=Commands, invoke_without_command=True)
@click.version_option(package_name="rosetta-tui", prog_name="rosetta")
@click.pass_context
def rosetta(context: click.Context) -> None:
    """Find out, offline and honestly, whether a machine translation is good enough."""
    if context.invoked_subcommand is None:
        from rosetta_tui.launch import open_app

        open_app()
