"""One byte form for hashes, so that two programs that agree on a card agree on its seal (DESIGN C2)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain
from json.encoder import encode_basestring
from types import NoneType
from typing import Any

import rfc8785

from corpora.files.decode import sha256_of
from corpora.files.json_types import JsonObject
from harness.core.failures import UsageError

_SAFE_INTEGER = 2**53 - 1


def canonical_bytes(value: Any) -> bytes:
    """Return the RFC 8785 bytes of a JSON value.

    Raises UsageError for what that form cannot hold: NaN, infinity, whole numbers beyond ±(2^53 - 1),
    half surrogate pairs, nesting beyond the interpreter's depth.
    """
    try:
        # Write plain values, and leave all others to the library.
        try:
            return _WRITERS[type(value)](value).encode()
        except (KeyError, TypeError, AttributeError, UnicodeEncodeError):
            return rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, UnicodeEncodeError) as error:
        reason = "it holds text with half a surrogate pair, or a key that is no text"
        if isinstance(error, rfc8785.IntegerDomainError):
            reason = "it holds a whole number beyond ±(2^53 - 1); write it as a string"
        elif isinstance(error, rfc8785.FloatDomainError):
            reason = "it holds a number that is not finite; write null"
        raise UsageError(f"This cannot be written as canonical JSON (RFC 8785): {reason}.") from error
    except RecursionError:
        raise UsageError("This is nested too deeply to be written as canonical JSON.") from None


class StreamedArray:
    """A JSON array whose items are made each time they are read, so that not all are held at once."""

    def __init__(self, items: Callable[[], Iterable[Any]], length: int) -> None:
        self._items, self._length = items, length

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items())


def canonical_pieces(value: Any) -> Iterator[bytes]:
    """Yield the RFC 8785 bytes of a JSON value, of an object member by member and of the arrays in it item by item.

    Arrays may be streamed. Raises UsageError as ``canonical_bytes`` does, perhaps after some pieces.
    """
    try:
        members = _order(tuple(value)) if type(value) is dict else []
    except (AttributeError, UnicodeEncodeError):
        members = []
    if members:
        yield from _pieces(value, members, canonical_bytes, ",")
    else:
        yield canonical_bytes(value)


def _pieces(
    value: Mapping[str, Any], members: Iterable[tuple[str, str]], write: Callable[[Any], bytes], comma: str
) -> Iterator[bytes]:
    """Yield the bytes of an object's members, each with its name as it is written."""
    before = "{"
    for key, name in members:
        yield f"{before}{name}".encode()
        before = comma
        if isinstance(value[key], list | StreamedArray):
            between = "["
            for item in value[key]:
                yield between.encode()
                yield write(item)
                between = comma
            yield b"[]" if between == "[" else b"]"
        else:
            yield write(value[key])
    yield b"}"


def _object(value: JsonObject) -> str:
    members = [name + _WRITERS[type(value[key])](value[key]) for key, name in _order(tuple(value))]
    return "{" + ",".join(members) + "}"


@lru_cache(maxsize=256)
def _order(keys: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return keys in the order of their UTF-16 form, and each as it is written; rows have the same keys."""
    ordered = sorted(keys, key=lambda key: key.encode("utf-16-be"))
    return [(key, f"{encode_basestring(key)}:") for key in ordered]


def _array(value: list[Any]) -> str:
    return "[" + ",".join([_WRITERS[type(item)](item) for item in value]) + "]"


def _whole(value: int) -> str:
    return str(value) if abs(value) <= _SAFE_INTEGER else rfc8785.dumps(value).decode()


@lru_cache(maxsize=256)  # 0, 1 and 100: most numbers of rows come once
def _fraction(value: float) -> str:
    """Write a number as ECMAScript does; Python agrees with it where neither needs an exponent."""
    if value.is_integer():
        return _whole(int(value)) if abs(value) <= _SAFE_INTEGER else rfc8785.dumps(value).decode()
    text = repr(value)
    return text if text.strip("-.0123456789") == "" else rfc8785.dumps(value).decode()


_WRITERS: dict[type, Callable[[Any], str]] = {
    dict: _object,
    list: _array,
    str: encode_basestring,
    int: _whole,
    float: _fraction,
    bool: lambda value: "true" if value else "false",
    NoneType: lambda _: "null",
}


def sorted_key_bytes(value: Any) -> bytes:
    """Return the bytes that older cards were sealed over; raises ValueError where there are none."""
    try:
        text = json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return text.encode("utf-8")


def canonical_sha256(value: Any) -> str:
    """Return the SHA-256, in hexadecimal, of a value's canonical bytes."""
    return sha256_of(canonical_pieces(value))


def sorted_key_sha256(value: JsonObject) -> str:
    """Return the SHA-256, in hexadecimal, of an object's bytes in the older form; its arrays may be streamed."""
    names = ((key, f"{json.dumps(key, ensure_ascii=False)}: ") for key in sorted(value))
    return sha256_of(chain([b"" if value else b"{"], _pieces(value, names, sorted_key_bytes, ", ")))
