"""``rosetta sweep begin``: Run every combination of PLAN.toml; `rosetta sweep PLAN.toml` is the same."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import click

from harness.core.failures import UsageError
from harness.store.file.database import default_path
from rosetta_tui.commands.naming import in_lines, when_used
from rosetta_tui.show.json_forms import print_form
from rosetta_tui.show.text import plain

with when_used():
    from harness.endpoint import keys
    from harness.sweep import estimating, expansion, plan, working
    from harness.sweep.cluster import carrier, scheduler
    from rosetta_tui.app import sweeping
    from rosetta_tui.report import sweep as report_sweep


@click.command()
@click.argument("file", metavar="PLAN.toml", type=click.Path(path_type=Path))
@click.option("--workers", type=click.IntRange(1, 64), help="Processes that share the runs.")
@click.option("--race", is_flag=True, help="Stop configurations that cannot be the best before they have all entries.")  # fmt: skip
@click.option("--scheduler", "address", metavar="tcp://HOST:PORT", help="Have the calls made by the workers of a Dask cluster.")  # fmt: skip
@click.option("--estimate", is_flag=True, help="Run nothing: show what each run and all together would take.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="With --estimate: print JSON.")
@in_lines
def begin(
    file: Path,
    workers: int | None,
    race: bool,
    address: str | None,
    style: str | None,
    *,
    estimate: bool,
    as_json: bool,
) -> None:
    """Run every combination of the axes in PLAN.toml that the store does not have yet, sharing them among workers.

    Run again, the same plan continues where it was interrupted, even while another command is working on it. The
    first Ctrl-C finishes the entries under way and saves, the second stops at once. docs/sweeps.md says what a plan
    can say. `demo.toml` is a plan that comes with the program.
    """
    if as_json and not estimate:
        raise UsageError(
            "--json goes with --estimate. The events of a sweep as JSON: --json-lines."
        )
    if estimate and style is not None:
        raise UsageError("--estimate runs nothing: leave out --plain, --json-lines and --quiet.")
    plan_file = plan.read_plan(plan.plan_path(file))
    if workers is not None:
        plan_file = replace(plan_file, plan=plan_file.plan.model_copy(update={"workers": workers}))
    if race:
        plan_file = replace(plan_file, plan=plan_file.plan.model_copy(update={"race": True}))
    cells = expansion.expand(plan_file, expansion.open_plan_corpus(plan_file))
    if estimate:
        sweep_estimate = estimating.estimate_sweep(default_path(), plan_file.plan, cells)
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        lines = report_sweep.estimate_lines(sweep_estimate, width)
        print_form("sweep-estimate", sweep_estimate.model_dump(mode="json"), lines, as_json=as_json)
        return
    expansion.check_methods(cells, keys.find_key if address is None else keys.no_key)
    cluster = None
    if address is not None:
        address = scheduler.require_cluster(address, cells)
        cluster = carrier.Cluster(address)
    if words := expansion.scored_apart(cells):
        click.echo(plain(f"Note: {words}"), err=True)
    sweep = working.begin_sweep(default_path(), plan_file, cells)
    raise click.exceptions.Exit(sweeping.carry_out(default_path(), sweep, style, cluster))
