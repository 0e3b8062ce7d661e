"""``rosetta runs attach``: Put the record of a reproduction beside the run that it is about."""

from __future__ import annotations

from pathlib import Path

import click

from harness.card.reading import read_card_bytes
from harness.store.file.database import home, opened
from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.review.verify import read_key
from rosetta_tui.show.text import plain

with when_used():
    from harness.reproduce import attaching
    from harness.sealed import keys
    from harness.store import others_cards, runs


@click.command()
@click.argument("record", metavar="RECORD|RUN")
@click.option("--trust", metavar="KEY", help="Public key of anyone who ran it again, 64 hexadecimal digits.")  # fmt: skip
@click.option("--remove", is_flag=True, help="Take all records off RUN.")
def attach(record: str, trust: str | None, *, remove: bool) -> None:
    """Attach RECORD (`rosetta runs reproduce … --sign`) to its run, which is shown as gds-verified from then on.

    Its signer must be this computer, or the key named with --trust, and never anyone who made or signed the card.
    """
    with opened() as connection:
        if remove:
            run = runs.find_run(connection, record)
            count = others_cards.detach_reproductions(connection, run.id)
            click.echo(
                f"Run {plain(run.run_id[:8])}: {count} record{'s' * (count != 1)} taken away."
            )
            return
        key = None if trust is None else read_key(trust)
        signed_reproduction = attaching.attach(
            connection, read_card_bytes(Path(record)), key, home()
        )
    words = f"Run {signed_reproduction.claimed.run_id[:8]} shows as gds-verified, by the key with the six words: {keys.key_phrase(signed_reproduction.by)}"
    click.echo(plain(words))
