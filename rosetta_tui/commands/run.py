"""``rosetta run``: translate a corpus with a method and score every entry as it comes."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rosetta_tui.commands.reading import load_corpus, reading, selecting, selection
from rosetta_tui.commands.scoring import read_scoring_options, scoring_options

if TYPE_CHECKING:
    from corpora.corpus import Corpus
    from harness.plan import Plan

_FILE = click.Path(path_type=Path)


class _WithMethods(click.Command):
    """Lists the methods below its options, plug-ins that are installed too."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the names of all methods with a word on each."""
        from harness.methods.registry import method_names

        with formatter.section("Methods"):
            formatter.write_dl([*method_names().items(), ("FILE.py:CLASS", "your own class")])


@click.command(cls=_WithMethods)
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
@click.option("--plain", "style", flag_value="plain", help="Lines instead of the live screen.")
@click.option("--json-lines", "style", flag_value="json-lines", help="One JSON object an event.")
def run(style: str | None, **given: Any) -> None:
    """Translate the corpus FILE with a method, and score every entry as it comes.

    REFERENCE is the second of two text files that are aligned line by line. On a terminal the run is
    watched live; piped, it prints lines. The first Ctrl-C finishes what is under way and saves, the
    second stops at once; `rosetta resume` goes on.
    """
    from harness.store.notes import tidy_note, tidy_tags
    from rosetta_tui.showing import start_and_show

    words = tidy_note(given["note"] or ""), tidy_tags(given["tags"])
    corpus = load_corpus(given, given["reference"])
    positions = selection(given).apply(corpus)
    start_and_show(corpus, positions, make_plan(corpus, given), style, words)


def make_plan(corpus: Corpus, given: dict[str, Any]) -> Plan:
    """Put the options of the command line into the plan that the run keeps."""
    from pydantic import ValidationError

    from harness.failures import UsageError
    from harness.methods.options import MethodOptions
    from harness.plan import Plan, RunOptions
    from harness.problems import first_problem
    from harness.settings import read_settings
    from harness.store.database import home
    from harness.written_keys import refuse_told_keys, refuse_written_keys

    of_corpus = {
        "source_language": corpus.dataset.source_language,
        "target_language": corpus.dataset.target_language,
        "file_lines": corpus.dataset.file_lines,
    }
    told = _method_options(given, MethodOptions.model_fields) | of_corpus
    if given["method"] != "pipeline":
        told.pop("analyser", None)  # a metric's, not the method's
    told = read_settings(home()).completed(given["method"], told)
    refuse_told_keys(told)
    try:
        plan = Plan(
            method=given["method"],
            options=MethodOptions.model_validate(told),
            run=RunOptions.model_validate(_run_options(given)),
            scoring=read_scoring_options(given),
        )
    except ValidationError as error:
        raise UsageError(f"Options: {first_problem(error)}") from error
    refuse_written_keys(plan.options)
    return plan


def _method_options(given: dict[str, Any], known: Collection[str]) -> dict[str, Any]:
    told = {
        name: _absolute(value)
        for name, value in given.items()
        if name in known and value not in (None, ())
    }
    if told.get("temperature") == "none":
        told["temperature"] = None
    return told | {name: pairs(name, given.get(name, ())) for name in ("body", "settings")}


def _run_options(given: dict[str, Any]) -> dict[str, Any]:
    limits = {
        "concurrency": given.get("concurrency"),
        "budget_usd": given.get("budget"),
        "timeout_seconds": given.get("timeout"),
        "most_attempts": given.get("attempts"),
    }
    chosen = {name: value for name, value in limits.items() if value is not None}
    switches = {
        "use_cache": not given.get("no_cache"),
        "offline": bool(given.get("offline")),
        "trust_local_server": bool(given.get("trust_local_server")),
        "keep_failed": bool(given.get("keep_failed")),
    }
    return chosen | switches


def _absolute(value: Any) -> Any:
    """Make paths independent of the folder in which resume will be called."""
    return value.expanduser().absolute() if isinstance(value, Path) else value


def pairs(name: str, given: Sequence[str]) -> dict[str, Any]:
    """Read NAME=JSON as it was given once or several times; what is no JSON is text."""
    from harness.failures import UsageError

    found: dict[str, Any] = {}
    for pair in given:
        key, equals, value = pair.partition("=")
        try:
            found[key] = json.loads(value)
        except (ValueError, RecursionError):
            found[key] = value
        if not equals or not key:
            option = "--set" if name == "settings" else f"--{name}"
            raise UsageError(f"{option} takes NAME=JSON, such as {option} top_p=0.9.")
    return found
