"""``rosetta consent take``: Take in notices that came from elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from rosetta_tui.commands.consent.sharing import FILE, own_register, say_what_is_left
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.text import plain

with when_used():
    from harness.consent import notice, register
    from harness.core import user_file


@click.command("take")
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="NAME.rosetta-notice...")
@click.option("--words", metavar="SIX WORDS", help="The words of the signer's key, as they read them to you by telephone; a terminal asks for them.")  # fmt: skip
def take_(files: Sequence[Path], words: str | None) -> None:
    """Import notices: from now on, whatever they withdraw is not opened, listed, exported or claimed here.

    Anybody can write such a file in any name. So the six words of the signer's key are compared, once for each
    corpus, method, review or vault; without them a notice is shown and NOT taken.
    """
    read = [(path, user_file.read_bytes(path, "a notice", notice.MOST_BYTES)) for path in files]
    own = own_register()
    for path, data in sorted(read, key=lambda item: notice.lifts(item[1])):
        click.echo(plain(_take(own, path, data, words)))
    say_what_is_left()


def _take(own: register.Register, path: Path, data: bytes, words: str | None) -> str:
    try:
        signed_notice, new = own.take(data, words)
    except register.NobodyKnowsSigner as unknown:
        if words is not None or not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise
        click.echo(plain(f"{path}: {unknown}"), err=True)
        typed = click.prompt("Their six words, as they read them to you by telephone", err=True)
        signed_notice, new = own.take(data, typed)
    if not new:
        return f"{path}: was imported before; nothing changed: {signed_notice.said}"
    return f"Taken in: {signed_notice.said}"
