"""``rosetta vault grant take``: Take in the keepers' answers."""

from __future__ import annotations

from pathlib import Path

import click

from harness.core.failures import HarnessError
from harness.sealed.strict_records import FileError
from rosetta_tui.commands.naming import error_lines, when_used
from rosetta_tui.commands.vault.grant.answering import grants_at, read_file
from rosetta_tui.commands.vault.sharing import FILE, changing, keeper
from rosetta_tui.front import MISUSED
from rosetta_tui.show.text import plain

with when_used():
    from rosetta_tui.vault import messages


@click.command("take")
@changing
@click.argument("answers", nargs=-1, required=True, type=FILE, metavar="NAME.rosetta-answer…")
def take_(
    vault: Path, key: Path | None, answers: tuple[Path, ...], *, clock_was_wrong: bool
) -> None:
    """Import answers, in any order; one that was imported before changes nothing. The log of VAULT records each of them.

    Do this on the computer that asked, with the keys of any keeper.
    """
    made, identity = grants_at(vault, clock_was_wrong=clock_was_wrong), keeper(key)
    grants, refused = {}, False
    for path in answers:
        try:
            grant, answer = made.take(read_file(path), identity)
        except HarnessError as error:
            refused = True
            where = f"{path}: " if isinstance(error, FileError) else ""  # others name it themselves
            for line in error_lines(f"{where}{error}"):
                click.echo(line, err=True)
            continue
        grants[grant.id] = grant
        answer_words = "allows it" if answer.allowed else f"refuses it: {answer.reason}"
        name = made.vault.read().keepers[answer.keeper].name
        click.echo(plain(f"{path.name}: {name} {answer_words}"))
    state = made.vault.read()
    for each in grants.values():
        for line in messages.standing_lines(each, state):
            click.echo(plain(line))
    if refused:
        raise SystemExit(MISUSED)
