"""``rosetta ownership``: Agree on who owns a method that speakers found good."""

from __future__ import annotations

import click

from rosetta_tui.commands.naming import FiledCommands


class OwnershipCommands(FiledCommands):
    """The commands about records of ownership, one file each."""

    folder = "ownership"
    order = ("propose", "sign", "refuse", "revoke", "take", "show")


@click.group(cls=OwnershipCommands)
def ownership() -> None:
    """Agree on who owns a method that speakers found good, in a record that both sides sign.

    It is about a run over gold_standard with a composite of 0.70 or more that passed the gate. The organisation
    proposes, the file travels by stick, and each side signs on its own computer. Either side can refuse, or take its
    signature back, at any time.
    """
