"""What the command line, a sweep plan or the app can tell a method."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Annotated

import rfc8785
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, JsonValue, field_validator

from corpora.languages.language_names import language_name
from harness.core.failures import UsageError


class MethodOptions(BaseModel):
    """Everything that any method can be told; each names what it needs and what does not apply to it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source_language: str
    """BCP 47 tag of the corpus."""
    target_language: str
    """BCP 47 tag of the corpus."""
    file_lines: Annotated[int, Field(ge=1)] | None = None
    """Lines of the corpus' text files, where blank ones were left out (``Dataset.file_lines``)."""
    source_name: str | None = None
    """Name of the language for prompts, where the tag's English name will not do."""
    target_name: str | None = None
    condition: str | None = None
    """Experiment label (benchmark-specification §3.2); each method has one of its own where none is given."""
    replicate: Annotated[int, Field(ge=0)] = 0
    """Which of several independent repetitions of the same experiment this is."""
    batch_size: Annotated[int, Field(ge=1, le=500)] = 1
    """Entries in one call."""

    model: str | None = None
    endpoint: str | None = None
    """Name of a preset, or a URL."""
    temperature: Annotated[FiniteFloat, Field(ge=0, le=2)] | None = 0.0
    """None: not sent, the endpoint's own holds."""
    max_tokens: Annotated[int, Field(ge=1)] | None = 2048
    """Upper bound of output tokens of a call; None: not sent, and a budget cannot be reserved."""
    prompt: str | None = None
    """Shipped prompt version, or a file."""
    coaching: Path | None = None
    body: dict[str, JsonValue] = {}
    """More parameters for the body of each call."""

    max_retries: Annotated[int, Field(ge=0, le=20)] | None = None
    """Rejections that a pipeline answers with another try."""
    checks: tuple[str, ...] = ()
    """Checks of a pipeline; empty: all that can be made with what was given."""
    tools: tuple[str, ...] = ()
    glossary: Path | None = None
    """Dictionary file."""
    word_list: Path | None = None
    """Words of the target language, one a line."""
    analyser: Path | None = None
    """Morphological analyser of the target language, for the check ``fst`` and the tool ``analyse``; None: where
    one of them is asked for by name, the one that lies among the languages' files."""

    outputs: Path | None = None
    """Outputs made elsewhere."""
    translator: str | None = None
    """Who made them: the label of a human translator."""
    text: str | None = None
    """What the constant method answers."""
    service: str | None = None
    """Translation service, where the method is named only ``api``."""
    region: str | None = None
    """Region of a Microsoft key."""
    prices: Path | None = None
    """The user's own price table."""
    settings: dict[str, JsonValue] = {}
    """Whatever a plug-in wants to be told; written on the run card."""

    @field_validator("body", "settings")
    @classmethod
    def _canonical(cls, value: dict[str, JsonValue]) -> dict[str, JsonValue]:
        """Refuse what has no canonical form: it is hashed into cache keys and fingerprints."""
        try:
            rfc8785.dumps(value)
        except rfc8785.CanonicalizationError as error:
            raise ValueError(f"not every JSON reader can hold this value: {error}") from None
        return value

    @property
    def languages(self) -> dict[str, str]:
        """What goes into the language slots of a prompt."""
        return {
            "source_language": self.source_name or language_name(self.source_language),
            "target_language": self.target_name or language_name(self.target_language),
            "source_tag": self.source_language,
            "target_tag": self.target_language,
        }


_ALWAYS = frozenset({"source_language", "target_language", "file_lines", "condition", "replicate"})


def check_options(
    method: str, options: MethodOptions, needs: Collection[str] = (), takes: Collection[str] = ()
) -> None:
    """Raise UsageError for the first option that a method lacks, or that does not apply to it.

    An option counts as given where it differs from its default.
    """
    given = {
        name
        for name, field in MethodOptions.model_fields.items()
        if not field.is_required() and getattr(options, name) != field.default
    }
    for name in needs:
        if name not in given:
            raise UsageError(f"Method {method!r} needs {flag(name)}.")
    if stray := sorted(given - _ALWAYS - set(needs) - set(takes)):
        allowed = ", ".join(flag(name) for name in [*needs, *takes])
        raise UsageError(
            f"{flag(stray[0])} does not apply to method {method!r}: leave it out. "
            + (f"It takes {allowed}." if allowed else "It takes no options.")
        )


_FLAGS = {"checks": "--check", "tools": "--tool", "settings": "--set"}
"""Options whose flag is given once for each of several values."""


def flag(name: str) -> str:
    """Name an option as the command line does."""
    return _FLAGS.get(name, f"--{name.replace('_', '-')}")
