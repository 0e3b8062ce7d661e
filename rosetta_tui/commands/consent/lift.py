"""``rosetta consent lift``: Say that a notice no longer holds; both stay on record."""

from __future__ import annotations

from pathlib import Path

import click

from rosetta_tui.commands.consent.sharing import BY, FILE, REASON, own_register, write_out
from rosetta_tui.show.text import plain


@click.command("lift")
@click.argument("number", metavar="NOTICE")
@REASON
@BY
@click.option("-o", "--output", type=FILE, help="Write the notice that lifts it to a file, for others.")  # fmt: skip
def lift_(number: str, reason: str, by: str, output: Path | None) -> None:
    """Lift the notice whose number begins with NOTICE. It stays in the list, with who lifted it and why; `verify` says both.

    Elsewhere only the signer of a notice can lift it. A notice that somebody else signed is set aside on this
    computer alone.
    """
    said = own_register().lift(number, reason, by)
    click.echo(plain(f"Lifted: {said.about.words} ({said.number[:12]})."))
    if output is not None:
        write_out(said, output)
