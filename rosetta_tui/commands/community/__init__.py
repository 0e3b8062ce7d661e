"""``rosetta community``: Take out everything that belongs to a community, in files that need no program."""

from __future__ import annotations

import click

from rosetta_tui.commands.naming import FiledCommands


class CommunityCommands(FiledCommands):
    """The commands about what belongs to a community, one file each."""

    folder = "community"
    order = ("export", "verify")


@click.group(cls=CommunityCommands)
def community() -> None:
    """Write everything that belongs to a community into a folder of open files, so that it can leave this program at any time."""
