"""``rosetta organisation uses``: List where certified methods are used, or were."""

from __future__ import annotations

import click

from harness.store.file.database import opened
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.json_forms import print_form

with when_used():
    from review.records import use
    from rosetta_tui.report import records


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def uses(*, as_json: bool) -> None:
    """List where methods are used, by whom and since when, and which uses have ended, from the signed records kept here."""
    with opened() as connection:
        signed_uses = use.uses(connection)
    lines = list(records.use_lines(signed_uses)) or [
        "No use is recorded. rosetta organisation used RUN records one."
    ]
    document = {
        "uses": [
            {"id": signed_use.id, **signed_use.model_dump(mode="json")}
            for signed_use in signed_uses
        ]
    }
    print_form("organisation-uses", document, lines, as_json=as_json)
