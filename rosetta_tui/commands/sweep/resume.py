"""``rosetta sweep resume``: Continue a sweep that was stopped or interrupted."""

from __future__ import annotations

import click

from harness.store.file.database import default_path, opened
from rosetta_tui.commands.naming import in_lines, when_used

with when_used():
    from harness.endpoint import keys
    from harness.store import sweeps
    from harness.sweep import expansion, working
    from harness.sweep.cluster import carrier, scheduler
    from rosetta_tui.app import sweeping


@click.command()
@click.argument("sweep", default="last")
@click.option("--budget", type=click.FloatRange(0, min_open=True), help="Another budget, in US dollars, for all its runs.")  # fmt: skip
@click.option("--scheduler", "address", metavar="tcp://HOST:PORT", help="Have the calls made by the workers of a Dask cluster.")  # fmt: skip
@in_lines
def resume(sweep: str, budget: float | None, address: str | None, style: str | None) -> None:
    """Continue SWEEP (a name, the beginning of an id, or `last`), including the runs that stopped by themselves."""
    path = default_path()
    with opened(path) as connection:
        stored_sweep = sweeps.find_sweep(connection, sweep)
    cells = working.cells_again(stored_sweep)
    expansion.check_methods(cells, keys.find_key if address is None else keys.no_key)
    cluster = None
    if address is not None:
        address = scheduler.require_cluster(address, cells)
        cluster = carrier.Cluster(address)
    again = working.plan_of_sweep(stored_sweep, budget)
    stored_sweep = working.begin_sweep(path, again, cells)
    raise click.exceptions.Exit(sweeping.carry_out(path, stored_sweep, style, cluster))
