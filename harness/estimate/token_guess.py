"""How many tokens a text is, where nobody has counted them: a guess with its bounds.

Every model parts text in its own way. A token is about four letters of English, two to three of other Latin
writing, and a letter of a script that is rare in training data may be several tokens, one a byte at worst.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.core.calls import Request


@dataclass(frozen=True, slots=True)
class Range:
    """An amount that is not known exactly: at least, most likely, at most."""

    low: float
    expected: float
    high: float

    def __add__(self, other: Range) -> Range:
        return Range(self.low + other.low, self.expected + other.expected, self.high + other.high)

    def times(self, factor: float) -> Range:
        """Multiply by what is known exactly."""
        return Range(self.low * factor, self.expected * factor, self.high * factor)

    def by(self, other: Range) -> Range:
        """Multiply by what is not known exactly either."""
        return Range(self.low * other.low, self.expected * other.expected, self.high * other.high)


NOTHING = Range(0.0, 0.0, 0.0)

_ASCII = (1 / 5, 1 / 3.6, 1 / 2)
"""Tokens of a letter of ASCII."""

_OTHER = (0.3, 0.5, 1.0)
"""Tokens of a byte of any other letter."""

_AROUND = 5
"""Tokens that a chat template puts around a message."""


def guess(text: str) -> Range:
    """Guess the tokens of a text."""
    content = text.encode("utf-8", "surrogatepass")
    ascii_ = sum(byte < 128 for byte in content) if len(content) > len(text) else len(content)
    other = len(content) - ascii_
    low, expected, high = (a * ascii_ + o * other for a, o in zip(_ASCII, _OTHER, strict=True))
    return Range(low, expected, high)


def guess_request(request: Request) -> Range:
    """Guess the prompt tokens of a request to a model: its messages, and the tools that it declares."""
    body = request.body
    if not isinstance(body, Mapping):
        return NOTHING
    total = NOTHING
    for message in body.get("messages", ()):
        total = total + guess(_words(message)) + Range(_AROUND, _AROUND, _AROUND)
    return total + guess(repr(body["tools"])) if body.get("tools") else total


def _words(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    return content if isinstance(content, str) else ""
