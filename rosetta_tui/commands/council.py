"""``rosetta council``: Show what is next for your vaults, submissions and reviews, and do it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import click

from harness.core.failures import UsageError
from rosetta_tui.commands.naming import when_used
from rosetta_tui.front import on_terminal
from rosetta_tui.show.clipboard import command_line
from rosetta_tui.show.json_forms import print_form
from rosetta_tui.show.text import plain

with when_used():
    from harness.store.sqlite import database
    from review.records import next_step


@click.command()
@click.argument("submission", required=False, metavar="[NUMBER]")
@click.option("--json", "as_json", is_flag=True, help="Print the next step of each as JSON.")
def council(submission: str | None, *, as_json: bool) -> None:
    """Show the one next step of the vaults, submissions and reviews of this computer, with the command that does it.

    At a terminal it asks whether to do it: Enter asks for each word that is yours to fill in, shows the whole command,
    and runs it; then it says what is next. NUMBER: only of that submission. Each command asks for what it opens, as if
    you had typed it.
    """
    before: list[next_step.CouncilStep] = []
    while True:
        steps = next_step.next_steps(database.default_path(), submission or "")
        if as_json or not on_terminal():
            print_form("council", {"steps": [asdict(step) for step in steps]}, _lines(steps), as_json=as_json)
            return
        for line in _lines(steps):
            click.echo(plain(line))
        if steps == before or not (steps and steps[0].command) or not click.confirm("Do it now?", default=True):
            return
        before = steps
        words = _filled(shlex.split(steps[0].command))
        click.echo(plain(f"$ {command_line(words)}"))
        root = click.get_current_context().find_root().command
        if code := root.main(words[1:], prog_name=words[0], standalone_mode=False):
            raise click.exceptions.Exit(code if isinstance(code, int) else 1)


def _lines(steps: Sequence[next_step.CouncilStep]) -> Iterator[str]:
    if not steps:
        yield "Nothing is to be done here. A submission that comes: rosetta submission run FILE. A keeper who is asked: rosetta vault grant answer VAULT FILE."
        return
    first, *others = steps
    about = f" for {first.about}" if first.about else ""
    yield f"Next{about}: {first.name} ({first.words})."
    if first.command:
        yield f"  {first.command}"
    if others:
        yield f"After that: {'; '.join(dict.fromkeys(step.about for step in others))}."


def _filled(words: Sequence[str]) -> list[str]:
    """Prompt for each word that is a person's to fill in; several files of one option are each given with it."""
    filled: list[str] = []
    for before, word in zip(("", *words), words, strict=False):
        if word not in next_step.OPEN:
            filled.append(word)
            continue
        option = before if before.startswith("-") else ""
        several = word.endswith("-FILE")
        typed = str(click.prompt(f"{option} {word}{' (several: with a space between)' if several else ''}".strip()))
        if several:
            try:
                first, *more = [typed] if Path(typed).exists() else shlex.split(typed)
            except ValueError:
                raise UsageError(f"{option} {typed}: put quotation marks around a name that has a space or an apostrophe.") from None  # fmt: skip
            filled += [first, *(part for name in more for part in (option, name))]
        else:
            filled.append(typed)
    return filled
