"""A reply whose numbers are numbers, whoever read it: a method may bring a reader of its own."""

from __future__ import annotations

import operator
from dataclasses import replace

from harness.core.calls import Reply, Usage
from harness.core.failures import ErrorClass, Transient
from harness.endpoint.usage import MOST


def sound_usage(usage: Usage) -> Usage:
    """Return the usage in whole numbers; raises where one is none."""
    return Usage(
        _sound_count(usage.prompt_tokens),
        _sound_count(usage.completion_tokens),
        _sound_count(usage.reasoning_tokens),
        _sound_count(usage.cached_tokens),
    )


def _sound_count(number: int) -> int:
    count = operator.index(number)
    if isinstance(number, bool) or not 0 <= count <= MOST:
        raise ValueError
    return count


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
