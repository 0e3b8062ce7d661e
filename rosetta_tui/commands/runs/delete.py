"""``rosetta runs delete``: Delete runs; for a week they can be brought back."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from harness.core.failures import UsageError
from harness.store.file.database import opened
from rosetta_tui.show.text import plain

if TYPE_CHECKING:
    from harness.store.runs import Run


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="RUN...")
@click.option("--now", is_flag=True, help="Erase for good at once; also runs deleted before.")
@click.option("--yes", is_flag=True, help="Do not ask before erasing.")
def delete(names: Sequence[str], *, now: bool, yes: bool) -> None:
    """Delete RUNs; `rosetta runs undelete` brings them back within a week.

    After a week the next start of the app erases them with all their outputs, and whatever nothing else needs. --now
    erases at once. A run with secret entries is always erased at once.
    """
    from harness.store.deletion import erase, holds_secrets, refuse_under_way, trash

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
                message = (
                    f"Deleted: {run.run_id}. Back with: rosetta runs undelete {run.run_id[:8]}"
                )
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
        click.echo(
            plain(f"{run.run_id[:8]}  {run.dataset_id}  {setup.method}  {setup.model_slug}"),
            err=True,
        )
    click.confirm(f"Erase {len(chosen)} run(s) for good?", abort=True, err=True)
