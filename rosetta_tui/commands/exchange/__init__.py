"""``rosetta exchange``: Pass files between computers that share no network, on a stick."""

from __future__ import annotations

import click

from rosetta_tui.commands.naming import FiledCommands


class ExchangeCommands(FiledCommands):
    """The commands about exchange folders, one file each."""

    folder = "exchange"
    order = ("out", "in", "list")


@click.group(cls=ExchangeCommands)
def exchange() -> None:
    """Pass files between computers that share no network, through a folder on a stick.

    What is put there is listed and signed by the computer that put it; what is taken is checked, noted, and never
    taken twice. Batches, ratings, cards, certificates, copies of vaults and what keepers sign can travel in this way.
    """
