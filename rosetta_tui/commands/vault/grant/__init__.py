"""``rosetta vault grant``: Ask the keepers to open a vault once, answer, and see who allowed it."""

from __future__ import annotations

import click

from rosetta_tui.commands.naming import FiledCommands


class GrantCommands(FiledCommands):
    """The commands about grants, one file each."""

    folder = "vault grant"
    order = ("request", "show", "allow", "refuse", "take")


@click.group(cls=GrantCommands)
def grant() -> None:
    """Open a vault once: one keeper asks, and as many others answer as it takes; any one of them where each opens it alone.

    1. `request` asks: it writes a file that goes to the keepers, on a stick or in any other way. 2. Each keeper looks
    at it with `show`, and answers with `allow` or `refuse`: each writes a file that goes back. 3. `take` takes in the
    answers, in any order. `show` says who is still missing. 4. `rosetta vault open --grant` or `rosetta run --grant`
    uses it, once.
    """
