"""A run as somebody is about to ask for it: the options of ``rosetta run``, as they are typed.

The form and the command line are one thing: a draft is read by the very parser of the command, so whatever
the form can say can be said in a shell, and means the same.

Between two visits of its form the draft is kept in the data folder until the run starts: what was typed, and of
corpora and other files only their names.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.core.storage import private_folder, write_file
from rosetta_tui.show.clipboard import command_line

if TYPE_CHECKING:
    from pathlib import Path

    import click

    from corpora.model.corpus import Corpus
    from harness.api import RunRequest
    from harness.setup.plan import Plan


Value = str | tuple[str, ...]
"""What was typed or chosen for one option; several where it may be given more than once."""

YES = "yes"
"""Stands for a switch that is on."""


@dataclass(frozen=True, slots=True)
class RunDraft:
    """What is in the form of a new run, by the names that ``rosetta run`` gives to its options."""

    values: Mapping[str, Value] = field(default_factory=dict)

    @classmethod
    def of(cls, values: Mapping[str, Value]) -> RunDraft:
        """Make a draft of what is not empty."""
        return cls({name: value for name, value in values.items() if value})

    def get(self, name: str) -> str:
        """Return the text of one option, empty where it is not given."""
        value = self.values.get(name, "")
        return value if isinstance(value, str) else " ".join(value)

    def arguments(self) -> list[str]:
        """Return the words after ``rosetta run``; no word of a value can be taken for an option."""
        named: list[str] = []
        files: list[str] = []
        for parameter in _command().params:
            words = list(_words(parameter, self.values.get(parameter.name or "")))
            (files if parameter.param_type_name == "argument" else named).extend(words)
        if any(file.startswith("-") for file in files):
            return [*named, "--", *files]
        return [*files, *named]

    def command(self) -> str:
        """Return the command line that does the same, quoted for a shell."""
        return command_line(["rosetta", "run", *self.arguments()])

    def given(self) -> dict[str, Any]:
        """Read the draft as the command reads its options; raises click's UsageError."""
        return _command().make_context("run", self.arguments()).params

    def corpus(self, store_path: Path) -> Corpus:
        """Read the corpus that the draft names; raises CorpusError, or UsageError for one of the store."""
        from rosetta_tui.request import options, reading

        given = self.given()
        terms = options.granted_terms(given)
        return reading.read_corpus(given, given["reference"], store_path, work="run", terms=terms, in_form=True)

    def positions(self, corpus: Corpus) -> tuple[int, ...]:
        """Choose the entries of the corpus; raises CorpusError."""
        from rosetta_tui.request.reading import selection

        return selection(self.given()).apply(corpus)

    def request(self, corpus: Corpus) -> RunRequest:
        """Return what the run is asked for, the same that the command asks; raises UsageError, CorpusError."""
        from rosetta_tui.request.options import make_request

        return make_request(corpus, self.given())

    def plan(self, corpus: Corpus) -> Plan:
        """Return the plan of the run, the same that the command makes; raises UsageError."""
        from rosetta_tui.request.options import make_plan

        return make_plan(corpus, self.given())


def _command() -> click.Command:
    from rosetta_tui.request.options import asked

    return asked


def _words(parameter: click.Parameter, value: Value | None) -> Iterator[str]:
    """Yield the words by which a command line says one option."""
    if not value:
        return
    if parameter.param_type_name == "argument":
        yield str(value)
    elif getattr(parameter, "is_flag", False):
        yield parameter.opts[0]
    else:
        for item in (value,) if isinstance(value, str) else value:
            if item.startswith("-"):
                yield f"{parameter.opts[0]}={item}"
            else:
                yield from (parameter.opts[0], item)


NAME = "new-run.json"

MOST_BYTES = 2**20
"""A draft that is longer is none; nobody types so much."""


def keep_draft(folder: Path, draft: RunDraft) -> None:
    """Write the draft down, all of it or none; raises HarnessError where the folder cannot be written."""
    from harness.method.options import keys_in

    values = dict(draft.values)
    for name, value in values.items():
        if not isinstance(value, str):  # settings NAME=VALUE that look like keys are written nowhere
            parts = {item: item.partition("=") for item in value}
            values[name] = tuple(item for item, (key, _, text) in parts.items() if not any(keys_in({key: text})))
    content = json.dumps({"values": values}).encode()
    write_file(private_folder(folder) / NAME, content, overwrite=True)


def kept_draft(folder: Path) -> RunDraft | None:
    """Read the draft; None where there is none, or a damaged one, which is worth no message."""
    try:
        with (folder / NAME).open("rb") as file:
            stated = json.loads(file.read(MOST_BYTES + 1)[:MOST_BYTES])
    except (OSError, ValueError, RecursionError):
        return None
    values = stated.get("values") if isinstance(stated, dict) else None
    if not isinstance(values, dict):
        return None
    read: dict[str, Value] = {}
    for name, value in values.items():
        if isinstance(value, str):
            read[name] = value
        elif isinstance(value, list) and all(isinstance(item, str) for item in value):
            read[name] = tuple(value)
    draft = RunDraft.of(read)
    return draft if draft.values else None


def forget_draft(folder: Path) -> None:
    """Throw the draft away, where there is one."""
    with suppress(OSError):
        (folder / NAME).unlink()
