"""``rosetta ownership show``: Show a record of ownership, or all that are kept here."""

from __future__ import annotations

from pathlib import Path

import click

from harness.store.file.database import home, opened
from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.ownership.sharing import FILE, read
from rosetta_tui.show.json_forms import print_form

with when_used():
    from harness.card import signing
    from harness.sealed import keys, strict_records
    from harness.store import attachments
    from review.records import agreeing, ownership
    from rosetta_tui.report import records


@click.command()
@click.argument("record", type=FILE, metavar="[NAME.rosetta-ownership]", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(record: Path | None, *, as_json: bool) -> None:
    """Show what a record says, with everything known of it here; without one, all that are kept, and this computer's key."""
    with opened() as connection:
        if record is not None:
            with strict_records.about_file(record):
                stated = ownership.read_ownership(read(record))
            ownership_records = [agreeing.with_kept(connection, stated)]
        else:
            kept = attachments.signed_files(connection, attachments.RecordKind.OWNERSHIP)
            ownership_records = [ownership.read_ownership(data) for _, data in kept]
    own = signing.own_signer(home()).public.signing_key
    lines = [
        line
        for ownership_record in ownership_records
        for line in (*records.ownership_lines(ownership_record), "")
    ]
    lines += [
        f"This computer signs with the key {own}",
        f"Its six words are: {keys.key_phrase(own)}",
    ]
    document = {
        "key": own,
        "records": [
            records.ownership_json(ownership_record) for ownership_record in ownership_records
        ],
    }
    print_form("ownership-show", document, lines, as_json=as_json)
