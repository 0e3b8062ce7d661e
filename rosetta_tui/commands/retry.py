"""``rosetta retry``: Ask again for a run's failed entries."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from rosetta_tui.commands.naming import in_lines
from rosetta_tui.request import options as of_run
from rosetta_tui.request.vault import OF_VAULT, out_of_vault

_FILE = click.Path(path_type=Path)


@click.command()
@click.argument("run", default="last")
@click.option("--model", help="Another model.")
@click.option("--endpoint", help="Another preset (openrouter, openai, ollama …) or URL.")
@click.option("--temperature", help="A number, or `none` for the endpoint's own.")
@of_run.MAX_TOKENS
@of_run.PROMPT
@of_run.COACHING
@of_run.BATCH_SIZE
@of_run.MAX_RETRIES
@click.option("--outputs", type=_FILE, help="Outputs made elsewhere, completed meanwhile.")
@of_run.PRICES
@of_run.BODY
@click.option("--condition", help="Label of the settings for these entries.")
@click.option("--concurrency", type=click.IntRange(1, 1024), help="Calls at once, at most.")
@click.option(
    "--budget",
    type=click.FloatRange(0, min_open=True),
    help="US dollars to spend on these, at most.",
)
@of_run.TIMEOUT
@click.option("--attempts", type=click.IntRange(1, 100), help="Attempts at one call, at most.")
@of_run.KEEP_FAILED
@of_run.NO_CACHE
@of_run.OFFLINE
@out_of_vault
@of_run.MAY_SEND
@in_lines
def retry(run: str, style: str | None, **given: Any) -> None:
    """Retry the failed entries of RUN (an id, its beginning, `last`, `last~1` …), which is complete.

    The result is a new run with the good rows of RUN, because a sealed card never changes. What you do not change
    stays as in RUN. Where the settings differ, the new run belongs to neither set-up: its card names both, and which
    entries came from which. A run that was interrupted is continued with `rosetta resume`. A run from a vault needs
    --vault and --purpose again.
    """
    from rosetta_tui.app.display import retry_and_show

    vault = {name: given.pop(name) for name in ("vault", *OF_VAULT)}
    retry_and_show(run, _changes(given), style, vault)


_OTHERWISE = {"budget": "budget_usd", "timeout": "timeout_seconds", "attempts": "most_attempts"}


def _changes(given: dict[str, Any]) -> dict[str, Any]:
    """Return the changed options, by the names of the plan's fields."""
    changes = {
        _OTHERWISE.get(name, name): _absolute(value)
        for name, value in given.items()
        if not (value is None or value is False) and name not in {"no_cache", "body"}
    }
    if changes.get("temperature") == "none":
        changes["temperature"] = None
    if given["no_cache"]:
        changes["use_cache"] = False
    body: Sequence[str] = given["body"]
    return changes | ({"body": of_run.pairs("body", body)} if body else {})


def _absolute(value: Any) -> Any:
    """Make paths independent of the folder in which resume will be called."""
    return value.expanduser().absolute() if isinstance(value, Path) else value
