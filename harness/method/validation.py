"""What a method gave back, brought into the shape that the rest of the run relies on.

A method may be anybody's code: it may give too few outputs, something else than outputs, text that no
file can hold, or quote a secret entry in its words.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from corpora.text import MOST_STACKED, stacked
from harness.calls import Reply, Usage
from harness.failures import CallError, ErrorClass, Transient
from harness.method import Output, Recorded
from harness.store.texts import storable
from harness.usage import MOST

MOST_WORDS = 200
"""Characters of an exception's message that are kept."""


NO_SOURCE = Output(
    None,
    ErrorClass.NO_SOURCE,
    "The corpus has no source text for this entry; the method was not asked.",
    recorded=Recorded(cost_usd=0.0),
)
"""For an entry that cannot be put to a method; it counts as an empty output in every denominator (DESIGN M2)."""


def sound(outputs: object, expected: int) -> list[Output]:
    """Give one well-formed output for each entry; a ``method`` error where the method gave none."""
    if not isinstance(outputs, Sequence):
        return [_wrong(f"The method gave {type(outputs).__name__}, not outputs.")] * expected
    if len(outputs) != expected:
        words = f"The method gave {len(outputs)} outputs for {expected} entries."
        return [_wrong(words)] * expected
    return [_output(each) for each in outputs]


def _output(output: object) -> Output:
    if not isinstance(output, Output):
        return _wrong(f"The method gave {type(output).__name__}, not an output.")
    try:
        recorded = None if output.recorded is None else _recorded(output.recorded)
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
    """Give the failure's kind; one that is not of ours is the method's own."""
    try:
        return ErrorClass(given)
    except ValueError:
        return ErrorClass.METHOD


def _recorded(recorded: Recorded) -> Recorded:
    """Give the record in plain numbers; raises where one is none."""
    usage = None if recorded.usage is None else _usage(recorded.usage)
    return replace(
        recorded,
        latency_seconds=_amount(recorded.latency_seconds),
        usage=usage,
        cost_usd=_amount(recorded.cost_usd),
    )


def _usage(usage: Usage) -> Usage:
    return Usage(
        _count(usage.prompt_tokens),
        _count(usage.completion_tokens),
        _count(usage.reasoning_tokens),
        _count(usage.cached_tokens),
    )


def _count(number: int) -> int:
    count = operator.index(number)
    if isinstance(number, bool) or not 0 <= count <= MOST:
        raise ValueError
    return count


def _amount(number: float | None) -> float | None:
    if number is None:
        return None
    if isinstance(number, bool | str | bytes) or not 0 <= (amount := float(number)) <= MOST:
        raise ValueError
    return amount


def sound_reply(reply: object) -> Reply:
    """Give a reply whose numbers are numbers; one that cannot be understood says nothing.

    Raises Transient where it is no reply at all, as a method's own reader may give.
    """
    if not isinstance(reply, Reply) or not isinstance(reply.text, str):
        raise Transient(ErrorClass.MALFORMED, "The reply has not the expected shape.")
    try:
        usage = None if reply.usage is None else _usage(reply.usage)
    except (TypeError, ValueError, AttributeError):
        usage = None
    try:
        cost = _amount(reply.reported_cost_usd)
    except (TypeError, ValueError, OverflowError):
        cost = None
    return replace(reply, usage=usage, reported_cost_usd=cost)


def _wrong(words: str) -> Output:
    return Output(None, ErrorClass.METHOD, words)


def raised(error: BaseException) -> Output:
    """Name what a method raised."""
    try:
        said = " ".join(str(error).split())[:MOST_WORDS]
    except Exception:  # noqa: BLE001  the exception's own code may fail too
        said = ""
    name = type(error).__name__
    return _wrong(storable(f"The method raised {name}" + (f": {said}" if said else ".")))


def failed(failure: CallError) -> Output:
    """Name why a call failed for good."""
    try:
        said = storable(str(failure))
    except Exception:  # noqa: BLE001  as above
        said = ""
    return Output(None, _error_class(failure.error_class), said or "The call failed.")


def wordless(output: Output) -> Output:
    """Take a method's own words off the output of a secret entry, because they may quote it."""
    if output.error_class is None:
        return replace(output, notes=())
    return Output(
        None, output.error_class, f"The method failed ({output.error_class}).", (), output.recorded
    )
