"""What a run is asked with: the options of ``rosetta run``, which its form reads as the command does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rosetta_tui.request.reading import reading, selecting
from rosetta_tui.request.scoring import scoring_options

_FILE = click.Path(path_type=Path)


@click.command("run")
@reading
@selecting
@click.option(
    "--method", "-m", required=True, help="How to translate: see the list of methods below."
)
@click.option("--model", help="Model asked for.")
@click.option("--endpoint", help="A preset (openrouter, openai, ollama …) or a URL.")
@click.option("--temperature", help="A number, or `none` for the endpoint's own. Default: 0.")
@click.option("--max-tokens", type=int, help="Most output tokens of a call.")
@click.option("--prompt", help="A file, or a version that is shipped, such as plain-v1.")
@click.option("--coaching", type=_FILE, help="Grammar notes, examples and dictionary.")
@click.option("--batch-size", type=int, help="Entries in one call.")
@click.option("--max-retries", type=int, help="Tries of a pipeline after a rejection.")
@click.option(
    "--check",
    "checks",
    multiple=True,
    help="Of a pipeline: source-copy, length, placeholders, script, glossary, fst.",
)
@click.option("--tool", "tools", multiple=True, help="What the model may call: lookup, analyse.")
@click.option("--glossary", type=_FILE, help="Dictionary file.")
@click.option("--word-list", type=_FILE, help="Words of the target language, one a line.")
@click.option("--outputs", type=_FILE, help="Outputs made elsewhere.")
@click.option("--translator", help="Label of the human translator.")
@click.option("--text", help="What the constant method answers.")
@click.option("--region", help="Region of a Microsoft key.")
@click.option("--prices", type=_FILE, help="Your own price table.")
@click.option("--source-name", help="Name of the source language for prompts.")
@click.option("--target-name", help="Name of the target language for prompts.")
@click.option("--body", multiple=True, metavar="NAME=JSON", help="More for the body of each call.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=JSON",
    help="Told to a plug-in; what is no JSON is text.",
)
@scoring_options
@click.option("--condition", help="Label of the experiment.")
@click.option("--tag", "tags", multiple=True, help="A word to find the run again; may be repeated.")
@click.option("--note", help="Your own words beside the run; they stay on this computer.")
@click.option("--replicate", type=int, help="Which repetition of the same experiment this is.")
@click.option("--concurrency", type=click.IntRange(1, 1024), help="Most calls at once. Default: 8.")
@click.option("--budget", type=click.FloatRange(0, min_open=True), help="Most US dollars to spend.")
@click.option("--timeout", type=click.FloatRange(0, min_open=True), help="Seconds for one call.")
@click.option("--attempts", type=click.IntRange(1, 100), help="Most tries at one call. Default: 6.")
@click.option(
    "--keep-failed",
    is_flag=True,
    help="Seal the run also where entries failed for want of a connection.",
)
@click.option("--no-cache", is_flag=True, help="Ask again, even what was answered before.")
@click.option("--offline", is_flag=True, help="Refuse every connection to another machine.")
@click.option(
    "--trust-local-server",
    is_flag=True,
    help="Say that the server on this machine forwards no secret text; kept for later runs.",
)
def asked(**given: Any) -> None:
    """Every option that makes a run what it is, for the command and for the parser of its form."""
