"""Reads JSON strictly, and remembers on which line every entry begins.

The standard decoder lets repeated names, NaN and infinities pass and forgets positions. Here the outer
object is walked by hand and every entry is given to the decoder on its own.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from corpora.files.problems import Findings

_SPACE = re.compile(r"[ \t\r\n]*")
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}\[\]]', re.DOTALL)
DEEPEST = 32
"""Levels of nesting inside an entry or envelope."""


@dataclass(slots=True)
class Document:
    """A decoded JSON text."""

    value: Any
    lines: list[int] = field(default_factory=list)
    """1-based line on which each element of ``entries`` (or of the outer list) begins."""


class Walker:
    """Decodes the values of one text one after the other and counts lines on the way."""

    def __init__(self, text: str, findings: Findings) -> None:
        self.text = text
        self.findings = findings
        self.lines: list[int] = []
        self._slips: list[tuple[str, str]] = []
        self._decoder = json.JSONDecoder(
            object_pairs_hook=self._object, parse_constant=self._constant, parse_float=self._float
        )
        self._line = 1
        self._counted = 0

    def document(self) -> Document:
        """Decode the whole text."""
        start = self._skip(0)
        value: Any
        if self.text.startswith("{", start):
            value, end = self._members(start)
        elif self.text.startswith("[", start):
            value, end = self._elements(start)
        else:
            value, end = self.decode(start)
        if self._skip(end) != len(self.text):
            raise json.JSONDecodeError("Extra data", self.text, self._skip(end))
        return Document(value, self.lines)

    def decode(self, position: int, line: int | None = None, place: int | None = None) -> Any:
        """Decode the value that begins at a position; gives (value, end)."""
        value, end = self._decoder.raw_decode(self.text, position)
        for message, mend in self._slips:
            where = self.line_at(position) if line is None else line
            self.findings.error(message, mend, line=where, entry=place)
        self._slips.clear()
        return value, end

    def only_value(self, line: int, place: int) -> Any:
        """Decode the text as one value of a known line and entry."""
        value, end = self.decode(self._skip(0), line, place)
        if self._skip(end) != len(self.text):
            raise json.JSONDecodeError("Extra data", self.text, end)
        return value

    def line_at(self, position: int) -> int:
        """Return the line of a position that is not before the last one asked for."""
        self._line += self.text.count("\n", self._counted, position)
        self._counted = position
        return self._line

    def _members(self, position: int) -> tuple[dict[str, Any], int]:
        members: dict[str, Any] = {}
        position = self._skip(position + 1)
        if self.text.startswith("}", position):
            return members, position + 1
        while True:
            name, position = self._name(position)
            if name in members:
                self._slips.append(_REPEATED)
            if name == "entries" and self.text.startswith("[", position):
                members[name], position = self._elements(position)
            else:
                members[name], position = self.decode(position)
            position = self._skip(position)
            if self.text.startswith("}", position):
                return members, position + 1
            position = self._expect(",", position)

    def _name(self, position: int) -> tuple[str, int]:
        if not self.text.startswith('"', position):
            raise json.JSONDecodeError("Expecting a name in double quotes", self.text, position)
        name, position = self.decode(position)
        return name, self._expect(":", self._skip(position))

    def _elements(self, position: int) -> tuple[list[Any], int]:
        elements: list[Any] = []
        self.lines = []
        position = self._skip(position + 1)
        if self.text.startswith("]", position):
            return elements, position + 1
        while True:
            line = self.line_at(position)
            value, position = self.decode(position, line, len(elements) + 1)
            elements.append(value)
            self.lines.append(line)
            position = self._skip(position)
            if self.text.startswith("]", position):
                return elements, position + 1
            position = self._expect(",", position)

    def _skip(self, position: int) -> int:
        match = _SPACE.match(self.text, position)
        return match.end() if match else position

    def _expect(self, sign: str, position: int) -> int:
        if not self.text.startswith(sign, position):
            raise json.JSONDecodeError(f"Expecting '{sign}'", self.text, position)
        return self._skip(position + 1)

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) != len(pairs):
            self._slips.append(_REPEATED)
        return members

    def _constant(self, name: str) -> None:
        self._slips.append((f"{name} is not JSON.", "Write a number, or leave the field out."))

    def _float(self, digits: str) -> float:
        number = float(digits)
        if math.isinf(number):
            self._slips.append(("A number is too large.", "Write it as text in quotes."))
        return number


_REPEATED = ("A field name occurs twice in one object.", "Keep one of the two.")


def parse(text: str, findings: Findings) -> Document | None:
    """Decode a JSON text, or note where it is broken and what was still open there."""
    walker = Walker(text, findings)
    try:
        return walker.document()
    except json.JSONDecodeError as error:
        _note_syntax(error, text, findings)
    except RecursionError:
        findings.error("The JSON is nested too deep.", "Keep entries flat.", line=walker.line_at(0))
    except ValueError:
        findings.error("A number has too many digits.", "Write it as text in quotes.")
    return None


def parse_line(text: str, line: int, place: int, findings: Findings) -> Any:
    """Decode one line of a JSONL file; None, with a problem noted, where it is not JSON."""
    try:
        return Walker(text, findings).only_value(line, place)
    except json.JSONDecodeError as error:
        findings.error(
            f"Not valid JSON: {_reason(error)} at column {error.colno}.",
            "Write one JSON object a line.",
            line=line,
        )
    except RecursionError:
        findings.error("The JSON is nested too deep.", "Keep entries flat.", line=line)
    except ValueError:
        findings.error("A number has too many digits.", "Write it as text in quotes.", line=line)
    return None


def strings_in(value: Any) -> Iterator[str]:
    """Yield every text inside a JSON value, names included; ValueError where it is nested too deep."""
    level = [value]
    for _ in range(DEEPEST):
        deeper: list[Any] = []
        for current in level:
            if isinstance(current, str):
                yield current
            elif isinstance(current, dict):
                yield from current
                deeper.extend(current.values())
            elif isinstance(current, (list, tuple)):
                deeper.extend(current)
        if not deeper:
            return
        level = deeper
    raise ValueError("nested too deep")


def _note_syntax(error: json.JSONDecodeError, text: str, findings: Findings) -> None:
    broken_off = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
    what = "The JSON breaks off" if broken_off else "Not valid JSON"
    findings.error(
        f"{what}: {_reason(error)} at line {error.lineno}, column {error.colno}"
        f"{_still_open(text, error.pos)}.",
        "The file may be cut short; get it again." if broken_off else "Mend this place.",
        line=error.lineno,
    )


def _reason(error: json.JSONDecodeError) -> str:
    return error.msg.rstrip(": ").removesuffix(" at").removesuffix(" starting").lower()


def _still_open(text: str, end: int) -> str:
    """Name the brackets that are open at a position, with the lines they were opened on."""
    opened: list[tuple[str, int]] = []
    for match in _BRACKETS.finditer(text, 0, end):
        sign = match.group()
        if sign in "{[":
            opened.append((sign, match.start()))
        elif sign in "}]" and opened:
            opened.pop()
    if not opened:
        return ""
    named = [f"{sign} of line {text.count(chr(10), 0, at) + 1}" for sign, at in opened[-4:]]
    return "; still open: " + ", ".join(named)
