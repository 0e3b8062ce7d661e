"""``rosetta runs note``: Write a note beside a run, or give it tags.
``rosetta runs delete``: Delete runs, or bring back deleted ones within a week.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from harness.core.failures import UsageError
from harness.store.attachments import change_words, note_of
from harness.store.file.database import opened
from harness.store.runs import find_run
from rosetta_tui.show.text import plain

if TYPE_CHECKING:
    from harness.store.runs import Run


@click.command()
@click.argument("run")
@click.argument("text", required=False)
@click.option("--tag", "tags", multiple=True, help="A word to find the run again, `rosetta runs list --tag`; may be repeated.")  # fmt: skip
@click.option("--remove", is_flag=True, help="Take the note away; with --tag, these tags.")
def note(run: str, text: str | None, tags: Sequence[str], *, remove: bool) -> None:
    """Write TEXT beside RUN, in place of the note that was there; without TEXT, print it. With --tag, give RUN tags.

    TEXT `-` reads the note from standard input. Notes and tags stay in this store: a sealed card never changes, so
    `rosetta runs export` writes none.
    """
    if remove and text is not None:
        raise UsageError("--remove takes no text: leave one of them out.")
    words = sys.stdin.read() if text == "-" else text
    with opened() as connection:
        number = find_run(connection, run).id
        if words is not None or (remove and not tags):
            change_words(connection, number, note=words or "")
        if tags:
            add, gone = ((), tags) if remove else (tags, ())
            left = change_words(connection, number, add=add, remove=gone)
            click.echo(plain(f"{run}: {', '.join(left) or 'no tags'}"), err=True)
        elif words is None and not remove:
            for line in note_of(connection, number).splitlines():
                click.echo(plain(line))


# ---- Delete runs; for a week they can be brought back ----


@click.command()
@click.argument("names", nargs=-1, metavar="RUN...")
@click.option("--undo", is_flag=True, help="Bring back deleted RUNs; without a name, the one that was deleted last.")
@click.option("--now", is_flag=True, help="Erase for good at once; also runs deleted before.")
@click.option("--yes", is_flag=True, help="Do not ask before erasing.")
def delete(names: Sequence[str], *, undo: bool, now: bool, yes: bool) -> None:
    """Delete RUNs; --undo brings them back within a week. `rosetta runs list --deleted` lists those.

    After a week the next start of the app erases them with all their outputs, and whatever nothing else needs. --now
    erases at once. A run with secret entries is always erased at once.
    """
    from harness.store.deletion import erase, holds_secrets, refuse_under_way, trash

    if undo:
        if now or yes:
            raise UsageError("--undo brings runs back: leave --now and --yes out.")
        _bring_back(names or ("last",))
        return
    if not names:
        raise click.UsageError("Name the runs: rosetta runs delete RUN...")
    with opened() as connection:
        chosen = {run.id: run for run in (_find(connection, name, now=now) for name in names)}
        runs = list(chosen.values())
        for run in runs:
            refuse_under_way(run)
        doomed = [run for run in runs if now or holds_secrets(connection, run)]
        if doomed and not yes:
            _ask(doomed)
        gone = {run.id for run in doomed}
        for run in runs:
            if run.id in gone:
                erase(connection, run)
                click.echo(f"Erased: {plain(run.run_id)}", err=True)
            else:
                trash(connection, run.id)
                message = f"Deleted: {run.run_id}. Back with: rosetta runs delete --undo {run.run_id[:8]}"
                click.echo(plain(message), err=True)


def _find(connection: sqlite3.Connection, name: str, *, now: bool) -> Run:
    """Find a run; one that is put away only where it is to be erased, and is named by its id."""
    from harness.store.runs import find_run, find_trashed, runs_back

    try:
        return find_run(connection, name, withdrawn=True)
    except UsageError:
        if not now or runs_back(name) is not None:
            raise
        try:
            return find_trashed(connection, name)
        except UsageError:
            pass
        raise


def _ask(chosen: Sequence[Run]) -> None:
    if not sys.stdin.isatty():
        raise UsageError("Erasing asks on a terminal; here, add --yes if you are sure.")
    for run in chosen:
        setup = run.setup
        click.echo(plain(f"{run.run_id[:8]}  {run.dataset_id}  {setup.method}  {setup.model_slug}"), err=True)
    click.confirm(f"Erase {len(chosen)} run(s) for good?", abort=True, err=True)


def _bring_back(names: Sequence[str]) -> None:
    from harness.store.deletion import bring_back
    from harness.store.runs import find_trashed

    with opened() as connection:
        for run in [find_trashed(connection, name) for name in names]:
            bring_back(connection, run.id)
            click.echo(plain(f"Back: {run.run_id}"), err=True)
