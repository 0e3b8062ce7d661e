"""What a method gave back, brought into the shape that the rest of the run relies on.

A method may be anybody's code: it may give too few outputs, something else than outputs, text that no
file can hold, or quote a secret entry in its words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from corpora.text.comparison import MOST_STACKED, stacked
from harness.core.failures import CallError, ErrorClass
from harness.core.storage_problems import storable
from harness.endpoint.usage import sound_amount, sound_usage
from harness.method.method import Output, Recorded

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
    """Return the failure's kind; one that is not of ours is the method's own."""
    try:
        return ErrorClass(given)
    except ValueError:
        return ErrorClass.METHOD


def _recorded(recorded: Recorded) -> Recorded:
    """Return the record in plain numbers; raises where one is none."""
    usage = None if recorded.usage is None else sound_usage(recorded.usage)
    return replace(
        recorded,
        latency_seconds=sound_amount(recorded.latency_seconds),
        usage=usage,
        cost_usd=sound_amount(recorded.cost_usd),
    )


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
    return Output(
        None, output.error_class, f"The method failed ({output.error_class}).", (), output.recorded
    )
