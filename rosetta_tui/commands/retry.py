"""``rosetta retry``: Ask again for a run's failed entries."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from rosetta_tui.request.options import pairs

_FILE = click.Path(path_type=Path)


@click.command()
@click.argument("run", default="last")
@click.option("--model", help="Another model.")
@click.option("--endpoint", help="Another preset (openrouter, openai, ollama …) or URL.")
@click.option("--temperature", help="A number, or `none` for the endpoint's own.")
@click.option("--max-tokens", type=int, help="Most output tokens of a call.")
@click.option("--prompt", help="A file, or a version that is shipped, such as plain-v1.")
@click.option("--coaching", type=_FILE, help="Grammar notes, examples and dictionary.")
@click.option("--batch-size", type=int, help="Entries in one call.")
@click.option("--max-retries", type=int, help="Tries of a pipeline after a rejection.")
@click.option("--outputs", type=_FILE, help="Outputs made elsewhere, completed meanwhile.")
@click.option("--prices", type=_FILE, help="Your own price table.")
@click.option("--body", multiple=True, metavar="NAME=JSON", help="More for the body of each call.")
@click.option("--condition", help="Label of the settings for these entries.")
@click.option("--concurrency", type=click.IntRange(1, 1024), help="Most calls at once.")
@click.option(
    "--budget", type=click.FloatRange(0, min_open=True), help="Most US dollars for these."
)
@click.option("--timeout", type=click.FloatRange(0, min_open=True), help="Seconds for one call.")
@click.option("--attempts", type=click.IntRange(1, 100), help="Most tries at one call.")
@click.option(
    "--keep-failed",
    is_flag=True,
    help="Seal the run also where entries failed for want of a connection.",
)
@click.option("--no-cache", is_flag=True, help="Ask again, even what was answered before.")
@click.option("--offline", is_flag=True, help="Refuse every connection to another machine.")
@click.option("--plain", "style", flag_value="plain", help="Lines instead of the live screen.")
@click.option("--json-lines", "style", flag_value="json-lines", help="One JSON object an event.")
def retry(run: str, style: str | None, **given: Any) -> None:
    """Ask again for the failed entries of RUN (an id, its beginning, `last`, `last~1` …), which is complete.

    The result is a new run with RUN's good rows, for a sealed card never changes. What is not told
    otherwise stays as in RUN. Where the settings differ, the new run is neither one's nor the other's: its
    card names both, and which entries came from where. A run that was cut goes on with `rosetta resume`.
    """
    from rosetta_tui.app.showing import retry_and_show

    retry_and_show(run, _changes(given), style)


_OTHERWISE = {"budget": "budget_usd", "timeout": "timeout_seconds", "attempts": "most_attempts"}


def _changes(given: dict[str, Any]) -> dict[str, Any]:
    """Return what was told otherwise, by the names of the plan's fields."""
    told = {
        _OTHERWISE.get(name, name): _absolute(value)
        for name, value in given.items()
        if not (value is None or value is False) and name not in {"no_cache", "body"}
    }
    if told.get("temperature") == "none":
        told["temperature"] = None
    if given["no_cache"]:
        told["use_cache"] = False
    body: Sequence[str] = given["body"]
    return told | ({"body": pairs("body", body)} if body else {})


def _absolute(value: Any) -> Any:
    """Make paths independent of the folder in which resume will be called."""
    return value.expanduser().absolute() if isinstance(value, Path) else value
