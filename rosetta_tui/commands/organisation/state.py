"""``rosetta organisation state``: State how one requirement is met, signed, with name and date."""

from __future__ import annotations

import click

from harness.store.file.database import home, opened
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.text import plain

with when_used():
    from review.records import profile as profiles


@click.command()
@click.argument("item")
@click.argument("words", default="")
@click.option("--by", "person", required=True, metavar="NAME", help="Who states it.")
def state(item: str, words: str, person: str) -> None:
    """State in WORDS how the organisation meets ITEM (`rosetta organisation profile` lists them), signed with its key.

    It replaces what was stated about ITEM before. Without WORDS that statement is taken back.
    """
    with opened() as connection:
        made = profiles.state(connection, item, words, person, home())
    done = "Stated" if made.words else "Taken back"
    click.echo(plain(f"{done}: {made.item}, by {made.person}, {made.when}."))
