"""``rosetta sweep begin``: Run every combination of PLAN.toml; `rosetta sweep PLAN.toml` is the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from harness.store.file.database import default_path
from rosetta_tui.commands.naming import in_lines, when_used
from rosetta_tui.show.text import plain

with when_used():
    from harness.endpoint import keys
    from harness.sweep import expansion, plan, working
    from harness.sweep.cluster import carrier, scheduler
    from rosetta_tui.app import sweeping


@click.command()
@click.argument("file", metavar="PLAN.toml", type=click.Path(path_type=Path))
@click.option("--workers", type=click.IntRange(1, 64), help="Processes that share the runs.")
@click.option("--race", is_flag=True, help="Stop configurations that cannot be the best before they have all entries.")  # fmt: skip
@click.option("--scheduler", "address", metavar="tcp://HOST:PORT", help="Have the calls made by the workers of a Dask cluster.")  # fmt: skip
@in_lines
def begin(
    file: Path, workers: int | None, race: bool, address: str | None, style: str | None
) -> None:
    """Run every combination of the axes in PLAN.toml that the store does not have yet, sharing them among workers.

    Run again, the same plan continues where it was interrupted, even while another command is working on it. The
    first Ctrl-C finishes the entries under way and saves, the second stops at once. docs/sweeps.md says what a plan
    can say; `rosetta estimate PLAN.toml` says beforehand what it takes. `demo.toml` is a plan that comes with the
    program.
    """
    plan_file = plan.read_plan(plan.plan_path(file))
    if workers is not None:
        plan_file = replace(plan_file, plan=plan_file.plan.model_copy(update={"workers": workers}))
    if race:
        plan_file = replace(plan_file, plan=plan_file.plan.model_copy(update={"race": True}))
    cells = expansion.expand(plan_file, expansion.open_plan_corpus(plan_file))
    expansion.check_methods(cells, keys.find_key if address is None else keys.no_key)
    cluster = None
    if address is not None:
        address = scheduler.require_cluster(address, cells)
        cluster = carrier.Cluster(address)
    if words := expansion.scored_apart(cells):
        click.echo(plain(f"Note: {words}"), err=True)
    sweep = working.begin_sweep(default_path(), plan_file, cells)
    raise click.exceptions.Exit(sweeping.carry_out(default_path(), sweep, style, cluster))
