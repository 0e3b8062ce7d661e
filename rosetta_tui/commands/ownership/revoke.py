"""``rosetta ownership revoke``: Take back a signature on a record of ownership."""

from __future__ import annotations

from pathlib import Path

import click

from rosetta_tui.commands.ownership.sharing import REASON, RECORD, answered, output


@click.command()
@RECORD
@REASON
@output
def revoke(record: Path, reason: str, output: Path | None) -> None:
    """Revoke this computer's signature on the record. It stays revoked, and lists say so; another one can be proposed."""
    answered(record, "revoked", output, reason)
