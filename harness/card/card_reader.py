"""The JSON object of a card, read out of a file that may be hostile, and too large to be held."""

from __future__ import annotations

import json
import math
import re
from codecs import getincrementaldecoder
from collections.abc import Callable
from typing import Any, BinaryIO, Never

from corpora.files.json_types import Json
from corpora.text.comparison import MOST_STACKED, stacked
from harness.core.failures import UsageError

MOST_BYTES = 256 * 1024 * 1024
"""Largest file that is read as a whole, and largest row of a card that is read row by row."""

MOST_DEPTH = 64  # Deepest nesting that is accepted; a card needs six levels


def _single_keys(pairs: list[tuple[str, Any]]) -> dict[str, Json]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError(_TWICE)
    return fields


def _refuse_constant(name: str) -> Never:
    raise ValueError(f"{name} is no JSON number. Write null where there is no value.")


def _finite(literal: str) -> float:
    number = float(literal)
    if not math.isfinite(number):
        raise ValueError("a number is too large for JSON readers. Write null where it is unknown.")
    return number


_DECODER = json.JSONDecoder(object_pairs_hook=_single_keys, parse_constant=_refuse_constant, parse_float=_finite)


class CardReader:
    """Reads the JSON object of a card member by member, and its rows one by one: only that text is in memory."""

    def __init__(self, file: BinaryIO, name: str, rows: Callable[[], Any]) -> None:
        """``rows`` makes the list to which rows are added."""
        self._file, self._name, self._rows = file, name, rows
        self._decoder = getincrementaldecoder("utf-8-sig")()
        self._bytes = 0
        """How many were read."""
        self._text, self._at = "", 0
        """What was read and is not forgotten, and the place in it."""
        self._line, self._column = 1, 0
        """Where that text begins in the file."""

    def card(self) -> dict[str, Json]:
        """Return the object, all of whose members were examined; raises UsageError as ``reading.parse_object``."""
        if self._next() != "{":
            self._value()
            raise UsageError(f"{self._name} holds no JSON object, so it is not a run card.")
        members: dict[str, Json] = {}
        self._at += 1
        while self._next() != "}" or members:
            if self._next() != '"':
                raise self._wrong("Expecting property name enclosed in double quotes", self._at)
            name = self._examined(self._value(), 0)
            self._expect(":")
            if name in members:
                raise UsageError(f"{self._name}: {_TWICE}")
            as_rows = name == "results" and self._next() == "["
            members[name] = self._array() if as_rows else self._examined(self._value(), MOST_DEPTH - 1)
            if self._next() == "}":
                break
            self._expect(",")
        self._at += 1
        if self._next():
            raise self._wrong("Extra data", self._at)
        return members

    def _array(self) -> Any:
        rows = self._rows()
        self._at += 1
        while self._next() != "]" or len(rows):
            rows.append(self._examined(self._value(), MOST_DEPTH - 2))
            if self._next() == "]":
                break
            self._expect(",")
        self._at += 1
        return rows

    def _value(self) -> Any:
        """Read a value, and as much of the file as it needs."""
        self._next()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if not self._more():
                    raise self._wrong(error.msg, error.pos) from error
            except RecursionError:
                raise UsageError(f"{self._name} is nested too deeply to be a run card.") from None
            except ValueError as error:
                endless = "int_max_str_digits" in str(error)  # Python's words are for programmers
                words = "a number has thousands of digits. Write null where it is unknown."
                raise UsageError(f"{self._name}: {words if endless else error}") from error
            else:
                if end + 2 < len(self._text) or not self._more():  # else a number may go on, as 1e+ does
                    self._at = end
                    return value

    def _next(self) -> str:
        """Return the next sign that is no space, at which the place is then; empty at the end."""
        while True:
            self._at = len(self._text) if (sign := _SIGN.search(self._text, self._at)) is None else sign.start()
            if sign is not None or not self._more():
                return self._text[self._at : self._at + 1]

    def _expect(self, sign: str) -> None:
        if self._next() != sign:
            raise self._wrong(f"Expecting '{sign}' delimiter", self._at)
        self._at += 1

    def _more(self) -> bool:
        """Read on, and forget what is before the place. Return whether there was more."""
        rest = self._text[self._at :]
        if len(rest) > MOST_BYTES:
            raise UsageError(
                f"{self._name} has a part of more than {MOST_BYTES:,} characters, so it is not a run card."
            )
        data = self._file.read(max(TOGETHER, min(len(rest), MOST_BYTES - len(rest))))
        self._bytes += len(data)
        try:
            more = self._decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            place = self._bytes - len(error.object) + error.start + 1
            raise UsageError(f"{self._name}: byte {place} is not UTF-8. Save the file as UTF-8.") from error
        if data:
            self._line, self._column = self._place(self._at)
            self._text, self._at = rest + more, 0
        return bool(data)

    def _place(self, at: int) -> tuple[int, int]:
        """Return the line of a place in the text, from 1, and its column, from 0."""
        lines = self._text.count("\n", 0, at)
        return self._line + lines, at - self._text.rfind("\n", 0, at) - 1 if lines else self._column + at

    def _wrong(self, what: str, at: int) -> UsageError:
        line, column = self._place(at)
        return UsageError(f"{self._name}, line {line}, column {column + 1}: this is not JSON ({what}).")

    def _examined(self, part: Any, most: int) -> Any:
        """Return a part of the card that is nested no deeper than ``most`` and whose texts are characters."""
        level = [part] if isinstance(part, dict | list) else []
        for _ in range(most):
            nodes = (node.values() if isinstance(node, dict) else node for node in level)
            level = [child for node in nodes for child in node if isinstance(child, dict | list)]
        if level:
            words = f"is nested deeper than {MOST_DEPTH} levels, so it is not a run card."
            raise UsageError(f"{self._name} {words}")
        text = json.dumps(part, ensure_ascii=False)
        try:
            text.encode()
        except UnicodeEncodeError:
            raise UsageError(
                f"{self._name} holds text with half a surrogate pair (such as \\ud800), which is no character."
            ) from None
        if stacked(text):
            raise UsageError(
                f"{self._name} holds text with more than {MOST_STACKED} combining marks in a row, which no writing has."
            )
        return part


TOGETHER = 2**20
"""Bytes of a file that are read together."""
_SIGN = re.compile(r"[^ \t\n\r]")
_TWICE = "an object has the same key twice. Take one of the two out."
