"""``rosetta organisation ended``: Record that a use of a method ended, and why."""

from __future__ import annotations

from pathlib import Path

import click

from harness.store.file.database import home, opened
from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.ownership.sharing import FILE
from rosetta_tui.show.text import plain

with when_used():
    from harness.core import written_files
    from harness.store.file import transaction
    from review.records import use


@click.command()
@click.argument("number")
@click.option("--on", "day", required=True, metavar="DATE", help="Such as 2026-11-23.")
@click.option("--reason", required=True, metavar="WORDS")
@click.option("-o", "--output", type=FILE, metavar="NAME.rosetta-use", help="Write the signed record, for others.")  # fmt: skip
def ended(number: str, day: str, reason: str, output: Path | None) -> None:
    """Record that the use with this NUMBER (`rosetta organisation uses`) has ended; both records stay."""
    with opened() as connection, transaction.transaction(connection):
        made = use.end_use(connection, number, home(), ended=day, reason=reason)
        if output is not None:
            written_files.write_new_file(output, made.data())
    click.echo(plain(f"Recorded: {made.words}"))
