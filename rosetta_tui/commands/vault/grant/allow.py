"""``rosetta vault grant allow``: Allow a request, as one of the keepers."""

from __future__ import annotations

from pathlib import Path

import click

from harness.sealed.strict_records import about_file
from rosetta_tui.commands.naming import when_used
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

with when_used():
    from harness.vault.grants import grants, messages


@click.command("allow")
@click.argument("vault", type=FILE)
@REQUEST
@ANSWER
@KEY
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def allow_(vault: Path, request: Path, answer: Path, key: Path | None, *, yes: bool) -> None:
    """Allow what the request asks for, once, and write your answer. VAULT is the vault, or a copy of it on the stick.

    Your share of the vault's key is opened with your keys and sealed for this one request: only the computer that
    asked can open it, once. The answer goes back there; the vault is not changed here.
    """
    refuse_existing(answer)
    made, data = grants_at(vault), read_file(request)
    with about_file(request):
        asked, state = grants.read_asked(made.vault, data)
    for line in messages.request_lines(asked, state):
        click.echo(plain(line))
    if not yes:
        click.confirm("Do you allow this?", abort=True)
    write_new(answer, made.answer(data, keeper(key), allowed=True))
    click.echo(plain(f"Written: {answer}. It goes back to anyone who asked. Nobody else can open anything with it, and it cannot be used again."))  # fmt: skip
