"""The fields of the form of a new run: every option of ``rosetta run``, in the order in which people decide.

The words about an option are next to its field.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

import click

from harness.method.option_table import GROUPS, LIMIT_OPTIONS, METHOD, METHODS, OPTIONS, OptionKind
from rosetta_tui.request.draft import RunDraft, Value
from rosetta_tui.request.options import asked
from rosetta_tui.request.vault import OF_VAULT


class FieldKind(Enum):
    """By which control a field is filled in."""

    TEXT = auto()
    WORDS = auto()
    """Several values on one line, separated as a shell parts them."""
    SUGGESTED = auto()
    """A line that offers what there is and takes what there is not."""
    TICKS = auto()
    SWITCH = auto()


@dataclass(frozen=True, slots=True)
class FormField:
    """One field."""

    name: str
    """Of the option of ``rosetta run``."""
    label: str
    about: str
    """What it means, in a sentence; shown while the field has the focus."""
    kind: FieldKind = FieldKind.TEXT
    default: str = ""
    """What holds where it is left empty; shown in its place."""
    rare: bool = False
    """Shown only among all options, or where it has a value or a fault."""


OPEN = frozenset({"model", "metrics"})
"""Fields in which the beginning of something offered may be meant as it stands: its own model, a short name."""


@dataclass(frozen=True, slots=True)
class FieldSection:
    """Fields that belong together."""

    title: str
    fields: tuple[FormField, ...]


_CONTROLS = {
    OptionKind.TEXT: FieldKind.TEXT,
    OptionKind.WHOLE: FieldKind.TEXT,
    OptionKind.NUMBER: FieldKind.TEXT,
    OptionKind.FILES: FieldKind.WORDS,
    OptionKind.WORDS: FieldKind.WORDS,
    OptionKind.PAIRS: FieldKind.WORDS,
    OptionKind.TICKS: FieldKind.TICKS,
    OptionKind.SWITCH: FieldKind.SWITCH,
}
"""Kind of an option → its control; of any other, a line with suggestions."""


SECTIONS = tuple(
    FieldSection(
        group.title,
        tuple(
            FormField(
                option.name,
                option.label,
                option.help,
                _CONTROLS.get(option.kind, FieldKind.SUGGESTED),
                option.default,
                option.rare,
            )
            for option in group.options
            if option.label
        ),
    )
    for group in GROUPS
)

FIELDS: Mapping[str, FormField] = {field.name: field for section in SECTIONS for field in section.fields}

PATHS = frozenset(
    option.name for option in OPTIONS.values() if option.kind in (OptionKind.FILE, OptionKind.FILE_OR_NAME)
)
"""Fields that may hold the name of a file or folder."""

_OF_METHODS = frozenset(METHOD.names) - {"method"}
_OF_PLUGINS = frozenset({"settings", "model", "batch_size", "temperature", "max_tokens"})


def applicable(method: str) -> frozenset[str]:
    """Return the fields that mean something for a method; those of no other method where none is chosen."""
    general = frozenset(FIELDS) - _OF_METHODS
    if not method:
        return general
    if method in METHODS:
        needs, takes = METHODS[method]
        return general | frozenset((*needs, *takes)) & _OF_METHODS
    return general | _OF_PLUGINS


def needed(method: str) -> Collection[str]:
    """Return the fields without which the run cannot begin."""
    return ("file", "method", *(METHODS[method].needs if method in METHODS else ()))


def drafted(typed: Mapping[str, Value]) -> RunDraft:
    """Return the draft of what was typed; what does not apply to the method stays typed, and is not asked for."""
    method = typed.get("method", "")
    wanted = applicable(method if isinstance(method, str) else "")
    if not typed.get("vault"):
        wanted = wanted.difference(OF_VAULT)
    return RunDraft.of({name: typed[name] for name in FIELDS if name in typed and name in wanted})


def wrong_shapes(draft: RunDraft) -> Iterator[tuple[str, str]]:
    """Yield each option that the command line would refuse on its own, with its words."""
    context = click.Context(asked, info_name="run")
    for parameter in asked.params:
        value = draft.values.get(parameter.name or "")
        if value and not getattr(parameter, "is_flag", False):
            try:
                parameter.type_cast_value(context, value)
            except click.BadParameter as error:
                yield parameter.name or "", _number_words(parameter.type) or error.message


def _number_words(wanted: Any) -> str:
    """Return which numbers an option takes, empty where it takes something else."""
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
    options = {flag: parameter.name for parameter in asked.params for flag in parameter.opts if flag.startswith("--")}
    for part in words.replace(":", " ").replace(",", " ").split():
        name = options.get(part.strip("`.'\"()"))
        if name in FIELDS:
            return name
    return next(
        (name for name in FIELDS if name in PATHS and len(str(typed.get(name, ""))) > 2 and str(typed[name]) in words),
        None,
    )


def field_of_options(words: str) -> str | None:
    """Find the field that pydantic's words name; None lets the options that they name decide."""
    named = words.partition("field '")[2].partition("'")[0].split(".")[0]
    name = LIMIT_OPTIONS.get(named, named)
    return name if name in FIELDS else None


def beside_field(words: str) -> str:
    """Omit what is plain where the words are next to their field."""
    if words.startswith("Options: field '"):
        words = words.partition("': ")[2]
    return words.removesuffix(" Correct it.")
