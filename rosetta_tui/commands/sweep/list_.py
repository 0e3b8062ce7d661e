"""``rosetta sweep list``: List the sweeps of the store."""

from __future__ import annotations

import click

from harness.store.file.database import opened
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.json_forms import print_form

with when_used():
    from harness.store import sweeps
    from harness.sweep import record
    from rosetta_tui.report import sweep as report_sweep


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(as_json: bool) -> None:
    """List the sweeps of the store, the newest first."""
    with opened() as connection:
        sweep_summaries = [
            record.sweep_record(connection, list_sweep).summary
            for list_sweep in sweeps.list_sweeps(connection)
        ]
    lines = [
        f"{sweep_summary.id}  {sweep_summary.name}  {report_sweep.progress_line(sweep_summary)}"
        for sweep_summary in sweep_summaries
    ]
    rows = [sweep_summary.model_dump(mode="json") for sweep_summary in sweep_summaries]
    print_form("sweep-list", rows, lines or ["There is no sweep yet."], as_json=as_json)
