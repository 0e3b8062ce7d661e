"""``rosetta organisation take``: Take in the record of a use that another organisation signed."""

from __future__ import annotations

from pathlib import Path

import click

from harness.store.file.database import home, opened
from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.ownership.sharing import FILE
from rosetta_tui.commands.review.verify import read_key
from rosetta_tui.show.text import plain

with when_used():
    from harness.core import user_file
    from harness.sealed import strict_records
    from harness.store.file import transaction
    from review.records import use
    from rosetta_tui.report import records


@click.command()
@click.argument("record", type=FILE, metavar="NAME.rosetta-use")
@click.option("--trust", metavar="KEY", help="The organisation's public key, 64 hexadecimal digits.")  # fmt: skip
def take(record: Path, trust: str | None) -> None:
    """Import a signed record of a use. Its signer must be this computer's organisation, or the key named with --trust."""
    data = user_file.read_bytes(record, "the record of a use", use.MOST_BYTES)
    with (
        strict_records.about_file(record),
        opened() as connection,
        transaction.transaction(connection),
    ):
        signed_use = use.take_use(
            connection, data, home(), None if trust is None else read_key(trust)
        )
    for line in (
        records.use_lines([signed_use]) if not signed_use.begun else [f"Ended: {signed_use.words}"]
    ):
        click.echo(plain(line))
