"""What commands print as JSON: one table of forms with their versions, and the one function that writes them.

Each form has a schema, ``docs/schemas/NAME.schema.json``; ``docs/json.md`` says what of it is stable. A form that is
a list has its version in each of its rows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import click

from corpora.files.json_types import JsonObject
from corpora.files.problems import StoredValueError
from rosetta_tui.show.text import json_text, plain


class JsonForm(NamedTuple):
    """One form of JSON that commands print."""

    commands: str  # calls that print it
    version: int = 1  # rises when a key goes, is renamed or changes its meaning
    field: str = "version"  # key of the version; another word where `version` says something else


FORMS: Mapping[str, JsonForm] = {
    "calibrate": JsonForm("calibrate --json"),
    "compare": JsonForm("compare --json"),
    "consent-list": JsonForm("community notices --json"),
    "corpus-check": JsonForm("corpus check --json"),
    "corpus-progress": JsonForm("corpus progress --json"),
    "corpus-show": JsonForm("corpus show --json"),
    "cost": JsonForm("cost --json"),
    "council": JsonForm("council --json"),
    "doctor": JsonForm("doctor --json"),
    "estimate": JsonForm("run --estimate --json"),
    "event": JsonForm("run, demo, resume, retry, watch --json-lines"),
    "exchange-list": JsonForm("community stick --json"),
    "gate": JsonForm("gate --json"),
    "key-list": JsonForm("key list --json"),
    "language-check": JsonForm("language check --json"),
    "language-list": JsonForm("language show --json, without TAG"),
    "language-show": JsonForm("language show TAG --json"),
    "leaderboard": JsonForm("leaderboard --json", field="form_version"),
    "organisation-profile": JsonForm("community profile --json"),
    "ownership-show": JsonForm("community owners --json"),
    "publish": JsonForm("publish --json"),
    "review-adjudicate": JsonForm("review adjudicate --json"),
    "review-create": JsonForm("review create --json"),
    "review-enrol": JsonForm("review enrol --json"),
    "review-enrol-card": JsonForm("review enrol --card --json"),
    "review-enrol-remove": JsonForm("review enrol --remove --json"),
    "review-enrol-speaks-for": JsonForm("review enrol --speaks-for --json"),
    "review-enrol-statement": JsonForm("review enrol --witness --json"),
    "review-enrol-witness": JsonForm("review enrol NAME.rosetta-witness --json"),
    "review-gate": JsonForm("review gate --json"),
    "review-import": JsonForm("review import --json"),
    "review-plan": JsonForm("review plan --json"),
    "review-status": JsonForm("review status --json"),
    "review-variants": JsonForm("review variants --json"),
    "review-verify": JsonForm("review verify --json"),
    "review-withdraw": JsonForm("review withdraw --json"),
    "runs-import": JsonForm("runs import --json"),
    "runs-lint": JsonForm("runs lint --json"),
    "runs-list": JsonForm("runs list --json"),
    "runs-reproduce": JsonForm("runs reproduce --json"),
    "runs-show-unfinished": JsonForm("runs show --json of a run without a card"),
    "runs-verify": JsonForm("runs verify --json"),
    "submission-check": JsonForm("submission check --json"),
    "submission-list": JsonForm("submission show --json, without a name"),
    "submission-show": JsonForm("submission show NUMBER --json"),
    "sweep": JsonForm("sweep show --json"),
    "sweep-compare": JsonForm("sweep compare --json"),
    "sweep-estimate": JsonForm("sweep begin --estimate --json"),
    "sweep-event": JsonForm("sweep begin, sweep resume --json-lines"),
    "sweep-list": JsonForm("sweep list --json"),
    "verify": JsonForm("verify --json"),
    "verify-folder": JsonForm("verify FOLDER --json"),
    "vault-budget": JsonForm("vault budget --json"),
    "vault-check-up": JsonForm("vault check-up --json"),
    "vault-grants": JsonForm("vault grant show --json"),
    "vault-list": JsonForm("vault list --json"),
    "vault-log": JsonForm("vault log --json"),
    "unusable": JsonForm("corpus, language --json where the file is wrong"),
}
"""Name → form. A run card (``score``, ``runs show``) is no part of it: its bytes are sealed."""


def form_text(
    name: str,
    value: JsonObject | Sequence[JsonObject],
    *,
    indent: int | None = 2,
    default: Callable[[Any], object] | None = None,
) -> str:
    """Return a value as JSON with its form's version; KeyError for no such form, ValueError where the key is taken."""
    form = FORMS[name]
    shown = _with_version(form, value) if isinstance(value, Mapping) else [_with_version(form, row) for row in value]
    return json_text(shown, indent=indent, default=default)


def rows_text(name: str, rows: Iterable[tuple[JsonObject, str]]) -> str:
    """Return a list as JSON, a row a line, each made of fields and of an object that was kept as JSON.

    StoredValueError where what was kept is no line of JSON: it goes to terminals as it is.
    """
    lines = []
    for own, stored in rows:
        kept = stored.replace("\x7f", "\\u007f")
        if not (kept.startswith('{"') and kept.endswith("}") and kept.isascii() and kept.isprintable()):
            raise StoredValueError
        lines.append(f"{json_text(_with_version(FORMS[name], own), indent=None)[:-1]}, {kept[1:]}")
    return "[\n{}\n]".format(",\n".join(lines)) if lines else "[]"


def print_form(name: str, value: JsonObject | Sequence[JsonObject], lines: Iterable[str], *, as_json: bool) -> None:
    """Print what a command found or did, as JSON or in these lines."""
    for line in (form_text(name, value),) if as_json else map(plain, lines):
        click.echo(line)


LARGE = 500_000
"""Bytes of a corpus file whose reading takes a second or more."""


def say_preparing(style: str | None, corpus: Path | None = None) -> None:
    """Print that a run is being prepared: its texts are read before it has its own first event.

    Lines for people have it where the corpus file is large and no screen opens.
    """
    if style == "json-lines":
        click.echo(form_text("event", {"event": "Preparing", "run_id": None}, indent=None))
    elif corpus is not None and (style == "plain" or not sys.stdout.isatty()):
        with suppress(OSError):
            if corpus.stat().st_size > LARGE:
                click.echo("preparing …", err=True)


def _with_version(form: JsonForm, value: JsonObject) -> JsonObject:
    if form.field in value:
        raise ValueError(f"{form.commands}: {form.field!r} has another meaning there.")
    return {form.field: form.version, **value}
