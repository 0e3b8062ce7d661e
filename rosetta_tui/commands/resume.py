"""``rosetta resume``: Go on where a run was cut."""

from __future__ import annotations

import click


@click.command()
@click.argument("run", default="last")
@click.option("--retry-failed", is_flag=True, help="Ask for failed entries again.")
@click.option(
    "--keep-failed",
    is_flag=True,
    help="Let entries that failed for want of a connection count as 0.",
)
@click.option(
    "--budget", type=click.FloatRange(0, min_open=True), help="Another most, in US dollars."
)
@click.option("--concurrency", type=click.IntRange(1, 1024), help="Another most of calls at once.")
@click.option("--plain", "style", flag_value="plain", help="Lines instead of the live screen.")
@click.option("--json-lines", "style", flag_value="json-lines", help="One JSON object an event.")
def resume(
    run: str,
    *,
    retry_failed: bool,
    keep_failed: bool,
    budget: float | None,
    concurrency: int | None,
    style: str | None,
) -> None:
    """Go on with RUN (an id, its beginning, or `last`: the newest that waits; `last~1` is the one before).

    Where entries of it failed for want of a connection, they are asked for again or kept as failures, which
    count as 0: a terminal asks which, scripts say --retry-failed or --keep-failed.
    """
    from rosetta_tui.app.showing import resume_and_show

    if retry_failed and keep_failed:
        raise click.UsageError("--retry-failed and --keep-failed exclude each other.")
    changes = {
        "budget_usd": budget,
        "concurrency": concurrency,
        "keep_failed": keep_failed or None,
    }
    resume_and_show(run, {k: v for k, v in changes.items() if v is not None}, retry_failed, style)
