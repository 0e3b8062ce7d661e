"""``rosetta runs note``: Write a note beside a run."""

from __future__ import annotations

import sys

import click

from harness.core.failures import UsageError
from harness.store.file.database import opened
from harness.store.notes import note_of, set_note
from harness.store.runs import find_run
from rosetta_tui.show.text import plain


@click.command()
@click.argument("run")
@click.argument("text", required=False)
@click.option("--remove", is_flag=True, help="Take the note away.")
def note(run: str, text: str | None, *, remove: bool) -> None:
    """Write TEXT beside RUN, in place of the note that was there; without TEXT, print it.

    TEXT `-` reads the note from standard input. Notes stay in this store: a sealed card never changes, so
    `rosetta runs export` writes none.
    """
    if remove and text is not None:
        raise UsageError("--remove takes no text: leave one of them out.")
    words = sys.stdin.read() if text == "-" else text
    with opened() as connection:
        number = find_run(connection, run).id
        if remove or words is not None:
            set_note(connection, number, "" if words is None else words)
            return
        for line in note_of(connection, number).splitlines():
            click.echo(plain(line))
