"""Coaching data: what a model learns about the language before it translates (§9.6, coached-llm)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from corpora.files.toml_text import parse_toml
from harness.core.failures import UsageError
from harness.core.problems import first_problem
from harness.core.user_file import read_text
from harness.inputs.dictionary import Dictionary, mapping_pairs


class Example(BaseModel):
    """One translation to learn from."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: str
    target: str


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    notes: str | list[str] = []
    examples: list[Example] = []
    dictionary: dict[str, str | list[str]] = {}


@dataclass(frozen=True, slots=True)
class Coaching:
    """Coaching data as read from a file."""

    notes: tuple[str, ...]
    examples: tuple[Example, ...]
    dictionary: Dictionary
    sha256: str
    """Hash of the file's bytes."""

    def slots(self) -> dict[str, str]:
        """Return what goes into the slots ``{notes}`` and ``{examples}`` of a prompt."""
        examples = (f"{example.source}\n→ {example.target}" for example in self.examples)
        return {
            "notes": "\n".join(f"- {note}" for note in self.notes) or "(no notes)",
            "examples": "\n".join(examples) or "(no examples)",
        }

    def hints(self, sources: Sequence[str]) -> str:
        """Return the part of a message that lists the dictionary's entries which occur in its texts.

        Only these, because a whole dictionary would cost its length again with every entry; and in
        the message, not the system prompt, because that must be the same over the run.
        """
        headwords = dict.fromkeys(
            head for source in sources for head in self.dictionary.occurring(source)
        )
        if not headwords:
            return ""
        lines = (f"{head.phrase} = {' / '.join(head.translations)}" for head in headwords)
        return "\n".join(["", "", "Dictionary:", *lines])


def read_coaching(path: Path) -> Coaching:
    """Read a coaching file, JSON or TOML, with ``notes``, ``examples``, ``dictionary``; each may lack.

    UsageError names file, field and fix.
    """
    text, sha256 = read_text(path, "the coaching file")
    try:
        file = _File.model_validate(_decoded(path, text))
    except ValidationError as error:
        toml = text if path.suffix == ".toml" else ""
        raise UsageError(f"{path}: {first_problem(error, toml)}") from error
    notes = (file.notes,) if isinstance(file.notes, str) else tuple(file.notes)
    dictionary = Dictionary(mapping_pairs(file.dictionary, f"{path}: field 'dictionary'"))
    if not (notes or file.examples or len(dictionary)):
        raise UsageError(f"{path}: nothing to coach with. Give notes, examples or a dictionary.")
    return Coaching(notes, tuple(file.examples), dictionary, sha256)


def holds_coaching(path: Path) -> bool:
    """Distinguish coaching data from a plain dictionary, which may be JSON too; False where it cannot be read."""
    if path.suffix not in {".json", ".toml"}:
        return False
    try:
        data = _decoded(path, read_text(path, "the coaching file")[0])
    except UsageError:
        return False
    return isinstance(data, dict) and isinstance(data.get("dictionary"), dict)


def _decoded(path: Path, text: str) -> Any:
    try:
        return parse_toml(text) if path.suffix == ".toml" else json.loads(text)
    except (ValueError, RecursionError) as error:
        kind = "TOML" if path.suffix == ".toml" else "JSON"
        why = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise UsageError(f"{path}: not valid {kind}: {why}. Correct it.") from error
