"""``rosetta organisation used``: Record where a certified method is used, by whom and since when."""

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
    from rosetta_tui.report import records


@click.command()
@click.argument("run")
@click.option("--where", required=True, metavar="WORDS", help="What it is used for, or where.")
@click.option("--by", "by_whom", required=True, metavar="WORDS", help="Who uses it.")
@click.option("--since", required=True, metavar="DATE", help="Such as 2026-11-23.")
@click.option("-o", "--output", type=FILE, metavar="NAME.rosetta-use", help="Write the signed record, for others.")  # fmt: skip
def used(run: str, where: str, by_whom: str, since: str, output: Path | None) -> None:
    """Record that the method of RUN, which passed the gate, is in use; signed with this organisation's key."""
    with opened() as connection, transaction.transaction(connection):
        made = use.record_use(connection, run, home(), where=where, by_whom=by_whom, since=since)
        if output is not None:
            written_files.write_new_file(output, made.data())
    for line in records.use_lines([made]):
        click.echo(plain(line))
