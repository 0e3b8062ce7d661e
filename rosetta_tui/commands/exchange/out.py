"""``rosetta exchange out``: Put files, or a sealed copy of a vault, on a stick for other computers."""

from __future__ import annotations

from pathlib import Path

import click

from corpora.text.messages import counted
from rosetta_tui.commands.exchange.sharing import AS, STICK, every_kind, memory
from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.vault.sharing import FILE, keeper, vault_at
from rosetta_tui.show.text import plain

with when_used():
    from harness.exchange import export, records
    from harness.store.file import database


@click.command("out")
@STICK
@click.argument("files", nargs=-1, type=FILE, metavar="[FILE]...")
@AS
@click.option("--vault", type=FILE, metavar="FOLDER", help="Put out a sealed copy of this vault, or bring the one there up to date.")  # fmt: skip
@click.option(
    "--purpose", metavar="WORDS", help="Why the vault is copied. Its log keeps these words."
)
@click.option("--key", type=FILE, metavar="FILE", help="Use the keys in this file, such as the recovery key.")  # fmt: skip
@click.option("--clock-was-wrong", is_flag=True, help="The clock is right now, and was wrong when the last line of the vault's log was written.")  # fmt: skip
def out_(
    stick: Path,
    files: tuple[Path, ...],
    name: str | None,
    vault: Path | None,
    purpose: str | None,
    key: Path | None,
    *,
    clock_was_wrong: bool,
) -> None:
    """Export FILEs to the exchange folder on STICK, and sign for everything that this computer has put there.

    Each file is checked first. Putting the same file again changes nothing; if the stick was pulled out too early,
    run the same command again. Without a FILE, this computer signs again for what it put there and took.
    """
    if (vault is None) is not (purpose is None):
        raise click.UsageError("--vault FOLDER goes with --purpose WORDS: the vault's log has the copy.")  # fmt: skip
    copy = None
    if vault is not None and purpose is not None:
        made = vault_at(vault, clock_was_wrong=clock_was_wrong)
        copy = export.VaultToCopy(made, purpose, keeper(key))
    with records.desk(database.home()) as desk:
        if name is not None:
            export.named(desk, name)
        done = export.put_out(desk, stick, files, every_kind(), memory(), copy)
        words = desk.identity.public.phrase
    click.echo(plain(f"{done.folder}: {counted(len(done.new), 'new file')}, {counted(len(done.files), 'file')} of this computer in all."))  # fmt: skip
    for each in done.new:
        click.echo(plain(f"  {each}"))
    for number, seen in done.vaults.items():
        click.echo(plain(f"  vault {number[:16]}, with {counted(seen.lines, 'line')} of log"))
    for each in done.lost:
        click.echo(plain(f"warning: {each} is gone from the stick, so it is no longer on the list. Put it out again if somebody still needs it."), err=True)  # fmt: skip
    click.echo(f"This computer's six words, to be compared by telephone the first time: {words}")
    click.echo("Eject the stick before you pull it.")
