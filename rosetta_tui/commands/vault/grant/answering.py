"""What the commands about grants share: their files, and this computer's grants of a vault."""

from __future__ import annotations

from pathlib import Path

import click

from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.vault.sharing import FILE, vault_at

with when_used():
    from harness.core import written_files
    from harness.sealed import keys, stick
    from harness.store.file import database
    from harness.vault.grants import files, grants

REQUEST = click.argument("request", type=FILE, metavar="NAME.rosetta-request")
KEY = click.option("--key", type=FILE, metavar="FILE", help="Answer with the keys in this file, such as those on your stick.")  # fmt: skip
ANSWER = click.option("--to", "answer", required=True, type=FILE, metavar="NAME.rosetta-answer", help="Where the answer goes, such as on the stick.")  # fmt: skip


def grants_at(vault: Path, *, clock_was_wrong: bool = False) -> grants.Grants:
    """Return the grants of a vault, as this computer has them; its own keys are made the first time."""
    home = written_files.private_folder(database.home())
    machine = keys.Identity.load(home, keys.Role.COMPUTER)
    return grants.Grants(vault_at(vault, clock_was_wrong=clock_was_wrong), machine)


def read_file(path: Path) -> bytes:
    """Read a request or an answer; UsageError in words where it is not there, or larger than any is."""
    return stick.read_named(path, files.MOST_BYTES)


def write_new(path: Path, content: bytes) -> None:
    """Write a file that goes to others, and read it back; HarnessError in words where the stick is full or pulled."""
    stick.write_file(path, content, written_files.PUBLISHED)
