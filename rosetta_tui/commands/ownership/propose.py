"""``rosetta ownership propose``: Propose who owns the method of a run."""

from __future__ import annotations

from pathlib import Path

import click

from harness.store.file.database import home, opened
from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.ownership.sharing import FILE
from rosetta_tui.commands.review.verify import read_key
from rosetta_tui.show.text import plain

with when_used():
    from harness.consent import notice
    from harness.core import storage
    from harness.store.file import trouble
    from review.records import agreeing, ownership
    from rosetta_tui.report import records


@click.command()
@click.argument("run")
@click.option("--developer", required=True, metavar="NAME", help="What the developer is called.")
@click.option("--key", required=True, metavar="KEY", help="The developer's public key, 64 hexadecimal digits; their `rosetta ownership show` has it.")  # fmt: skip
@click.option("--share", type=click.IntRange(0, 100), help="Percent of what the method earns that the organisation gets; 90 unless you say otherwise.")  # fmt: skip
@click.option("--more", default="", metavar="WORDS", help="What else both agree on, in up to 2,000 characters.")  # fmt: skip
@click.option("-o", "--output", type=FILE, required=True, metavar="NAME.rosetta-ownership")
def propose(run: str, developer: str, key: str, share: int | None, more: str, output: Path) -> None:
    """Propose who owns the method of RUN, on the organisation's computer; it binds nobody yet.

    RUN must be over gold_standard alone, with a composite of 0.70 or more and a gate that the community passed.
    """
    named = ownership.Party(
        name=notice.one_line(developer, "The developer's name"), signing_key=read_key(key, "--key")
    )
    changed = {} if share is None else {"organisation_share": share}
    with opened() as connection, trouble.transaction(connection):
        made = agreeing.propose_for(connection, run, named, home(), more=more, **changed)
        storage.write_new_file(output, made.data())
    for line in records.ownership_lines(made):
        click.echo(plain(line))
    click.echo(
        plain(
            f"Written to {output}. Compare the developer's six words by telephone before you sign."
        )
    )
