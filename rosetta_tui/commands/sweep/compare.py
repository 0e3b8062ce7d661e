"""``rosetta sweep compare``: Compare every method of a sweep with the best of its baselines."""

from __future__ import annotations

import shutil
import sys

import click

from harness.store.file.database import opened
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.json_forms import print_form

with when_used():
    from harness.compare import comparing as compare_comparing
    from harness.store import sweeps
    from harness.sweep import comparing, record
    from rosetta_tui.report import sweep_comparison


@click.command()
@click.argument("sweep", default="last")
@click.option("--metric", default="composite", show_default=True, metavar="NAME", help="Compare by this metric (chrf, composite …).")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=12345, show_default=True)
@click.option(
    "--draws", type=click.IntRange(100, 1_000_000), default=1000, show_default=True,
    help="Resamples of the bootstrap; there are ten times as many shuffles.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def compare(sweep: str, metric: str, seed: int, draws: int, as_json: bool) -> None:
    """Compare every method of SWEEP (a name, the beginning of an id, or `last`) with the best of its baselines.

    Baselines are models as they come (class raw-llm), copies of the source and constants; repetitions of a set-up
    count together. All complete runs take part.
    """
    by = compare_comparing.metric_asked(metric, "--metric")
    with opened() as connection:
        sweep_record = record.sweep_record(connection, sweeps.find_sweep(connection, sweep))
        comparison = comparing.compare_sweep(connection, sweep_record, by, draws=draws, seed=seed)
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    lines = sweep_comparison.comparison_lines(comparison, width)
    print_form("sweep-compare", comparison.model_dump(mode="json"), lines, as_json=as_json)
