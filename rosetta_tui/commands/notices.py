"""What commands that withdraw something share: the register of the data folder, and a notice as a file."""

from __future__ import annotations

from pathlib import Path

import click

from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.text import plain

with when_used():
    from harness.consent import notice, register
    from harness.core import storage
    from harness.sealed import keys
    from harness.store.sqlite import database


def own_register() -> register.Register:
    """Return the register of the data folder, with the keys of this computer's organisation."""
    home = storage.private_folder(database.home())
    return register.Register(home, keys.Identity.load(home, keys.Role.ORGANISATION))


def write_notice(said: notice.SignedNotice, path: Path) -> None:
    """Write a notice to a file that others may have, and say by which words its signer is known."""
    data = notice.as_bytes(said)
    storage.write_new_file(path, data, mode=storage.PUBLISHED)
    click.echo(plain(f"Written: {path}. Carry it to everybody who has a copy; it holds no text."), err=True)
    click.echo(f"Its signer's six words, to be read to them by telephone: {keys.key_phrase(said.signing_key)}", err=True)  # fmt: skip
