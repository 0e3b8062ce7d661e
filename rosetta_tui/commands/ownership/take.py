"""``rosetta ownership take``: Take in a record of ownership that the other side signed."""

from __future__ import annotations

from pathlib import Path

import click

from harness.store.file.database import home, opened
from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.ownership.sharing import RECORD, read
from rosetta_tui.commands.review.verify import read_key
from rosetta_tui.show.text import plain

with when_used():
    from harness.sealed import strict_records
    from review.records import agreeing
    from rosetta_tui.report import records


@click.command()
@RECORD
@click.option("--trust", metavar="KEY", help="The organisation's public key, where this computer is neither side of the record.")  # fmt: skip
def take(record: Path, trust: str | None) -> None:
    """Import a record that the other side signed, refused or revoked; what this computer already knows of it is kept.

    The leaderboard shows it beside a run with a certificate of the same organisation.
    """
    key = None if trust is None else read_key(trust)
    with strict_records.about_file(record), opened() as connection:
        ownership_record = agreeing.take(connection, read(record), home(), key)
    for line in records.ownership_lines(ownership_record):
        click.echo(plain(line))
