"""``rosetta exchange in``: Take from a stick what other computers put there, and is new here."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from corpora.text.messages import counted
from rosetta_tui.commands.exchange.sharing import AS, STICK, every_kind, memory
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.clipboard import command_line
from rosetta_tui.show.text import plain

with when_used():
    from harness.exchange import export, import_, records
    from harness.sealed import keys, phrase
    from harness.store.file import database


@click.command("in")
@STICK
@click.option("--into", required=True, type=click.Path(path_type=Path), metavar="FOLDER", help="Where on this computer the files are put.")  # fmt: skip
@click.option("--words", multiple=True, metavar="SIX WORDS", help="The words of a computer that is new here, as somebody there reads them to you by telephone; asked for if you leave them out.")  # fmt: skip
@AS
def in_(stick: Path, into: Path, words: tuple[str, ...], name: str | None) -> None:
    """Import what others put into the exchange folder on STICK, as far as it is new here, into FOLDER.

    Everything is checked before it counts. What is refused is named, and the rest is taken. Nothing is taken twice,
    so if the stick was pulled out too early, run the same command again. The exit code is 1 if something was refused.
    """
    read = [phrase.read_words(word) for word in words]

    def known(computer: records.ExchangeList) -> bool:
        if any(keys.says_key(phrase_words, computer.by) for phrase_words in read):
            return True
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            return False
        typed = click.prompt(
            plain(f"{computer.machine!r} is new here. Its six words, as they read them to you by telephone (Enter: take nothing of it)"),
            default="", show_default=False, err=True,
        )  # fmt: skip
        return bool(typed) and keys.says_key(phrase.read_words(typed), computer.by)

    with records.desk(database.home()) as desk:
        if name is not None:
            export.named(desk, name)
        import_result = import_.take_in(desk, stick, into, every_kind(), memory(), known)
    click.echo(plain(f"{import_result.folder}: {counted(len(import_result.new), 'new thing')}, {import_result.before:,} taken before, {len(import_result.refused):,} refused."))  # fmt: skip
    for arrived in import_result.new:
        then = arrived.then.replace("FILE", command_line([str(arrived.place)]))
        click.echo(
            plain(f"  {arrived.place}: {arrived.what}, from {arrived.machine}. Next: {then}")
        )
    for what, why in import_result.refused:
        click.echo(plain(f"refused: {what}: {why}"), err=True)
    for note in import_result.notes:
        click.echo(plain(f"note: {note}"), err=True)
    if import_result.refused:
        raise click.exceptions.Exit(1)
