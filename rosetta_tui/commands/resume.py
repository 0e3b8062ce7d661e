"""``rosetta resume``: go on where a run was cut, asking for nothing that is stored."""

from __future__ import annotations

import click


@click.command()
@click.argument("run", default="last")
@click.option("--retry-failed", is_flag=True, help="Ask for failed entries again.")
@click.option(
    "--budget", type=click.FloatRange(0, min_open=True), help="Another most, in US dollars."
)
@click.option("--concurrency", type=click.IntRange(1, 1024), help="Another most of calls at once.")
@click.option("--plain", "style", flag_value="plain", help="Lines instead of the live screen.")
@click.option("--json-lines", "style", flag_value="json-lines", help="One JSON object an event.")
def resume(
    run: str,
    retry_failed: bool,
    budget: float | None,
    concurrency: int | None,
    style: str | None,
) -> None:
    """Go on with RUN (an id, its beginning, or `last`)."""
    from rosetta_tui.showing import resume_and_show

    changes = {"budget_usd": budget, "concurrency": concurrency}
    resume_and_show(run, {k: v for k, v in changes.items() if v is not None}, retry_failed, style)
