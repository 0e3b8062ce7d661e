"""What the commands about records of ownership share: reading the file, and writing it with what was said again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from harness.store.file.database import home, opened
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.text import plain

with when_used():
    from harness.core import storage, user_file
    from harness.sealed import strict_records
    from review.records import agreeing, ownership
    from rosetta_tui.report import records

FILE = click.Path(path_type=Path)
RECORD = click.argument("record", type=FILE, metavar="NAME.rosetta-ownership")
REASON = click.option("--reason", required=True, metavar="WORDS", help="Why, in up to 200 characters. The record keeps these words.")  # fmt: skip


def output(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option that names another file for the record than the one that was read."""
    return click.option("-o", "--output", type=FILE, metavar="FILE", help="Write the record to this file instead of changing the one that is given.")(command)  # fmt: skip


def read(path: Path) -> bytes:
    """Return the bytes of a record's file; UsageError in words where it cannot be read."""
    return user_file.read_bytes(path, "a record of ownership", ownership.MOST_BYTES)


def answered(path: Path, what: str, target: Path | None, reason: str = "") -> None:
    """Add a word of this computer's side to a record, keep it, write its file again and say what holds now."""
    with strict_records.about_file(path), opened() as connection:
        ownership_record = agreeing.answer(
            connection, read(path), ownership.OwnershipAction(what), home(), reason
        )
    storage.write_file(target or path, ownership_record.data(), overwrite=True)
    for line in records.ownership_lines(ownership_record):
        click.echo(plain(line))
    click.echo(
        plain(
            f"Written to {target or path}. Hand it to the other side, who takes it in: rosetta ownership take"
        )
    )
