"""``rosetta sweep stop``: Stop the workers of a sweep after the entries that are under way."""

from __future__ import annotations

import click

from harness.core.failures import UsageError
from harness.store.file.database import default_path, opened
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.text import plain

with when_used():
    from harness.store import sweeps


@click.command()
@click.argument("sweep", default="last")
def stop(sweep: str) -> None:
    """Stop SWEEP (a name, the beginning of an id, or `last`). What is done stays; `rosetta sweep resume` continues it."""
    path = default_path()
    with opened(path) as connection:
        stored_sweep = sweeps.find_sweep(connection, sweep)
        if not sweeps.at_work(path, stored_sweep):
            raise UsageError(
                f"Nobody is working on sweep {stored_sweep.name!r}: there is nothing to stop."
            )
        sweeps.set_stopping(connection, stored_sweep.number, stopping=True)
    click.echo(plain(f"Sweep {stored_sweep.name} ends after the entries under way."))
