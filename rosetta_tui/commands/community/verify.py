"""``rosetta community verify``: Check every byte of such a folder, and whose key signed it."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from corpora.text.messages import counted
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.text import CHECK_SIGNS, plain

with when_used():
    from harness.card import signing
    from harness.consent import withdrawals_in_force
    from harness.sealed import keys, phrase, strict_records
    from harness.store.file import database
    from review.community import folder as export_folder
    from review.community import folder as withdrawn


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--words", default="", metavar="WORDS", help="The six words of anyone who should have made it, as they read them to you.")  # fmt: skip
def verify(folder: Path, words: str) -> None:
    """Check that FOLDER is as it was written, and say whose key signed it and what in it was withdrawn since.

    The exit code is 1 if it was changed, or something in it was withdrawn.
    """
    try:
        export = export_folder.read_export(folder)
    except strict_records.FileError as error:
        click.echo(plain(f"✗ {error}"))
        sys.exit(1)
    click.echo(plain(f"✓ {counted(len(export.sums), 'file')}, as they were written {export.about.get('made')}"))  # fmt: skip
    taken_back = withdrawn.withdrawn_in(
        folder, export, withdrawals_in_force.standing(database.home())
    )
    for check in taken_back:
        click.echo(plain(f"{CHECK_SIGNS[check.ok]} consent: {check.words}"))
    six_words = keys.key_phrase(export.signer)
    own = signing.own_keys(database.home()).get(export.signer)
    if words and not keys.says_key(phrase.read_words(words), export.signer):
        click.echo(plain(f"✗ signed with another key than that of the words given; its six words are: {six_words}"))  # fmt: skip
        sys.exit(1)
    if words or own:
        click.echo(
            plain(f"✓ signed with {own or 'the key whose six words were given'}: {six_words}")
        )
    else:
        click.echo(plain(f"– signed with a key that nobody here knows. Its six words are: {six_words}. Compare them with those of anyone who made it (--words)."))  # fmt: skip
    if any(check.ok is False for check in taken_back):
        sys.exit(1)
