"""What a translation method is (benchmark-specification §1.2, §9.6), and what is stored of what it gave.

A Result is one entry of a run; every total of a run is derived from these rows. Of each call it has the share that
falls to the entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict

from corpora.model.entry import Entry, EntryId
from corpora.text.comparison import MOST_STACKED, stacked
from harness.core.calls import Calls, StatedUsage, Usage, token_counts
from harness.core.failures import CallError, ErrorClass
from harness.core.storage import storable
from harness.endpoint.reply import sound_amount, sound_usage


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

    latency_seconds: float | None = None  # None: unknown, which is not zero
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


_Kept = tuple[float | None, bool, float | None, float | None]


@dataclass(frozen=True, slots=True)
class Result:
    """One entry's outcome: what came out, how it scored, what it cost and how long it took.

    The run loop makes it without scores, the recorder adds them, a row of the store holds both.
    """

    position: int
    """0-based place of the entry in its corpus."""
    entry_id: EntryId
    output: str | None
    """None where the entry failed."""
    statistics: bytes = b""
    """Packed statistics of every metric (``scoring.core.scorer.unpack``); empty until it is scored."""
    headline: float | None = None
    exact: bool = False
    second: float | None = None
    """What the run's task keeps of this entry to sort by (``scoring.core.specification``); derived from statistics."""
    error_class: ErrorClass | None = None
    error: str | None = None
    latency_seconds: float | None = None
    """Sum over the entry's calls, waiting left out; None where nothing was called."""
    cached: bool = False
    """True where every call was answered from the cache; left out of latency figures (M4)."""
    batch_size: int = 1
    """How many entries shared the call: its latency is theirs, its tokens and cost are separated among them."""
    attempts: int = 1
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
    usage: StatedUsage | None = None
    """None: not counted; a row from elsewhere may state some parts only."""
    trace: tuple[Attempt, ...] = ()
    """On its way into the store; ``harness.store.results.read_attempts`` reads it back."""

    @property
    def kept(self) -> _Kept:
        """The values that the task keeps, as ``Columns.told`` reads them."""
        return (self.headline, self.exact, self.second, self.third)

    def with_kept(self, kept: _Kept, **more: Any) -> Result:
        """Return it with other values that the task keeps, and other fields."""
        headline, exact, second, third = kept
        return replace(self, headline=headline, exact=exact, second=second, third=third, **more)

    @property
    def failed(self) -> bool:
        """True where there is no output."""
        return self.error_class is not None

    @property
    def prompt_tokens(self) -> int | None:
        """Tokens put in, None where they were not counted."""
        return None if self.usage is None else self.usage.prompt_tokens

    @property
    def completion_tokens(self) -> int | None:
        """Tokens that came out, None where they were not counted."""
        return None if self.usage is None else self.usage.completion_tokens

    @property
    def total_tokens(self) -> int | None:
        """Prompt and completion tokens, None where one of them was not counted."""
        counts = (self.prompt_tokens, self.completion_tokens)
        return None if None in counts else sum(filter(None, counts))


def shares(usage: Usage | None, entries: int) -> list[Usage | None]:
    """Divide a call's tokens among its entries; whole numbers that add up to the call's own.

    10 tokens of 4 entries are 3, 3, 2 and 2: the first ``10 % 4`` entries take one of the rest each.
    """
    if usage is None:
        return [None] * entries
    counts = token_counts(usage)
    return [Usage(*(count // entries + (place < count % entries) for count in counts)) for place in range(entries)]


# ---- What a method gave back, brought into the shape that the rest of the run relies on ----
#
# A method may be anybody's code: it may give too few outputs, something else than outputs, text
# that no file can hold, or quote a secret entry in its words.

MOST_WORDS = 200  # Characters of an exception's message that are kept


NO_SOURCE = Output(
    None,
    ErrorClass.NO_SOURCE,
    "The corpus has no source text for this entry; the method was not asked.",
    recorded=Recorded(cost_usd=0.0),
)
"""For an entry that cannot be put to a method; it counts as an empty output in every denominator (DESIGN M2)."""


def sound(outputs: object, expected: int) -> list[Output]:
    """Return one well-formed output for each entry; a ``method`` error where the method gave none."""
    if not isinstance(outputs, Sequence):
        return [_wrong(f"The method gave {type(outputs).__name__}, not outputs.")] * expected
    if len(outputs) != expected:
        words = f"The method gave {len(outputs)} outputs for {expected} entries."
        return [_wrong(words)] * expected
    return [_output(output) for output in outputs]


def _output(output: object) -> Output:
    if not isinstance(output, Output):
        return _wrong(f"The method gave {type(output).__name__}, not an output.")
    try:
        recorded = output.recorded
        if recorded is not None:  # in plain numbers; raises where one is none
            recorded = replace(
                recorded,
                latency_seconds=sound_amount(recorded.latency_seconds),
                usage=None if recorded.usage is None else sound_usage(recorded.usage),
                cost_usd=sound_amount(recorded.cost_usd),
            )
    except (TypeError, ValueError, OverflowError, AttributeError):
        return _wrong("The method's record of latency, tokens or cost is none.")
    try:
        notes = tuple(storable(str(note)) for note in output.notes)
        error = storable(str(output.error or ""))
    except Exception:  # noqa: BLE001  anything may be where the words should be
        return _wrong("The method gave an output whose words cannot be read.")
    if output.error_class is not None:
        kind = _error_class(output.error_class)
        return Output(None, kind, error, notes, recorded)
    return _worded(output, notes, recorded)


def _worded(output: Output, notes: tuple[str, ...], recorded: Recorded | None) -> Output:
    if not isinstance(output.text, str):
        return _wrong("The method gave neither a text nor a reason.")
    if stacked(output.text):
        words = f"The output has more than {MOST_STACKED} combining marks in a row."
        return Output(None, ErrorClass.MALFORMED, words, notes, recorded)
    raw = storable(output.raw) if isinstance(output.raw, str) else None
    return Output(storable(output.text), notes=notes, recorded=recorded, raw=raw)


def _error_class(given: Any) -> ErrorClass:
    """Return the failure's kind; one that is not of ours is the method's own."""
    try:
        return ErrorClass(given)
    except ValueError:
        return ErrorClass.METHOD


def _wrong(words: str) -> Output:
    return Output(None, ErrorClass.METHOD, words)


def raised(error: BaseException) -> Output:
    """Name what a method raised."""
    try:
        message = " ".join(str(error).split())[:MOST_WORDS]
    except Exception:  # noqa: BLE001  the exception's own code may fail too
        message = ""
    name = type(error).__name__
    return _wrong(storable(f"The method raised {name}" + (f": {message}" if message else ".")))


def failed(failure: CallError) -> Output:
    """Name why a call failed for good."""
    try:
        message = storable(str(failure))
    except Exception:  # noqa: BLE001  as above
        message = ""
    return Output(None, _error_class(failure.error_class), message or "The call failed.")


def wordless(output: Output) -> Output:
    """Remove a method's own words from the output of a secret entry, because they may quote it."""
    if output.error_class is None:
        return replace(output, notes=())
    words = f"The method failed ({output.error_class})."
    return Output(None, output.error_class, words, (), output.recorded)
