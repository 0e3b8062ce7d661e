"""The commands, one file each, with a group that imports a command only when it is used."""

from __future__ import annotations

import click

from harness.core.version import VERSION
from harness.vault import secret_text
from rosetta_tui.commands.naming import FiledCommands
from rosetta_tui.front import help_text, version_text


class Commands(FiledCommands):
    """The commands of the program, with the help page of the front door."""

    def get_help(self, ctx: click.Context) -> str:  # noqa: ARG002
        """Return the page of the front door."""
        return help_text()


@click.group(cls=Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, message=version_text().rstrip())
@click.pass_context
def rosetta(context: click.Context) -> None:
    """Find out, offline and honestly, whether a machine translation is good enough."""
    secret_text.no_core_dumps()  # before a key or a file of texts is read
    if context.invoked_subcommand is None:
        from rosetta_tui.app.launch import open_app

        open_app()
