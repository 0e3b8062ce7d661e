"""``rosetta runs tag``: Give a run tags, or take them away."""

from __future__ import annotations

from collections.abc import Sequence

import click

from harness.store.file.database import opened
from harness.store.notes import change_tags
from harness.store.runs import find_run
from rosetta_tui.show.text import plain


@click.command()
@click.argument("run")
@click.argument("tags", nargs=-1, required=True, metavar="TAG...")
@click.option("--remove", is_flag=True, help="Take these tags away.")
def tag(run: str, tags: Sequence[str], *, remove: bool) -> None:
    """Add TAGs to RUN; `rosetta runs list --tag TAG` lists the runs that have one.

    A tag is one word. Tags stay in this store: a sealed card never changes, so `rosetta runs export`
    writes none.
    """
    with opened() as connection:
        number = find_run(connection, run).id
        add, gone = ((), tags) if remove else (tags, ())
        left = change_tags(connection, number, add, gone)
    click.echo(plain(f"{run}: {', '.join(left) or 'no tags'}"), err=True)
