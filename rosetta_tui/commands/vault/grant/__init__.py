"""``rosetta vault grant``: Answer the requests of keepers to open a vault once, and see who allowed them."""

from __future__ import annotations

import click

from rosetta_tui.commands.naming import FiledCommands


class GrantCommands(FiledCommands):
    """The commands about grants, one file each."""

    folder = "vault grant"
    order = ("show", "answer", "take")


@click.group(cls=GrantCommands)
def grant() -> None:
    """Open a vault once: one keeper asks, and as many others answer as it takes; any one of them where each opens it alone.

    1. `rosetta run --ask FILE` asks, as any command does that takes --grant: FILE goes to the keepers, on a stick or in
    any other way. 2. Each keeper looks at it with `show`, and writes a file that goes back with `answer`. 3. `take` takes in the answers, in any order. `show` says who is still missing. 4. The same command with
    --grant FILE uses it, once.
    """
