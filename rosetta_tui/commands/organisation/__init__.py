"""``rosetta organisation``: Say what an organisation is."""

from __future__ import annotations

import click

from rosetta_tui.commands.naming import FiledCommands


class OrganisationCommands(FiledCommands):
    """The commands about an organisation, one file each."""

    folder = "organisation"
    order = ("profile", "state")


@click.group(cls=OrganisationCommands)
def organisation() -> None:
    """Show what an organisation that keeps a benchmark is.

    The requirements are those of benchmark-specification §8.4 and §8.5. What the program sees itself is listed beside
    what a person states, signed with name and date.
    """
