"""What the command line, a sweep plan or the app can tell a method.

Keys where they would be written down: in settings of a plug-in, in a body, in an endpoint's address.

A method's options are in the store and on the run card, for everybody who gets it. Keys have two
places of their own, the keyring and the environment, which ``harness.endpoint.endpoints`` reads.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import rfc8785
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, JsonValue, field_validator

from corpora.files.json_types import JsonObject
from corpora.languages.tags import has_name, language_name
from corpora.model.task import TRANSLATION
from harness.core.failures import UsageError
from harness.endpoint.endpoints import checked_url
from harness.method.method import MethodClass, Setup


class MethodOptions(BaseModel):
    """Everything that any method can be told; each names what it needs and what does not apply to it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source_language: str
    """BCP 47 tag of the corpus."""
    target_language: str
    """BCP 47 tag of the corpus."""
    task: str = TRANSLATION
    """What is asked of the method: the name of the corpus's task (``corpora.model.task``)."""
    file_lines: Annotated[int, Field(ge=1)] | None = None
    """Lines of the corpus' text files, where blank ones were left out (``Dataset.file_lines``)."""
    source_name: str | None = None
    """Name of the language for prompts, where the tag's English name will not do."""
    target_name: str | None = None
    condition: str | None = None
    """Experiment label (benchmark-specification §3.2); each method has one of its own where none is given."""
    replicate: Annotated[int, Field(ge=0)] = 0
    """Which of several independent repetitions of the same experiment this is."""
    method_name: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    """What the method is called in lists and on the card (benchmark-specification §9.7)."""
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
    strip: tuple[Literal["prose", "wrapper", "quotes"], ...] = ()
    """What is taken off outputs before they are scored; the first answer is kept too."""
    glossary: Path | None = None
    """Dictionary file."""
    model_folder: Path | None = None
    """Folder of a CTranslate2 model with its tokenizer.json."""
    word_list: Path | None = None
    """Words of the target language, one a line."""
    analyser: Path | None = None
    """Morphological analyser of the target language, for the check ``fst`` and the tool ``analyse``; None: where
    one of them is asked for by name, the one that lies among the languages' files."""

    outputs: Path | None = None
    """Outputs made elsewhere."""
    method_class: MethodClass | None = None
    """What kind of method made them (benchmark-specification §9.6); a plug-in's where nobody says."""
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

    def setup(self, method: str, kind: MethodClass, condition: str, **more: Any) -> Setup:
        """Describe a run of a shipped method with these options."""
        own = {"model_slug": method, "condition": self.condition or condition, **more}
        if self.strip:
            own["options"] = {**own.get("options", {}), "strip": sorted(set(self.strip))}
        return Setup(
            method=method,
            method_name=self.method_name,
            method_class=kind,
            method_version="1",
            replicate=self.replicate,
            **own,
        )

    @property
    def languages(self) -> dict[str, str]:
        """Return the values of the language slots of a prompt."""
        return {
            "source_language": self.source_name or language_name(self.source_language),
            "target_language": self.target_name or language_name(self.target_language),
            "source_tag": self.source_language,
            "target_tag": self.target_language,
        }

    @property
    def nameless(self) -> dict[str, str]:
        """Return option → tag of each language that prompts would call by its tag, since no name is known."""
        sides = (
            ("--source-name", self.source_name, self.source_language),
            ("--target-name", self.target_name, self.target_language),
        )
        return {option: tag for option, name, tag in sides if not (name or has_name(tag))}


_ALWAYS = frozenset({
    "source_language", "target_language", "task", "file_lines", "condition", "replicate",
    "method_name", "prices",
})  # fmt: skip


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


_WORDS = frozenset({
    "key", "keys", "apikey", "token", "secret", "password", "passwd", "passphrase", "pwd",
    "credential", "credentials", "authorization", "bearer", "auth",
})  # fmt: skip
"""Words with which the name of a key ends or begins."""

