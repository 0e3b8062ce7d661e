"""``rosetta report sweep``: Write a sweep as a map of two axes, with every run of it."""

from __future__ import annotations

from pathlib import Path

import click

from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.report.writing import to_file, written

with when_used():
    from harness.store import sweeps
    from harness.store.file import database
    from rosetta_tui.html import sweep_page


@click.command("sweep")
@click.argument("sweep", default="last")
@to_file("sweep-ID.html")
def sweep_(sweep: str, output: Path | None, *, overwrite: bool) -> None:
    """Write the page of SWEEP (a name, the beginning of an id, or `last`).

    It shows what was swept, a map of the two axes with the most values, quality against cost (or seconds, where
    nothing cost anything), and each run with its interval, tier, cost and speed. A sweep takes no secret entries, so
    none are on the page.
    """
    with database.opened() as connection:
        stored_sweep = sweeps.find_sweep(connection, sweep)
        page = sweep_page.sweep_page(connection, stored_sweep)
    written(page, output or Path(f"sweep-{stored_sweep.id}.html"), overwrite=overwrite)
