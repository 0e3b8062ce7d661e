"""One call to an endpoint: the request, the reply, and who carries it.

A method builds a Request and awaits ``calls.send``. Cache, budget, rate, retries and the record of
attempts are the carrier's business, so no method repeats them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from operator import add, attrgetter
from typing import Any, Final, Protocol

from corpora.files.json_types import JsonObject


@dataclass(frozen=True, slots=True)
class StatedUsage:
    """Tokens of an entry as far as its row states them; None: not counted."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Usage(StatedUsage):
    """Tokens of a call, each counted once (scoring-specification §6.1)."""

    prompt_tokens: int = 0
    """All input tokens, those read from or written to the provider's cache included."""
    completion_tokens: int = 0
    """All output tokens, reasoning included."""
    reasoning_tokens: int = 0
    """The part of completion_tokens spent on reasoning."""
    cached_tokens: int = 0
    """The part of prompt_tokens read from the provider's cache."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(*map(add, token_counts(self), token_counts(other)))


TOKENS: Final = tuple(field.name for field in fields(Usage))
"""The kinds of tokens: columns of ``results`` and fields of cards have these names."""
token_counts: Final = attrgetter(*TOKENS)
"""Returns the counts of a usage; ``astuple`` copies each of them, which four times an entry is felt."""


@dataclass(frozen=True, slots=True)
class Price:
    """What a model or service charges, in US dollars; from the dated price table."""

    input_per_million: float = 0.0
    output_per_million: float = 0.0
    cached_input_per_million: float | None = None  # None: cached input costs as much as other input
    per_million_characters: float = 0.0  # For translation services that charge by source character
    source: str = ""  # Table and date the price comes from

    def __post_init__(self) -> None:
        """Refuse what is no price: a negative one would let a budget grow."""
        rates = (
            self.input_per_million,
            self.output_per_million,
            self.cached_input_per_million or 0.0,
            self.per_million_characters,
        )
        if not all(math.isfinite(rate) and rate >= 0 for rate in rates):
            raise ValueError("A price is made of finite numbers of at least 0.")

    def cost(self, usage: Usage, characters: int = 0) -> float:
        """Return the cost of a finished call in US dollars."""
        cached_rate = self.input_per_million if self.cached_input_per_million is None else self.cached_input_per_million
        return (
            (usage.prompt_tokens - usage.cached_tokens) * self.input_per_million
            + usage.cached_tokens * cached_rate
            + usage.completion_tokens * self.output_per_million
            + characters * self.per_million_characters
        ) / 1e6


class Ending(StrEnum):
    """How a model's answer ended."""

    WHOLE = "whole"
    CUT = "cut"
    """At a limit of output or context; asking again would be cut again."""
    FILTERED = "filtered"
    """By a filter, or refused; asking again would be filtered again."""
    BROKEN = "broken"
    """By a fault of the server; asking again may help."""


_GOOD_ENDS: Final = frozenset(
    {"", "null", "none", "stop", "eos", "eostoken", "eosfound", "endturn", "endofturn", "endid", "end", "endoftext", "stopsequence",
     "stopsequences", "stopword", "stopwords", "stoptoken", "stopstring", "stopstringfound", "stopcriteria", "complete",
     "completed", "finish", "finished", "done", "normal", "toolcall", "toolcalls", "tooluse", "functioncall",
     "functioncalls"}
)  # fmt: skip
"""Finish reasons of a whole answer, in letters and digits alone: a closed list, so that an unknown one is not an answer."""

_LIMITS: Final = (
    "length", "token", "maxlen", "maxoutput", "maxcontext", "contextwindow", "contextlimit", "errorlimit", "truncat",
    "incomplete", "predict", "outputlimit",
)  # fmt: skip
"""Parts of a finish reason that names a limit of output or context."""

_FILTERS: Final = (
    "filter", "safety", "refus", "recitation", "blocklist", "blocked", "prohibit", "sensitive", "toxic", "guardrail",
    "spii", "moderat", "policy", "violation", "inspection", "copyright", "language", "censor", "armor", "risk",
)  # fmt: skip
"""Parts of a finish reason that names a filter or a refusal."""


def ending_of(finish_reason: str | None) -> Ending:
    """Return how an answer ended by the finish reason that the endpoint gives, None where it gives none.

    Case, spaces, hyphens and underscores make no difference, nor does a prefix such as ``FINISH_REASON_``.
    """
    stated = (finish_reason or "").strip()
    letters = "".join(filter(str.isalnum, stated.casefold())) or stated
    reason = letters.removeprefix("finish").removeprefix("reason") or letters
    if {letters, reason} & _GOOD_ENDS:
        return Ending.WHOLE
    if any(part in reason for part in _FILTERS):
        return Ending.FILTERED
    return Ending.CUT if any(part in reason for part in _LIMITS) else Ending.BROKEN


@dataclass(frozen=True, slots=True)
class Reply:
    """What an endpoint answered, in one shape for all of them."""

    text: str
    usage: Usage | None = None
    """None where the endpoint does not count tokens."""
    model_id: str | None = None
    """The model that the endpoint says it used."""
    finish_reason: str | None = None
    reported_cost_usd: float | None = None
    tool_calls: tuple[JsonObject, ...] = ()
    """OpenAI-shaped tool calls that the model asks for."""

    @property
    def ending(self) -> Ending:
        """How the answer ended."""
        return ending_of(self.finish_reason)

    @property
    def complete(self) -> bool:
        """False for an empty, cut, filtered or broken answer, which costs money but is not an answer."""
        whole = self.ending is Ending.WHOLE
        return whole and bool(self.text.strip() or self.tool_calls)


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP call. Only provider, url, body and replicate decide what the answer is: they are the cache key."""

    provider: str
    url: str
    body: Mapping[str, Any] | Sequence[Any]
    """JSON body, an object or (Microsoft) a list; never holds a key."""
    read: Callable[[Any], Reply]
    """Turns the decoded JSON of a 2xx reply into a Reply; raises CallError where it cannot."""
    accept: Callable[[Reply], bool] = attrgetter("complete")
    """Tells whether a reply answers the question, so that it may be given again to the same one: only the
    method knows what becomes a failure, and failures are never cached (M3)."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """May hold keys: never hashed, stored or shown."""
    body_secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Keys of services that want them inside the body: joined to it on the wire only, never hashed,
    stored or shown."""
    price: Price | None = None
    """None: unknown."""
    most_completion_tokens: int | None = None
    """Upper bound of output tokens that the body asks for; None where the endpoint charges none."""
    characters: int = 0
    """Source characters that a translation service charges for."""
    replicate: int = 0
    """Which of several independent answers to the same question this is."""
    cacheable: bool = True
    """False: nothing of it is kept outside the run, as of each secret entry, nor what an endpoint says that refuses it."""


class Calls(Protocol):
    """Carries the calls of one translate() and keeps their record."""

    async def send(self, request: Request) -> Reply:
        """Carry one call, with cache, budget and retries; raises CallError when it finally failed."""
        ...
