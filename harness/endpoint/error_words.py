"""The words of an endpoint's error, whatever key they stand under."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

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
        place = _place(fields.get("loc"))
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


def _place(place: Any) -> str:
    """Return the field that a checker of requests names (pydantic's ``loc``), "" if it names none."""
    if not isinstance(place, list):
        return ""
    names = ".".join(str(name) for name in place[:8] if isinstance(name, str | int))
    return f"{names}: " if names else ""
