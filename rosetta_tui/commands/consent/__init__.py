"""``rosetta consent``: Take back a corpus, entries, a method or a key, with effect, and see what was taken back."""

from __future__ import annotations

import click

from rosetta_tui.commands.naming import FiledCommands


class ConsentCommands(FiledCommands):
    """The commands about consent, one file each."""

    folder = "consent"
    order = ("withdraw", "list", "export", "take", "lift")


@click.group(cls=ConsentCommands)
def consent() -> None:
    """Withdraw a corpus, entries, a method or a key: what is opened, listed, exported and claimed changes at once."""
