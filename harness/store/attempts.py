"""What a row keeps of each try: packed in one value, and the words in it apart where they are to be sealed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgpack

from corpora.files.problems import StoredValueError
from harness.core.failures import ErrorClass
from harness.method.method import Attempt
from harness.store.file.trouble import of_kind, stored_word, unpacked_message


def pack_attempts(attempts: Sequence[Attempt]) -> bytes | None:
    """Return the attempts as a trace; None where there are none."""
    if not attempts:
        return None
    packed: bytes = msgpack.packb([_fields(attempt) for attempt in attempts])
    return packed


def _fields(attempt: Attempt) -> list[object]:
    """Return an attempt's fields without the empty ones at the end, which most attempts have."""
    fields: list[object] = [
        attempt.reply_key,
        attempt.status,
        attempt.latency_seconds,
        attempt.waited_seconds or None,
        attempt.cached or None,
        attempt.error_class,
        attempt.error,
        attempt.note,
    ]
    while fields and fields[-1] is None:
        fields.pop()
    return fields


def unpack_attempts(packed: bytes) -> list[Attempt]:
    """Read the attempts out of a row's trace; StoredValueError where it is none."""
    return [_attempt(*fields) for fields in tries_in(packed)]


_NUMBER = int | float
_KINDS: tuple[Any, ...] = (bytes, int, _NUMBER, _NUMBER, bool, str, str, str)
"""Types of the fields of an attempt, each of which may be absent."""


def tries_in(packed: bytes) -> list[list[Any]]:
    """Return the fields of each attempt in a trace, without those at the end that are absent."""
    tries = of_kind(unpacked_message(packed), list)
    for attempt in tries:
        places = zip(of_kind(attempt, list), _KINDS, strict=False)
        sound = all(value is None or isinstance(value, kind) for value, kind in places)
        if len(attempt) > len(_KINDS) or not sound:
            raise StoredValueError
    return tries


def _attempt(
    key: bytes | None = None,
    status: int | None = None,
    latency: float | None = None,
    waited: float | None = None,
    cached: bool | None = None,
    error_class: str | None = None,
    error: str | None = None,
    note: str | None = None,
) -> Attempt:
    kind = None if error_class is None else stored_word(error_class, ErrorClass)
    return Attempt(key, status, latency, waited or 0.0, bool(cached), kind, error, note)


def rate_limited(trace: bytes | None) -> int:
    """Count the tries that were answered with 429."""
    tries = [] if trace is None else tries_in(trace)
    return sum((attempt[1:2] or [None])[0] == 429 for attempt in tries)


ReviewDescription = Sequence[Sequence[str | None]]
"""Error and note of each attempt."""


def said_in(attempts: Sequence[Attempt]) -> ReviewDescription:
    """Return the words in some attempts, which may quote a text."""
    return [[attempt.error, attempt.note] for attempt in attempts]


def unsaid(attempts: Sequence[Attempt]) -> list[Attempt]:
    """Return attempts without their words; a note that is there is empty."""
    return [
        replace(attempt, error=None, note=None if attempt.note is None else "")
        for attempt in attempts
    ]


def said_again(attempts: Sequence[Attempt], said: ReviewDescription) -> list[Attempt]:
    """Restore the words that ``said_in`` took out; StoredValueError where they are of others."""
    if len(attempts) != len(said):
        raise StoredValueError
    return [
        replace(attempt, error=error, note=note)
        for attempt, (error, note) in zip(attempts, said, strict=True)
    ]
