"""``rosetta ownership refuse``: Say no to a record of ownership."""

from __future__ import annotations

from pathlib import Path

import click

from rosetta_tui.commands.ownership.sharing import REASON, RECORD, answered, output


@click.command()
@RECORD
@REASON
@output
def refuse(record: Path, reason: str, output: Path | None) -> None:
    """Refuse the record, as the side whose key this computer has. It stays refused; another one can be proposed."""
    answered(record, "refused", output, reason)
