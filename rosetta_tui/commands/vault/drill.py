"""``rosetta vault drill``: Try whether keepers can give their shares back, with a throw-away key."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from rosetta_tui.commands.naming import NamedCommands, when_used
from rosetta_tui.commands.vault.sharing import FILE, keeper, vault_at
from rosetta_tui.show.clipboard import command_line
from rosetta_tui.show.text import plain

with when_used():
    from harness.vault.shares import drill as drills


@click.group("drill", cls=NamedCommands)
def drill_() -> None:
    """Try whether the keepers of a vault can give their shares back. A throw-away key is used; nothing real is opened.

    Do it once a year, and whenever a keeper changes computers. FOLDER goes from keeper to keeper, on a stick for example.
    """


_key = click.option("--key", type=FILE, metavar="FILE", help="Use the keys in this file, such as the recovery key.")  # fmt: skip
_folder = click.argument("folder", type=FILE)


@drill_.command("start")
@click.argument("vault", type=FILE)
@_folder
@_key
def start(vault: Path, folder: Path, key: Path | None) -> None:
    """Split a throw-away key among the keepers of VAULT, and write their shares, sealed, to FOLDER."""
    made = drills.begin(vault_at(vault).read(), folder, keeper(key), datetime.now(UTC))
    names = ", ".join(share.keeper.name for share in made.shares)
    command = command_line([str(folder)])
    click.echo(plain(f"Written: {folder}. Each keeper, on their own computer: rosetta vault drill answer {command}"))  # fmt: skip
    click.echo(plain(f"Asked: {names}. Then: rosetta vault drill report {command_line([str(vault)])} {command}"))  # fmt: skip


@drill_.command("answer")
@_folder
@_key
def answer(folder: Path, key: Path | None) -> None:
    """Return your throw-away share in FOLDER."""
    if drills.answer(folder, keeper(key), datetime.now(UTC)):
        click.echo("Your keys open what was sealed for you: your answer is in the folder.")
        return
    click.echo("Your keys do not open what was sealed for you, and the answer says so. Tell the other keepers: as long as they are enough to open the vault, they can give you a new share.", err=True)  # fmt: skip
    raise click.exceptions.Exit(1)


@drill_.command("report")
@click.argument("vault", type=FILE)
@_folder
def report(vault: Path, folder: Path) -> None:
    """Show who could give their share back, who could not, and whether VAULT would open. The exit code is 1 if it would not."""
    drill_report = drills.report(folder, vault_at(vault).read())
    asked, needed = len(drill_report.drill.shares), drill_report.drill.threshold
    click.echo(plain(f"Drill of {drill_report.drill.name!r}, begun {drill_report.drill.when}: {len(drill_report.could)} of {asked} keepers gave their share back."))  # fmt: skip
    for able in drill_report.could:
        click.echo(plain(f"  could: {able.name}"))
    for name, why in drill_report.could_not.items():
        click.echo(plain(f"  could not: {name} ({why})"))
    for able in drill_report.silent:
        click.echo(plain(f"  no answer yet: {able.name}"))
    if drill_report.enough:
        spare = len(drill_report.could) - needed
        click.echo(f"{needed} are needed: the vault would open, and {spare} more could be absent." if spare else f"{needed} are needed: the vault would open, but nobody else could be absent.")  # fmt: skip
        return
    click.echo(f"{needed} are needed: the vault would NOT open. Find out why before you need it.")
    raise click.exceptions.Exit(1)
