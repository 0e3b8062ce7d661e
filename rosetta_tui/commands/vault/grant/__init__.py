"""``rosetta vault grant``: Answer the requests of keepers to open a vault once, and see who allowed them."""

from __future__ import annotations

import click

from rosetta_tui.commands.naming import FiledCommands


class GrantCommands(FiledCommands):
    """The commands about grants, one file each."""

    folder = "vault grant"
    order = ("show", "answer")


@click.group(cls=GrantCommands)
def grant() -> None:
    """Open a vault once: one keeper asks, and as many others answer as it takes; any one of them where each opens it alone.

    The command that opens it asks: it writes a request, which goes to the keepers on a stick or in any other way. Each
    keeper looks at it with `show`, and writes a file with `answer`. The answers come back next to the request; there the
    command that asked finds them, and continues once enough allow it. `show` says who is still missing.
    """
