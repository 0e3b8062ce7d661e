"""Reads the token counts and the cost that a provider reports, each token once (scoring-specification §6.1).

Providers disagree on what is inside what. Cached tokens are part of the prompt for OpenAI, Gemini and
DeepSeek, but next to it for Anthropic; reasoning is part of the completion for OpenAI, but next to it for
Gemini and Grok. Reading one shape as another charges a token twice or not at all.

A reply whose numbers are numbers, anyone who read it: a method may bring its own reader.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from corpora.files.json_types import JsonObject
from harness.core.calls import TOKENS, Reply, Usage
from harness.core.failures import ErrorClass, Transient

MOST = 1e12
"""No call has more tokens or costs more than this: a larger number, or none, says nothing."""


def usage(reply: Any) -> Usage | None:
    """Read the usage out of a decoded reply; None where it reports none that can be understood."""
    if not isinstance(reply, Mapping):
        return None
    if isinstance(native := reply.get("usageMetadata"), Mapping):
        # Read Gemini's own shape: thoughts are next to the candidates, tool prompts beside the
        # prompt.
        prompt = _count(native.get("promptTokenCount"))
        if prompt is None:
            return None
        thoughts = _count(native.get("thoughtsTokenCount")) or 0
        return _bounded(
            prompt + (_count(native.get("toolUsePromptTokenCount")) or 0),
            (_count(native.get("candidatesTokenCount")) or 0) + thoughts,
            thoughts,
            _count(native.get("cachedContentTokenCount")) or 0,
        )
    if isinstance(block := reply.get("usage"), Mapping):
        return _openai(block) if "prompt_tokens" in block else _input_output(block)
    # Ollama's own shape leaves the prompt out when its cache held all of it.
    prompt, completion = _count(reply.get("prompt_eval_count")), _count(reply.get("eval_count"))
    return None if prompt is None and completion is None else _bounded(prompt or 0, completion or 0, 0, 0)


def reported_cost(reply: Any) -> float | None:
    """Read the cost in US dollars that the provider itself reports (OpenRouter); None where it does not.

    With a key of one's own at the upstream provider, OpenRouter reports its fee and the upstream
    cost apart: together they are what the call cost.
    """
    block = reply.get("usage") if isinstance(reply, Mapping) else None
    if not isinstance(block, Mapping):
        return None
    cost = _amount(block.get("cost"))
    upstream = _amount(_details(block, "cost_details").get("upstream_inference_cost"))
    if block.get("is_byok") is True and upstream is not None:
        return (cost or 0.0) + upstream
    return cost


def _openai(block: JsonObject) -> Usage | None:
    """Read the chat-completions shape: OpenAI, OpenRouter, DeepSeek, vLLM, llama.cpp, Ollama, Gemini.

    Where the total exceeds prompt and completion, the difference is reasoning that the completion
    leaves out (Gemini's compatible endpoint, Grok): it is output and is paid for as such.
    """
    prompt, completion = _count(block.get("prompt_tokens")), _count(block.get("completion_tokens"))
    if prompt is None:
        return None
    completion = completion or 0
    hidden = max(0, (_count(block.get("total_tokens")) or 0) - prompt - completion)
    cached = _count(_details(block, "prompt_tokens_details").get("cached_tokens"))
    if cached is None:
        cached = _count(block.get("prompt_cache_hit_tokens"))
    reasoning = _count(_details(block, "completion_tokens_details").get("reasoning_tokens"))
    return _bounded(prompt, completion + hidden, max(reasoning or 0, hidden), cached or 0)


def _input_output(block: JsonObject) -> Usage | None:
    """Read the shape with input and output: Anthropic's own (caches beside the input), or OpenAI's
    responses (caches inside it)."""
    read, written = _count(block.get("input_tokens")), _count(block.get("output_tokens"))
    if read is None and written is None:
        return None
    inside = _count(_details(block, "input_tokens_details").get("cached_tokens"))
    beside = _count(block.get("cache_read_input_tokens")) or 0
    created = _count(block.get("cache_creation_input_tokens")) or 0
    reasoning = _count(_details(block, "output_tokens_details").get("reasoning_tokens")) or 0
    cached = beside if inside is None else inside
    return _bounded((read or 0) + beside + created, written or 0, reasoning, cached)


def _bounded(prompt: int, completion: int, reasoning: int, cached: int) -> Usage:
    return Usage(prompt, completion, min(reasoning, completion), min(cached, prompt))


def _details(block: JsonObject, name: str) -> JsonObject:
    """Return a nested block; vLLM writes null, others leave it out."""
    nested = block.get(name)
    return nested if isinstance(nested, Mapping) else {}


def _count(value: Any) -> int | None:
    """Return a token count, or None where the value is none (absent, negative, a bool, a text)."""
    amount = _amount(value)
    return None if amount is None else int(amount)


def _amount(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= MOST else None


def sound_usage(usage: Usage) -> Usage:
    """Return the usage in whole numbers; raises where one is none."""
    numbers = [getattr(usage, name) for name in TOKENS]
    counts = [operator.index(number) for number in numbers]
    sound = all(0 <= count <= MOST for count in counts)
    if any(isinstance(number, bool) for number in numbers) or not sound:
        raise ValueError
    return Usage(*counts)


def sound_amount(number: float | None) -> float | None:
    """Return the amount as a plain number, None where there is none; raises where it cannot be one."""
    if number is None:
        return None
    if isinstance(number, bool | str | bytes) or not 0 <= (amount := float(number)) <= MOST:
        raise ValueError
    return amount


def sound_reply(reply: object) -> Reply:
    """Return a reply whose numbers are numbers; one that cannot be understood says nothing.

    Raises Transient where it is no reply at all, as a method's own reader may give.
    """
    if not isinstance(reply, Reply) or not isinstance(reply.text, str):
        raise Transient(ErrorClass.MALFORMED, "The reply has not the expected shape.")
    try:
        usage = None if reply.usage is None else sound_usage(reply.usage)
    except (TypeError, ValueError, AttributeError):
        usage = None
    try:
        cost = sound_amount(reply.reported_cost_usd)
    except (TypeError, ValueError, OverflowError):
        cost = None
    return replace(reply, usage=usage, reported_cost_usd=cost)


# ---- The words of an endpoint's error, whatever key they stand under ----

_KEYS: Final = (
    "message", "msg", "detail", "details", "error", "errors", "error_message", "errormessage", "error_msg",
    "error_description", "description", "title", "reason", "fault", "faultstring", "exception", "metadata", "raw",
)  # fmt: skip
"""Keys under which services state what is wrong, compared in lower case; the first of them comes first."""

_DEEPEST = 6
"""Levels of a reply that are looked into."""

_MOST = 3
"""Errors of one reply that are repeated."""


def error_words(error: Any) -> str:
    """Return what a decoded error states in words, else its JSON; "" if it is empty.

    The words are hostile and may be long: shorten them and show them through the one display function.
    """
    words = stated_words(error)
    if words or not error:
        return words
    return error if isinstance(error, str) else json.dumps(error, ensure_ascii=False)


def stated_words(error: Any) -> str:
    """Return what a decoded error states under a key for it, "" if there is no such key."""
    sentences = dict.fromkeys(islice(_words(error, 0), 4 * _MOST))
    return "; ".join(islice(sentences, _MOST))


def _words(error: Any, depth: int) -> Iterator[str]:
    """Yield the words of an error: its texts under the known keys, or those of the errors in a list."""
    if depth > _DEEPEST:
        return
    if isinstance(error, str):
        yield from _text(error, depth)
    elif isinstance(error, list):
        for one in error[:_MOST]:
            yield from _words(one, depth + 1)
    elif isinstance(error, Mapping):
        fields = {str(key).lower(): value for key, value in error.items()}
        loc = fields.get("loc")  # where a checker of requests (pydantic) names the field
        names = [str(name) for name in loc[:8] if isinstance(name, str | int)] if isinstance(loc, list) else []
        place = f"{'.'.join(names)}: " if names else ""
        for key in _KEYS:
            for words in _words(fields.get(key), depth + 1):
                yield f"{place}{words}"


def _text(words: str, depth: int) -> Iterator[str]:
    """Yield a text, or what it states where a gateway hands on the JSON of the error behind it."""
    text = words.strip()
    if text.startswith(("{", "[")):
        try:
            inner = list(_words(json.loads(text), depth + 1))
        except (ValueError, RecursionError):
            inner = []
        if inner:
            yield from inner
            return
    if text:
        yield text
