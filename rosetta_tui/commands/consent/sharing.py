"""What the commands about consent share: the register of the data folder, and who acts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.text import plain

with when_used():
    from harness.consent import notice, register
    from harness.core import written_files
    from harness.sealed import keys
    from harness.store.file import database

Command = TypeVar("Command", bound=Callable[..., Any])

FILE = click.Path(path_type=Path)
REASON = click.option("--reason", required=True, metavar="WORDS", help="Why. The notice repeats these words, so name nobody and quote no text.")  # fmt: skip
BY = click.option("--by", required=True, metavar="NAME", help="Who says so, as others know them, such as the council.")  # fmt: skip


def own_register() -> register.Register:
    """Return the register of the data folder, with the keys of this computer's organisation."""
    home = written_files.private_folder(database.home())
    return register.Register(home, keys.Identity.load(home, keys.Role.ORGANISATION))


def write_out(said: notice.SignedNotice, path: Path) -> None:
    """Write a notice to a file that others may have, and say by which words its signer is known."""
    data = notice.as_bytes(said)
    written_files.write_file(path, data, overwrite=False, mode=written_files.PUBLISHED)
    click.echo(plain(f"Written: {path}. Carry it to everybody who has a copy; it holds no text."), err=True)  # fmt: skip
    click.echo(f"Its signer's six words, to be read to them by telephone: {keys.key_phrase(said.signing_key)}", err=True)  # fmt: skip
