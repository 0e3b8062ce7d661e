"""What a translation method is (benchmark-specification §1.2, §9.6), and what is stored of what it gave.

A Result is one entry of a run; every total of a run is derived from these rows. A Prediction is what a method
made of an entry, with what it took: the share of each call that falls to the entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict

from corpora.model.entry import Entry, EntryId
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
    method_name: str | None = None
    """What its maker calls it in lists and on the card (§9.7); no part of the fingerprint. None: nobody named it."""
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
        """Return what identifies the experiment; fixed from construction on."""
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


@runtime_checkable
class Boxed(Protocol):
    """A method in a box: asked in random order, one call at a time, and ended with the run; a method need not be one."""

    async def close_box(self) -> None:
        """End the box; nothing of it is left."""
        ...


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try at an entry: an HTTP exchange, an answer from the cache, or a step without a call."""

    reply_key: bytes | None = None
    """Key of the stored request and reply, None where the try got none."""
    status: int | None = None
    latency_seconds: float | None = None
    waited_seconds: float = 0.0
    """Time spent waiting before this try because the endpoint asked for it or the one before failed."""
    cached: bool = False
    error_class: ErrorClass | None = None
    error: str | None = None
    note: str | None = None
    """A step worth seeing, such as the words that a pipeline rejected."""


@dataclass(frozen=True, slots=True)
class Result:
    """One entry's outcome: what came out, how it scored, what it cost and how long it took."""

    position: int
    """0-based place of the entry in its corpus."""
    entry_id: EntryId
    output: str | None
    """None where the entry failed."""
    statistics: bytes
    """Packed statistics of every metric (``scoring.core.scorer.unpack``)."""
    headline: float | None
    exact: bool
    second: float | None
    """What the run's task keeps of this entry to sort by (``scoring.core.columns``); derived from statistics."""
    error_class: ErrorClass | None = None
    error: str | None = None
    latency_seconds: float | None = None
    """Sum over the entry's calls, waiting left out; None where nothing was called."""
    cached: bool = False
    """True where every call was answered from the cache; left out of latency figures (M4)."""
    batch_size: int = 1
    """How many entries shared the call: its latency is theirs, its tokens and cost are separated among them."""
    attempts: int = 1
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    cost_usd: float | None = None
    """None: unknown (M5). What the output cost when it was made, also where it came from the cache."""
    spent_usd: float | None = None
    """What this run paid for it: 0 where it came from the cache."""
    finished_at: float = 0.0
    """Unix time."""
    third: float | None = None
    """Of translations: 1 where equal to the reference or one of its variants; None without variants."""

    raw: str | None = None
    """The method's first answer where its own gates or repairs changed it; None where they did not."""

    @property
    def kept(self) -> tuple[float | None, bool, float | None, float | None]:
        """The values that the task keeps, as ``Columns.told`` reads them."""
        return (self.headline, self.exact, self.second, self.third)

    @property
    def failed(self) -> bool:
        """True where there is no output."""
        return self.error_class is not None

    @property
    def total_tokens(self) -> int | None:
        """Prompt and completion tokens, None where the method counts none."""
        if self.prompt_tokens is None and self.completion_tokens is None:
            return None
        return (self.prompt_tokens or 0) + (self.completion_tokens or 0)


@dataclass(frozen=True, slots=True)
class Prediction:
    """One entry's output on its way to be scored and stored."""

    position: int
    entry: Entry
    output: Output
    attempts: tuple[Attempt, ...] = ()
    latency_seconds: float | None = None
    cached: bool = False
    batch_size: int = 1
    usage: Usage | None = None
    cost_usd: float | None = None
    spent_usd: float | None = None
    finished_at: float = 0.0


def shares(usage: Usage | None, entries: int) -> list[Usage | None]:
    """Divide a call's tokens among its entries; whole numbers that add up to the call's own."""
    if usage is None:
        return [None] * entries
    parts = [
        _part(count, entries)
        for count in (
            usage.prompt_tokens,
            usage.completion_tokens,
            usage.reasoning_tokens,
            usage.cached_tokens,
        )
    ]
    return [Usage(*numbers) for numbers in zip(*parts, strict=True)]


def _part(count: int, entries: int) -> Sequence[int]:
    whole, rest = divmod(count, entries)
    return [whole + (place < rest) for place in range(entries)]
