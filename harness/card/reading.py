"""Reading a card's bytes: a file from elsewhere is hostile until it has been examined."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Never

from corpora.text.comparison import MOST_STACKED, stacked
from harness.core.failures import UsageError

MOST_BYTES = 256 * 1024 * 1024
"""Largest file that is read; a card of 100,000 entries is about a quarter of it."""

MOST_DEPTH = 64
"""Deepest nesting that is accepted; a card needs six levels."""


def read_card_bytes(path: Path) -> bytes:
    """Return the bytes of a file; raises UsageError where it cannot be read or is too large."""
    from corpora.files.decode import (
        open_regular,
    )  # loads OpenSSL, which a list of runs does without

    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise UsageError(
                f"{path.name}: the file has {size:,} bytes; a run card may have {MOST_BYTES:,}."
            )
        with open_regular(path) as file:
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path.name} cannot be read: {error.strerror}.") from error


def parse_object(data: bytes, name: str) -> dict[str, Any]:
    """Parse the bytes of a card as its JSON object; ``name`` is the file's name in messages.

    Raises UsageError for bytes that are no UTF-8, no JSON or no object, for doubled keys (readers
    would differ on which one counts), numbers that are not finite, half surrogate pairs, and nesting
    beyond MOST_DEPTH.
    """
    value = _parsed(data, name)
    if not isinstance(value, dict):
        raise UsageError(f"{name} holds no JSON object, so it is not a run card.")
    _check_depth(value, name)
    _check_text(value, name)
    return value


def _parsed(data: bytes, name: str) -> Any:
    try:
        return json.loads(
            data.decode("utf-8-sig"),
            object_pairs_hook=_single_keys,
            parse_constant=_refuse_constant,
            parse_float=_finite,
        )
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{name}: byte {error.start + 1} is not UTF-8. Save the file as UTF-8."
        ) from error
    except json.JSONDecodeError as error:
        raise UsageError(
            f"{name}, line {error.lineno}, column {error.colno}: this is not JSON ({error.msg})."
        ) from error
    except RecursionError:
        raise UsageError(f"{name} is nested too deeply to be a run card.") from None
    except ValueError as error:
        endless = "int_max_str_digits" in str(error)  # Python's words are for programmers
        words = "a number has thousands of digits. Write null where it is unknown."
        raise UsageError(f"{name}: {words if endless else error}") from error


def _single_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("an object has the same key twice. Take one of the two out.")
    return fields


def _refuse_constant(name: str) -> Never:
    raise ValueError(f"{name} is no JSON number. Write null where there is no value.")


def _finite(literal: str) -> float:
    number = float(literal)
    if not math.isfinite(number):
        raise ValueError("a number is too large for JSON readers. Write null where it is unknown.")
    return number


def _check_depth(value: dict[str, Any], name: str) -> None:
    level: list[Any] = [value]
    for _ in range(MOST_DEPTH):
        level = [
            child
            for node in level
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, dict | list)
        ]
        if not level:
            return
    raise UsageError(f"{name} is nested deeper than {MOST_DEPTH} levels, so it is not a run card.")


def _check_text(value: dict[str, Any], name: str) -> None:
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UsageError(
            f"{name} holds text with half a surrogate pair (such as \\ud800), which is no character."
        ) from None
    if stacked(text):
        raise UsageError(
            f"{name} holds text with more than {MOST_STACKED} combining marks in a row, which no writing has."
        )


def number(value: object) -> float | None:
    """Return a field of a card that is a finite number, None for anything else; true and false are none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        finite = float(value)
    except OverflowError:
        return None
    return finite if math.isfinite(finite) else None


def block(card: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a field of a card that is an object, an empty one where it is none."""
    field_block = card.get(name)
    return field_block if isinstance(field_block, Mapping) else {}
