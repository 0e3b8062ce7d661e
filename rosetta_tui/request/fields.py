"""The fields of the form of a new run: every option of ``rosetta run``, in the order in which people decide.

The words about an option are next to its field.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

import click

from harness.method.shipped import METHODS
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


_SAID = {param.name: param.help for param in asked.params if isinstance(param, click.Option)}


def _f(name: str, label: str, about: str = "", **wishes: Any) -> FormField:
    """Return a field; without own words it says what the help page says of its option."""
    return FormField(name, label, about or _SAID[name] or "", **wishes)


_S, _T, _W, _Y = FieldKind.SUGGESTED, FieldKind.TICKS, FieldKind.WORDS, FieldKind.SWITCH

_CORPUS = (
    _f(
        "file",
        "Corpus",
        "A file, or a corpus that the store has. ↓ lists both. Of a vault: its name there.",
        kind=_S,
    ),
    _f("vault", "Vault", "Folder of a vault that the corpus is opened out of.", kind=_S, rare=True),
    _f(
        "purpose",
        "Purpose",
        "What the vault is opened for; its log keeps it for ever, so name nobody and quote no text.",
        rare=True,
    ),
    _f(
        "vault_key",
        "Vault key",
        "File of a keeper's keys; without it, this computer's.",
        kind=_S,
        rare=True,
    ),
    _f(
        "grant",
        "Grant",
        "Request that the keepers allowed, NAME.rosetta-request; the vault opens by it, once, and it says itself what for.",
        kind=_S,
        rare=True,
    ),
    _f(
        "others",
        "With keepers",
        "Files of the keys of further keepers who are here; in place of a grant.",
        kind=_W,
        rare=True,
    ),
    _f(
        "clock_was_wrong",
        "Clock was wrong",
        "The clock is right now and was not at the last entry of the vault's log.",
        kind=_Y,
        rare=True,
    ),
    _f(
        "despite_network",
        "Despite network",
        "Why the vault is opened though this computer has a way to other machines; log and card keep it.",
        rare=True,
    ),
    _f(
        "reference",
        "References",
        "The second of two text files, aligned line by line.",
        kind=_S,
        rare=True,
    ),
    _f("form", "Form", "How the file is written.", kind=_S, default="found out", rare=True),
    _f(
        "source_column",
        "Source column",
        "Column of a table, or field of JSON, by name or number.",
        default="found out",
        rare=True,
    ),
    _f(
        "reference_column",
        "Ref. column",
        "Columns of the references, by names or numbers.",
        default="found out",
        rare=True,
    ),
    _f(
        "other_reference",
        "More references",
        "Further files of references, aligned by line, separated by blanks.",
        kind=_W,
        rare=True,
    ),
    _f(
        "source_language",
        "Source language",
        "BCP 47 tag of the sources, where the file has none.",
        rare=True,
    ),
    _f(
        "target_language",
        "Target language",
        "BCP 47 tag of the references, where the file has none.",
        rare=True,
    ),
    _f(
        "task",
        "Task",
        "What is asked of the method, where the file does not say it.",
        kind=_S,
        default="translation",
        rare=True,
    ),
    _f("corpus_id", "Corpus id", rare=True),
)

_ENTRIES = (
    _f("segment", "Segments", "None ticked: all. Secret ones stay on this machine.", kind=_T),
    _f("difficulty", "Difficulty", "None ticked: all tiers, and entries without one.", kind=_T),
    _f("limit", "At most", "Only that many entries, the first ones.", default="all"),
    _f(
        "sample",
        "Sample",
        "So many entries at random, always the same for one seed.",
        default="all",
    ),
    _f("seed", "Seed", "Another number draws another sample.", default="0", rare=True),
    _f("entries", "Entry ids", "Only these, separated by commas.", default="all", rare=True),
)

_METHOD = (
    _f(
        "method", "Method", "What makes the outputs; your own is FILE.py or FILE.py:CLASS.", kind=_S
    ),
    _f("outputs", "Outputs", "File of outputs: text, JSONL, TSV, CSV or a run card.", kind=_S),
    _f(
        "method_class",
        "Class",
        "What made the outputs.",
        kind=_S,
        default="custom-plugin",
        rare=True,
    ),
    _f("translator", "Translator", default="human"),
    _f("text", "Text"),
    _f("endpoint", "Endpoint", "A preset or a URL that speaks chat completions.", kind=_S),
    _f("model", "Model", "As the endpoint names it; ^r asks an endpoint of this machine.", kind=_S),
    _f("region", "Region", default="global", rare=True),
    _f("prompt", "Prompt", "A version that is shipped, or a file.", kind=_S, default="by coaching"),
    _f(
        "coaching",
        "Coaching",
        "Grammar notes, examples, dictionary: JSON or TOML.",
        kind=_S,
        default="none",
    ),
    _f("tools", "Tools", "What the model may ask while it translates.", kind=_T),
    _f(
        "checks",
        "Checks",
        "What is rejected and asked again. None ticked: all that can be made.",
        kind=_T,
    ),
    _f("glossary", "Dictionary", "TSV, CSV or JSON of phrases and translations.", kind=_S),
    _f("word_list", "Word list", kind=_S, rare=True),
    _f("model_folder", "Model folder", "A CTranslate2 model with its tokenizer.json.", kind=_S),
    _f(
        "max_retries",
        "Asked again",
        "Times that a rejected answer is asked for again.",
        default="2",
    ),
    _f("temperature", "Temperature", "0 to 2, or none for the endpoint's own.", default="0"),
    _f("max_tokens", "Output limit", default="2048"),
    _f("batch_size", "Batch", default="1"),
    _f("source_name", "Source name", rare=True),
    _f("target_name", "Target name", rare=True),
    _f("body", "Body", "More for the body of each call: NAME=JSON NAME=JSON.", kind=_W, rare=True),
    _f("settings", "Settings", "Told to the method: NAME=JSON NAME=JSON.", kind=_W),
    _f("prices", "Prices", kind=_S, default="the shipped one", rare=True),
)

_RUN = (
    _f(
        "budget",
        "Budget",
        "Most US dollars to spend; the run ends before it would pass them.",
        default="none",
    ),
    _f("concurrency", "Calls at once", "Most calls under way at once, 1 to 1024.", default="8"),
    _f("condition", "Condition", default="by method"),
    _f("method_name", "Name", "What the method is called in lists and on the card.", rare=True),
    _f(
        "replicate",
        "Replicate",
        default="0",
        rare=True,
    ),
    _f("timeout", "Timeout", default="120", rare=True),
    _f("attempts", "Attempts", "Most tries at one call.", default="6", rare=True),
    _f("no_cache", "Ask again", kind=_Y, rare=True),
    _f("offline", "Offline", kind=_Y, rare=True),
    _f(
        "trust_local_server",
        "Trust server",
        kind=_Y,
        rare=True,
    ),
    _f(
        "may_send",
        "May be sent",
        "Why the texts may be sent to the endpoint, and who allows it.",
        rare=True,
    ),
)

_SCORING = (
    _f(
        "metrics",
        "Metrics",
        "Names separated by commas, such as chrf,bleu; of a pack, such as rosetta, all that can be computed.",
        kind=_S,
        default="by task",
    ),
    _f(
        "terms",
        "Terms",
        "Prescribed terms: a dictionary, or coaching with one.",
        kind=_S,
        default="the coaching's",
        rare=True,
    ),
    _f(
        "analyser",
        "Analyser",
        kind=_S,
        default="found by language",
        rare=True,
    ),
    _f(
        "language_card",
        "Card",
        kind=_S,
        default="found by language",
        rare=True,
    ),
    _f("gloss_dictionary", "Glosses", kind=_S, rare=True),
    _f("embeddings", "Embeddings", "Endpoint or folder of an embedding model.", kind=_S, rare=True),
    _f("embeddings_model", "… model", "Model asked for at that endpoint.", rare=True),
    _f("judge", "Judge", rare=True),
    _f("judge_model", "… model", "Model asked for at that endpoint.", rare=True),
    _f("comet", "COMET", "A checkpoint, or a file of its scores.", kind=_S, rare=True),
    _f("bertscore", "BERTScore", "A model's folder, or a file of scores.", kind=_S, rare=True),
    _f(
        "scoring",
        "Weights",
        "Signed weights and tier lines.",
        kind=_S,
        default="the specification's",
        rare=True,
    ),
    _f(
        "multi_ref",
        "Variants",
        "Score chrF++, BLEU, TER against the variants too.",
        kind=_Y,
        rare=True,
    ),
)

SECTIONS = (
    FieldSection("The corpus", _CORPUS),
    FieldSection("Which entries of it", _ENTRIES),
    FieldSection("The method", _METHOD),
    FieldSection("How the run goes", _RUN),
    FieldSection("How it is scored", _SCORING),
)

FIELDS: Mapping[str, FormField] = {
    field.name: field for section in SECTIONS for field in section.fields
}

PATHS = frozenset(
    {"file", "vault", "vault_key", "grant", "reference", "outputs", "coaching", "glossary", "word_list", "model_folder", "prices", "terms",
     "analyser", "language_card", "gloss_dictionary", "embeddings", "comet", "bertscore", "prompt", "scoring"}
)  # fmt: skip
"""Fields that may hold the name of a file or folder."""

_OF_METHODS = frozenset(field.name for field in _METHOD) - {"method"}
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
        wanted = wanted.difference(OF_VAULT, {"grant"})
    elif typed.get("grant"):
        wanted = wanted.difference({"purpose", "others"})  # the grant says them
    return RunDraft.of({name: typed[name] for name in _ordered(typed) if name in wanted})


def _ordered(typed: Mapping[str, Value]) -> Iterator[str]:
    return (name for name in FIELDS if name in typed)


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
    """Omit what is plain where the words are next to their field."""
    if words.startswith("Options: field '"):
        words = words.partition("': ")[2]
    return words.removesuffix(" Correct it.")
