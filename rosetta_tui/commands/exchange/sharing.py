"""What the commands about exchange folders share: every kind of file that may travel, and where this computer keeps its notes."""

from __future__ import annotations

from pathlib import Path

import click

from rosetta_tui.commands.naming import when_used

with when_used():
    from harness.exchange import records
    from harness.store.file import database
    from review.records import exchanged

STICK = click.argument("stick", type=click.Path(path_type=Path))
AS = click.option("--as", "name", metavar="NAME", help="What this computer is called on the stick; remembered once it was said.")  # fmt: skip


def every_kind() -> tuple[records.FileKind, ...]:
    """Return every kind of file that computers hand to each other."""
    return (*records.KINDS, *exchanged.KINDS)


def memory() -> Path:
    """Return the folder in which this computer keeps what it saw of vaults."""
    return database.home() / "vaults"
