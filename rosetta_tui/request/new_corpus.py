"""A corpus that is about to be begun, as ``rosetta corpus new`` and its form ask for it: one set of rules for both."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from corpora.files.json_types import JsonObject
from corpora.files.problems import CorpusError, Problem
from corpora.languages.tags import language_name
from corpora.model.corpus import Corpus
from corpora.model.vocabularies import find_label, label_words, licence_class, looks_like_label
from harness.core.failures import UsageError
from harness.project.authoring import check_facts
from harness.project.state import Project, create_project, require_new
from rosetta_tui.request.draft import Value
from rosetta_tui.show.clipboard import command_line

ASKED: Final[Mapping[str, str]] = {
    "source_language": "the language of the sentences that are translated, such as en",
    "target_language": "the language that they are translated into, such as crk",
    "title": "the title of the corpus",
    "organisation": "who makes it, by the name that speakers know",
    "licence": "the licence, by its SPDX id such as CC-BY-NC-SA-4.0, or in words such as Community only",
}
"""What has to be said, by the names of the command's options."""

OPTIONS: Final[Mapping[str, str]] = {
    **{name: f"--{name.replace('_', '-').replace('licence', 'license')}" for name in ASKED},
    "corpus_id": "--id",
    "transmission": "--transmission",
    "labels": "--label",
}
"""Name → how the option is typed."""

_LICENCES: Final = ("Community only", "All rights reserved", "CC-BY-NC-SA-4.0", "CC-BY-NC-4.0", "CC-BY-SA-4.0", "CC-BY-4.0", "CC-BY-NC-ND-4.0", "CC0-1.0")  # fmt: skip

_FACTS: Final[Mapping[str, str]] = {"licence": "license", "corpus_id": "id"}
"""Option → the field of the envelope, where it is called otherwise."""

_STAND_IN: Final[Mapping[str, str]] = {
    "source_language": "qaa", "target_language": "qab", "title": "T", "organisation": "O", "licence": "CC0-1.0",
}  # fmt: skip
"""What stands for an option that is not filled in yet, so that the others can be checked."""

_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,59}")


def corpus_facts(folder: Path, given: Mapping[str, Value | None]) -> JsonObject:
    """Return the facts of a new corpus for its envelope, from the command's options by name; UsageError names the option."""
    asked = {_FACTS.get(name, name): str(given[name]).strip() for name in ASKED}
    id_ = str(given.get("corpus_id") or re.sub(r"[^a-z0-9._-]+", "-", folder.resolve().name.lower()).strip("-._"))
    if not _ID.fullmatch(id_):
        raise UsageError("--id: up to 60 small letters a–z, digits, '.', '_' and '-' make a name.")
    labels = [label_of(label) for label in given.get("labels") or ()]
    return {"id": id_, **asked, "transmission": given.get("transmission"), "labels": labels}


def label_of(text: str) -> str:
    """Return a label by its identifier; words that are meant as none of Local Contexts stay."""
    label = find_label(text)
    if label is None and looks_like_label(text):
        raise UsageError(
            f"--label {text[:60]!r}: Local Contexts has no such label. `rosetta corpus new --labels` lists them."
        )
    return text if label is None else label.identifier


def offered_licences() -> dict[str, str]:
    """Return licences to choose from, each with what it leads to."""
    licence_classes = {licence: licence_class(licence) for licence in _LICENCES}
    return {name: licence_class.because for name, licence_class in licence_classes.items() if licence_class is not None}


# As a form


@dataclass(frozen=True)
class NewCorpusLook:
    """What was found out about a corpus that is about to be begun."""

    wrong: Mapping[str, Sequence[str]]
    """Name of a field → what is wrong with it, in words with a fix."""
    missing: Sequence[str]
    """Names of the fields that have to be filled in and are not."""
    notes: Mapping[str, str]
    """Name of a field → what is to be known of its value."""


def look_at(typed: Mapping[str, Value]) -> NewCorpusLook:
    """Check what is in the form as the command would; what is still empty is distinguished from what is wrong."""
    missing = [name for name in ("folder", *ASKED) if not _said(typed, name)]
    wrong: dict[str, list[str]] = {}
    folder = Path(_said(typed, "folder") or "corpus").expanduser()
    stood = {**typed, **{name: _STAND_IN[name] for name in missing if name in _STAND_IN}}
    notes: dict[str, str] = {}
    try:
        if _said(typed, "folder"):
            require_new(folder)
    except UsageError as error:
        wrong["folder"] = [str(error)]
    try:
        notes = dict(_notes(check_facts(corpus_facts(folder, stood)), typed))
    except UsageError as error:
        option = str(error).partition(" ")[0].rstrip(":")  # the command's words begin with it
        name = next((name for name, option_words in OPTIONS.items() if option_words == option), "folder")
        wrong.setdefault(name, []).append(str(error))
    except CorpusError as error:
        terms = "Choose another one, or say where the open texts may go: local-only, ask or open (“Sending”, --transmission)."  # fmt: skip
        for problem in error.problems:
            mend = terms if problem.field in {"license", "transmission"} else problem.mend
            wrong.setdefault(_field(problem), []).append(f"{problem.message} {mend}")
    return NewCorpusLook(wrong, missing, notes)


def arguments(typed: Mapping[str, Value]) -> list[str]:
    """Return the words after ``rosetta``; no word of a value can be taken for an option."""
    options = []
    for name, option in OPTIONS.items():
        value = typed.get(name, "")
        for item in (value,) if isinstance(value, str) else value:
            if item:
                options += [f"{option}={item}"] if item.startswith("-") else [option, item]
    folder = _said(typed, "folder") or "FOLDER"
    return ["corpus", "new", *options, *(["--"] if folder.startswith("-") else []), folder]


def command_of(typed: Mapping[str, Value]) -> str:
    """Return the command that does the same, quoted for a shell."""
    return command_line(["rosetta", *arguments(typed)])


def begin_corpus(typed: Mapping[str, Value], home: Path) -> Project:
    """Start the corpus as the command does; UsageError and CorpusError in words."""
    folder = Path(_said(typed, "folder")).expanduser().absolute()
    facts = corpus_facts(folder, typed)
    check_facts(facts)
    return create_project(folder, home, facts)


def _said(typed: Mapping[str, Value], name: str) -> str:
    value = typed.get(name, "")
    return value.strip() if isinstance(value, str) else " ".join(value)


def _field(problem: Problem) -> str:
    name = (problem.field or "").removeprefix("dataset.")
    options = {fact: option for option, fact in _FACTS.items()}
    field = options.get(name, name)
    return field if field in OPTIONS else "corpus_id"


def _notes(found: Corpus, typed: Mapping[str, Value]) -> Iterator[tuple[str, str]]:
    """Yield what is to be known of what was typed."""
    for name in ("source_language", "target_language"):
        if tag := _said(typed, name):
            yield name, language_name(tag)
    if _said(typed, "licence"):
        terms = found.dataset.terms
        yield "licence", f"{terms.words or 'the open texts may be sent anywhere'}: {terms.rule}" if terms.rule else terms.words  # fmt: skip
    if folder := _said(typed, "folder"):
        yield "folder", f"{Path(folder).expanduser().absolute()} is made for it"
    if labels := label_words((found.dataset.model_extra or {}).get("labels")):
        yield "labels", ", ".join(labels)
    for problem in found.warnings:
        yield _field(problem), f"! {problem.message} {problem.mend}"
