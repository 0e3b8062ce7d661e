"""``rosetta resume``: Continue a run that was interrupted."""

from __future__ import annotations

from typing import Any

import click

from rosetta_tui.commands.naming import in_lines
from rosetta_tui.request import options as of_run
from rosetta_tui.request.vault import by_grant, out_of_vault


@click.command()
@click.argument("run", default="last")
@click.option("--retry-failed", is_flag=True, help="Ask for failed entries again.")
@click.option(
    "--keep-failed",
    is_flag=True,
    help="Let entries that failed because there was no connection count as 0.",
)
@click.option(
    "--budget", type=click.FloatRange(0, min_open=True), help="A new limit, in US dollars."
)
@click.option("--concurrency", type=click.IntRange(1, 1024), help="A new limit of calls at once.")
@by_grant
@out_of_vault
@of_run.MAY_SEND
@in_lines
def resume(
    run: str,
    *,
    retry_failed: bool,
    keep_failed: bool,
    budget: float | None,
    concurrency: int | None,
    may_send: str | None,
    style: str | None,
    **vault: Any,
) -> None:
    """Continue RUN (an id, its beginning, or `last`: the newest that waits; `last~1` is the one before).

    Entries that failed because there was no connection are asked for again, or kept as failures, which count as 0: a
    terminal asks which, scripts say --retry-failed or --keep-failed. A run from a vault needs --vault and --purpose
    again.
    """
    from rosetta_tui.app.display import resume_and_show

    if retry_failed and keep_failed:
        raise click.UsageError("--retry-failed and --keep-failed exclude each other.")
    changes = {
        "budget_usd": budget,
        "concurrency": concurrency,
        "keep_failed": keep_failed or None,
        "may_send": may_send,
    }
    changes_given = {name: value for name, value in changes.items() if value is not None}
    resume_and_show(run, changes_given, retry_failed, style, vault)
