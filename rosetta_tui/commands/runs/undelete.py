"""``rosetta runs undelete``: Bring back a deleted run."""

from __future__ import annotations

from collections.abc import Sequence

import click

from harness.store.file.database import opened
from rosetta_tui.show.text import plain


@click.command()
@click.argument("names", nargs=-1, metavar="[RUN]...")
def undelete(names: Sequence[str]) -> None:
    """Restore deleted RUNs; without a name, the one that was deleted last.

    `rosetta runs list --deleted` lists those that can be brought back.
    """
    from harness.store.deletion import bring_back
    from harness.store.runs import find_trashed

    with opened() as connection:
        for run in [find_trashed(connection, name) for name in names or ("last",)]:
            bring_back(connection, run.id)
            click.echo(plain(f"Back: {run.run_id}"), err=True)
