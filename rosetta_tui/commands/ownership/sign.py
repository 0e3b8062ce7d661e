"""``rosetta ownership sign``: Sign a record of ownership."""

from __future__ import annotations

from pathlib import Path

import click

from rosetta_tui.commands.ownership.sharing import RECORD, answered, output


@click.command()
@RECORD
@output
def sign(record: Path, output: Path | None) -> None:
    """Sign the record as the side whose key this computer has; read it first with `rosetta ownership show`."""
    answered(record, "signed", output)
