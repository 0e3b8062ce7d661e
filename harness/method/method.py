"""What a translation method is (benchmark-specification §1.2, §9.6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict

from corpora.model.entry import Entry
from harness.core.calls import Calls, Usage
from harness.core.failures import ErrorClass


class MethodClass(StrEnum):
    """The six classes of §9.6."""

    RAW_LLM = "raw-llm"
    COACHED_LLM = "coached-llm"
    PIPELINE = "pipeline"
    CUSTOM_PLUGIN = "custom-plugin"
    API = "api"
    HUMAN = "human"


class Setup(BaseModel):
    """Everything that makes two runs the same experiment, except the dataset (§3.2, DESIGN C3).

    It is written on the run card and hashed into the fingerprint, so it holds no key and no local path.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    method: str
    """Name of the method, such as ``chat`` or ``copy-source``."""
    method_class: MethodClass
    method_version: str
    method_sha256: str | None = None
    """Hash of a plug-in's code, None for the methods that ship with the harness."""
    provider: str | None = None
    """Name of the endpoint's kind or host, None where nothing is called."""
    model_slug: str
    """Model asked for; the method's own name where there is no model."""
    condition: str
    """Experiment label (§3.2)."""
    temperature: float | None = None
    max_tokens: int | None = None
    system_prompt_used: str | None = None
    system_prompt_sha256: str | None = None
    prompt_version: str | None = None
    coaching_data_sha256: str | None = None
    outputs_sha256: str | None = None
    """Hash of the outputs file of replay and human."""
    fst_version: str | None = None
    fst_sha256: str | None = None
    tools_enabled: tuple[str, ...] = ()
    batch_size: int = 1
    max_retries: int = 0
    """Rejections that a pipeline answers with another try (§3.2); not network retries."""
    replicate: int = 0
    options: dict[str, Any] = {}
    """What else the method was told; JSON values only."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What was measured when an output was made elsewhere; takes the place of what a run measures."""

    latency_seconds: float | None = None
    """None: unknown, which is not zero."""
    usage: Usage | None = None
    cost_usd: float | None = None
    model_id: str | None = None


@dataclass(frozen=True, slots=True)
class Output:
    """What a method made of one entry: a text, or the reason why there is none."""

    text: str | None
    error_class: ErrorClass | None = None
    error: str | None = None
    """In words; never quotes a source or reference."""
    notes: tuple[str, ...] = ()
    """Steps worth seeing on the entry screen (retries of a pipeline, tool calls, rejected words)."""
    recorded: Recorded | None = None
    """Given by replay and human, whose outputs were not made in this run."""
    raw: str | None = None
    """The first answer, where gates or repairs of the method's own changed it since."""


@runtime_checkable
class Method(Protocol):
    """A translation method. One instance serves one run; translate() is called concurrently."""

    @property
    def setup(self) -> Setup:
        """What identifies the experiment; fixed from construction on."""
        ...

    @property
    def endpoint(self) -> str | None:
        """URL that will be called, None for a method that calls nothing."""
        ...

    async def translate(self, entries: Sequence[Entry], calls: Calls) -> Sequence[Output]:
        """Translate up to ``setup.batch_size`` entries; one Output each, in order.

        Raises CallError where the whole call failed; any other exception becomes a ``method`` error.
        """
        ...


@runtime_checkable
class Priced(Protocol):
    """A method that knows before its first call what calls cost; a method need not be one."""

    def check_budget(self) -> None:
        """Raise UsageError where a budget could not be kept."""
        ...