_ENDINGS = ("key", "secret", "password", "passwd", "passphrase", "credential", "credentials")
_NO_KEYS = frozenset({"monkey", "donkey", "turkey", "hockey", "whiskey", "jockey", "hotkey"})
"""Words that end so and name no key; ``mykey`` names one."""

_PASSES = frozenset({"pass", "mypass", "userpass", "dbpass", "passcode"})
_COUNTS = frozenset({"max", "min", "most", "least", "count", "number", "num", "per"})
"""With one of these a number counts something: ``max_token``."""

_TEXT_TOKENS = frozenset({"bos", "eos", "pad", "unk", "sep", "cls", "mask", "stop", "end", "start"})
"""``eos_token`` names a sign of a model, no key."""

_LOOKS_LIKE_ONE = re.compile(
    r"(?i:bearer\s+\S{8,})|(?:sk|pk|rk|hf|ghp|gho|glpat|xox[abp]|r8|gsk|nvapi)[-_][A-Za-z0-9_-]{12,}"
    r"|AIza[A-Za-z0-9_-]{20,}|AKIA[A-Z0-9]{12,}|eyJ[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_.-]+"
)
"""Beginnings by which providers mark their keys, and signed tokens."""

_BETWEEN = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")


def refuse_written_keys(options: MethodOptions) -> None:
    """Raise UsageError, without the key, where something that looks like one would be written down."""
    refuse_told_keys({"settings": options.settings, "body": options.body})
    if options.endpoint is not None and "://" in options.endpoint:
        refuse_key_in_url(checked_url(options.endpoint))


def refuse_key_in_url(url: str) -> None:
    """Raise UsageError, without the key, where a part of an address looks like one."""
    if any(_LOOKS_LIKE_ONE.match(part) for part in urlsplit(url).path.split("/")):
        raise UsageError(
            "The endpoint's URL must not carry a key, because it is written down. Store it with: "
            f"rosetta key set {urlsplit(url).hostname}"
        )


def refuse_told_keys(told: JsonObject) -> None:
    """Raise UsageError as ``refuse_written_keys`` does, for options that were not yet checked."""
    for option, place in (("--set", "settings"), ("--body", "body")):
        if isinstance(fields := told.get(place), Mapping):
            for name in keys_in(fields):
                raise UsageError(
                    f"{option}: {name!r} looks like a key, and the options of a method are written on the run card. "
                    "Store the key with `rosetta key set HOST` or put it into the environment; a plug-in reads "
                    "it with harness.endpoint.endpoints.key_for. If it is none, give it another name."
                )


def keys_in(told: JsonObject, before: str = "") -> Iterator[str]:
    """Yield the names of what looks like a key, by name or by value, through all levels."""
    for name, value in told.items():
        path = f"{before}{name}"
        if isinstance(value, str):
            if _names_key(name) or _LOOKS_LIKE_ONE.match(value.strip()):
                yield path
        elif isinstance(value, int | float) and not isinstance(value, bool):
            if _names_key(name, number=True):
                yield path
        elif isinstance(value, Mapping):
            yield from keys_in(value, f"{path}.")
        elif isinstance(value, list):
            yield from keys_in({f"{name}[{at}]": inner for at, inner in enumerate(value)}, before)


def _names_key(name: str, *, number: bool = False) -> bool:
    """Return whether a name is that of a key; of a ``number`` it begins many counts: ``token_limit``."""
    parts = (word.lower().rstrip("0123456789") for word in _BETWEEN.split(name) if word)
    words = [part for part in parts if part]
    if not words or (words[-1] == "token" and not _TEXT_TOKENS.isdisjoint(words)):
        return False
    joined = "".join(words)
    if number and not _COUNTS.isdisjoint(words):
        return False
    ends = words[-1] in _WORDS or (words[-1].endswith(_ENDINGS) and words[-1] not in _NO_KEYS)
    begins = words[0] in _WORDS and not number
    return ends or begins or joined in _PASSES or "apikey" in joined
