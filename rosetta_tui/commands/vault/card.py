"""``rosetta vault card``: Write your card, with which a vault can be made for you."""

from __future__ import annotations

from pathlib import Path

import click

from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.vault.sharing import FILE
from rosetta_tui.show.text import plain

with when_used():
    from harness.core import written_files
    from harness.sealed import keys
    from harness.store.file import database
    from harness.vault import keepers


@click.command("card")
@click.argument("file", type=FILE, metavar="NAME.rosetta-keeper")
@click.option("--name", help="What you are called in the log of the vault. Default: the file's name.")  # fmt: skip
def card_(file: Path, name: str | None) -> None:
    """Write NAME.rosetta-keeper for anyone who makes the vault, and show the six words of your key.

    The first time, your secret keys are made here. They stay on this computer, in the keyring of the operating system
    if it has one.
    """
    identity = keys.Identity.load(written_files.private_folder(database.home()), keys.Role.KEEPER)
    card = keepers.write_card(identity, name or file.stem)
    written_files.write_new_file(file, card, mode=written_files.PUBLISHED)
    click.echo(
        plain(f"Written: {file}. Hand it to anyone who makes the vault; it holds no secret.")
    )
    click.echo(f"Your six words, to compare by telephone: {identity.public.phrase}")
