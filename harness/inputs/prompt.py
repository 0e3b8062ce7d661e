"""Prompt versions: text files with named slots, ours in ``prompts/`` or a user's own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from harness.core.failures import UsageError
from harness.core.storage import read_text

_SLOT = re.compile(r"\{\{(?P<literal>[a-z_]+)\}\}|\{(?P<slot>[a-z_]+)\}")


@dataclass(frozen=True, slots=True)
class Prompt:
    version: str
    """Name of the file without its ending."""
    text: str

    @property
    def slots(self) -> frozenset[str]:
        return frozenset(match["slot"] for match in _SLOT.finditer(self.text) if match["slot"])

    def fill(self, values: Mapping[str, str]) -> str:
        """Fill the slots with the values, in one pass: braces inside a value stay what they are.

        ``{name}`` is a slot, ``{{name}}`` the literal text ``{name}``; any other brace is only a brace.
        UsageError names a slot that has no value.
        """
        if unknown := sorted(self.slots - values.keys()):
            raise UsageError(
                f"Prompt {self.version!r}: there is nothing to put into {{{unknown[0]}}}. "
                f"Slots: {', '.join(sorted(values))}. For the literal text write {{{{{unknown[0]}}}}}."
            )
        return _SLOT.sub(lambda match: values[match["slot"]] if match["slot"] else f"{{{match['literal']}}}", self.text)


def load_prompt(version_or_path: str) -> Prompt:
    """Read a shipped version such as ``plain-v1``, or a file; UsageError lists the shipped ones."""
    if version_or_path in (shipped := shipped_versions()):
        file = resources.files("harness.inputs").joinpath("prompts", f"{version_or_path}.txt")
        return Prompt(version_or_path, file.read_text(encoding="utf-8").strip())
    path = Path(version_or_path)
    if not path.is_file():
        raise UsageError(f"Prompt {version_or_path!r} is neither a file nor a shipped version ({', '.join(shipped)}).")
    given, _ = read_text(path, "the prompt")
    text = given.replace("\r\n", "\n").replace("\r", "\n").strip()  # the same on every machine
    if not text:
        raise UsageError(f"{path}: the prompt is empty.")
    return Prompt(path.stem, text)


def shipped_versions() -> list[str]:
    files = resources.files("harness.inputs").joinpath("prompts").iterdir()
    return sorted(file.name.removesuffix(".txt") for file in files if file.name.endswith(".txt"))
