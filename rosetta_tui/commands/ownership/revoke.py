"""``rosetta ownership revoke``: Take a signature under a record of ownership back."""

from __future__ import annotations

from pathlib import Path

import click

from rosetta_tui.commands.ownership.sharing import REASON, RECORD, answered, output


@click.command()
@RECORD
@REASON
@output
def revoke(record: Path, reason: str, output: Path | None) -> None:
    """Take this computer's signature under the record back. It stays revoked, and lists say so; another one can be proposed."""
    answered(record, "revoked", output, reason)
