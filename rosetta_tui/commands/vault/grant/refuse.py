"""``rosetta vault grant refuse``: Refuse a request, as one of the keepers, and say why."""

from __future__ import annotations

from pathlib import Path

import click

from harness.sealed.strict_records import about_file
from rosetta_tui.commands.vault.grant.answering import (
    ANSWER,
    KEY,
    REQUEST,
    grants_at,
    read_file,
    write_new,
)
from rosetta_tui.commands.vault.sharing import FILE, keeper
from rosetta_tui.request.vault import refuse_existing
from rosetta_tui.show.text import plain


@click.command("refuse")
@click.argument("vault", type=FILE)
@REQUEST
@ANSWER
@click.option("--reason", required=True, metavar="WORDS", help="Why. The log keeps these words, so name nobody and quote no text.")  # fmt: skip
@KEY
def refuse_(vault: Path, request: Path, answer: Path, reason: str, key: Path | None) -> None:
    """Refuse what the request asks for, and write your answer. VAULT is the vault, or a copy of it on the stick.

    When your answer is imported, the log records it with your reason. Until the grant is used, a refusal also takes
    back what you allowed before.
    """
    refuse_existing(answer)
    made = grants_at(vault)
    data = read_file(request)
    with about_file(request):
        refused = made.answer(data, keeper(key), allowed=False, reason=reason)
    write_new(answer, refused)
    click.echo(plain(f"Written: {answer}. It goes back to anyone who asked; the log will have it with your reason."))  # fmt: skip
