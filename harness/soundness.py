"""What a method gave back, brought into the shape that the rest of the run relies on.

A method may be anybody's code: it may give too few outputs, something else than outputs, text that no
file can hold, or quote a secret entry in its words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.failures import ErrorClass
from harness.method import Output
from harness.store.texts import storable

MOST_WORDS = 200
"""Characters of an exception's message that are kept."""


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
    notes = tuple(storable(str(note)) for note in output.notes)
    if output.error_class is not None:
        error = storable(output.error or "")
        return replace(output, text=None, error=error, notes=notes)
    if not isinstance(output.text, str):
        return _wrong("The method gave neither a text nor a reason.")
    return replace(output, text=storable(output.text), notes=notes)


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


def wordless(output: Output) -> Output:
    """Take a method's own words off the output of a secret entry, because they may quote it."""
    if output.error_class is None:
        return replace(output, notes=())
    return Output(
        None, output.error_class, f"The method failed ({output.error_class}).", (), output.recorded
    )
