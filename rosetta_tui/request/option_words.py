"""What is said about the options of a run: which field it is about, and in which words it stands beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from rosetta_tui.request.draft import RunDraft, Value
from rosetta_tui.request.fields import FIELDS, PATHS
from rosetta_tui.request.options import asked


def wrong_shapes(draft: RunDraft) -> Iterator[tuple[str, str]]:
    """Yield each option that the command line would refuse by itself, with its words."""
    context = click.Context(asked, info_name="run")
    for parameter in asked.params:
        value = draft.values.get(parameter.name or "")
        if value and not getattr(parameter, "is_flag", False):
            try:
                parameter.type_cast_value(context, value)
            except click.BadParameter as error:
                yield parameter.name or "", _number_words(parameter.type) or error.message


def _number_words(wanted: Any) -> str:
    """Say which numbers an option takes, empty where it takes something else."""
    kinds = {click.types.IntParamType: "A whole number", click.types.FloatParamType: "A number"}
    words = next((words for kind, words in kinds.items() if isinstance(wanted, kind)), "")
    if words and isinstance(wanted, click.IntRange | click.FloatRange):
        least = f" above {wanted.min:g}" if wanted.min_open else f" of at least {wanted.min:g}"
        words += least if wanted.max is None else f" from {wanted.min:g} to {wanted.max:g}"
    return f"{words} is wanted." if words else ""


_BEGINNINGS = {"Prompt": "prompt", "Endpoint": "endpoint", "Check": "checks", "Script": "checks"}
"""First word of a message → the field it is about."""


def field_of_words(words: str, typed: Mapping[str, Value]) -> str | None:
    """Find the field that a message is about: by the option it names, else by the file; None where by neither.

    Messages of the engine name options as the command line does, so that both can show them.
    """
    if (named := words.partition(" ")[0]) in _BEGINNINGS:
        return _BEGINNINGS[named]
    options = {
        flag: parameter.name
        for parameter in asked.params
        for flag in parameter.opts
        if flag.startswith("--")
    }
    for part in words.replace(":", " ").replace(",", " ").split():
        name = options.get(part.strip("`.'\"()"))
        if name in FIELDS:
            return name
    return next(
        (
            name
            for name in FIELDS
            if name in PATHS and len(str(typed.get(name, ""))) > 2 and str(typed[name]) in words
        ),
        None,
    )


_OF_OPTIONS = {"budget_usd": "budget", "timeout_seconds": "timeout", "most_attempts": "attempts"}


def field_of_options(words: str) -> str | None:
    """Find the field that pydantic's words name; None lets the options that they name decide."""
    named = words.partition("field '")[2].partition("'")[0].split(".")[0]
    name = _OF_OPTIONS.get(named, named)
    return name if name in FIELDS else None


def beside_field(words: str) -> str:
    """Leave out what is plain where the words stand beside their field."""
    if words.startswith("Options: field '"):
        words = words.partition("': ")[2]
    return words.removesuffix(" Correct it.")
