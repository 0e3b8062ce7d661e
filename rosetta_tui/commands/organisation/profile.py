"""``rosetta organisation profile``: Show what an organisation must meet and what shows it, or sign that for others."""

from __future__ import annotations

from pathlib import Path

import click

from harness.core.failures import UsageError
from harness.store.file.database import home, opened
from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.ownership.sharing import FILE
from rosetta_tui.show.json_forms import print_form
from rosetta_tui.show.text import plain

with when_used():
    from harness.core import storage
    from review.records import profile as profiles
    from rosetta_tui.report import records


@click.command()
@click.option("--name", metavar="NAME", help="With -o: what the organisation is called.")
@click.option("-o", "--output", type=FILE, metavar="NAME.rosetta-profile", help="Sign the profile as it is now and write it, for others.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def profile(name: str | None, output: Path | None, *, as_json: bool) -> None:
    """Show what §8.4 and §8.5 ask of this computer's organisation, what this computer has seen of it, and what a person stated."""
    if (name is None) is not (output is None):
        raise UsageError(
            "--name NAME and -o FILE go together: a profile for others carries the name."
        )
    with opened() as connection:
        there, signed_profile_statements = (
            profiles.seen(connection, home()),
            profiles.stated(connection, home()),
        )
        items = profiles.profile_json(there, signed_profile_statements)
        if name is not None and output is not None:
            made = profiles.make_profile(connection, name, home())
            storage.write_new_file(output, made.data())
    print_form(
        "organisation-profile",
        {"items": items},
        list(records.profile_lines(items)),
        as_json=as_json,
    )
    if output is not None:
        click.echo(plain(f"Signed and written to {output}."), err=True)
