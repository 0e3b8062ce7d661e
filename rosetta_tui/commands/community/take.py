"""``rosetta community take``: Take in notices and records of ownership that came from elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from harness.store.sqlite.database import home, opened
from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.notices import own_register
from rosetta_tui.commands.review.certificates import read_key
from rosetta_tui.show.text import plain

with when_used():
    from harness.consent import notice, register
    from harness.core import user_file
    from harness.sealed import strict_records
    from review.records import agreeing, ownership
    from rosetta_tui.commands.community import consent
    from rosetta_tui.report import verification


@click.command("take")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--words", metavar="SIX WORDS", help="Of notices: the words of the signer's key, as they read them to you by telephone; a terminal asks for them.")  # fmt: skip
@click.option("--trust", metavar="KEY", help="Of records of ownership: the organisation's public key, where this computer is neither side.")  # fmt: skip
def take_(files: Sequence[Path], words: str | None, trust: str | None) -> None:
    """Import notices (.rosetta-notice) and records of ownership (.rosetta-ownership).

    From now on, whatever a notice withdraws is not opened, listed, exported or claimed here. Anybody can write such a
    file in any name. So the six words of the signer's key are compared, once for each corpus, method, review or
    vault; without them a notice is shown and NOT taken. A record of ownership has what the other side signed, refused or
    revoked; what this computer knows of it is kept, and the leaderboard shows it beside a run with a certificate of the
    same organisation.
    """
    owned = [path for path in files if path.suffix == ownership.SUFFIX]
    for path in owned:
        key = None if trust is None else read_key(trust)
        data = user_file.read_bytes(path, "a record of ownership", ownership.MOST_BYTES)
        with strict_records.about_file(path), opened() as connection:
            record = agreeing.take(connection, data, home(), key)
        for line in verification.ownership_lines(record):
            click.echo(plain(line))
    notices = [path for path in files if path not in owned]
    read = [(path, user_file.read_bytes(path, "a notice", notice.MOST_BYTES)) for path in notices]
    for path, data in sorted(read, key=lambda item: notice.lifts(item[1])):
        click.echo(plain(_take_notice(path, data, words)))
    if read:
        consent.say_what_is_left()


def _take_notice(path: Path, data: bytes, words: str | None) -> str:
    own = own_register()
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
