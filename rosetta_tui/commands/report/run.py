"""``rosetta report run``: Write what a run reached, how sure that is, and what may be said of it."""

from __future__ import annotations

from pathlib import Path

import click

from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.report.writing import to_file, written

with when_used():
    from harness.store import runs
    from harness.store.file import database
    from rosetta_tui.html import run_page


@click.command("run")
@click.argument("run", default="last")
@click.option("--against", metavar="RUN", help="Show on which entries RUN differs most from this one.")  # fmt: skip
@to_file("run-RUN.html")
def run_(run: str, against: str | None, output: Path | None, *, overwrite: bool) -> None:
    """Write the page of RUN (an id, its beginning, `last`, or `last~1` …).

    It shows scores with their intervals beside floors and other runs, scores by difficulty, cost and time, the
    weakest entries, and what is missing. A run with secret entries has no page: its numbers leave only as a released
    card (rosetta runs export --submitter).
    """
    with database.opened() as connection:
        name = runs.find_run(connection, run).run_id[:8]
        page = run_page.run_page(connection, run, against)
    written(page, output or Path(f"run-{name}.html"), overwrite=overwrite)
