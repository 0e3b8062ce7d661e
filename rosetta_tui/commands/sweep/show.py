"""``rosetta sweep show``: Show what each run of a sweep has come to."""

from __future__ import annotations

import shutil
import sys

import click

from harness.core.failures import UsageError
from harness.store.file.database import opened
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.json_forms import print_form

with when_used():
    from harness.store import sweeps
    from harness.sweep import record
    from rosetta_tui.app import launch
    from rosetta_tui.report import sweep as report_sweep
    from rosetta_tui.sweep import screen as sweep_screen


@click.command()
@click.argument("sweep", default="last")
@click.option("--screen", is_flag=True, help="Open the app on a map of two of its axes.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(sweep: str, screen: bool, as_json: bool) -> None:
    """Show SWEEP (a name, the beginning of an id, or `last`): state, scores, cost and speed of each run, money and time left,
    and the entries that every complete run misses.

    A run marked * was in the store before the sweep came to it.
    """
    if screen and as_json:
        raise UsageError("--screen opens the app; --json prints. Leave one of them out.")
    with opened() as connection:
        wanted = sweeps.find_sweep(connection, sweep)
        summary = None
        if not screen:
            summary = record.with_missed(connection, record.sweep_record(connection, wanted))
    if summary is None:
        launch.open_app(lambda path: [sweep_screen.SweepScreen(path, wanted.number)])
        return
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    lines = report_sweep.sweep_lines(summary, width)
    print_form("sweep", summary.model_dump(mode="json"), lines, as_json=as_json)
