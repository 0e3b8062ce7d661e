"""Reading answers that are JSON or SQL: what a model wraps around them is taken off, and nothing else is guessed."""

from __future__ import annotations

import json
import re
from typing import Any

MOST_LETTERS = 1_000_000
"""Of a longer answer no JSON is read."""
_FENCE = "```"
_TAG = re.compile(r"(?:json|sqlite|sql)(?!\w)|\w{0,20}(?=[^\S\n]{0,20}\n)", re.IGNORECASE)
"""What may stand behind a fence to say what is in it."""
NO_JSON = object()
"""Stands for the value of an answer that is no JSON."""


def unfenced(text: str) -> str:
    """Return an answer without the Markdown fence around it, where the whole of it is in one."""
    plain = text.strip()
    if len(plain) < 2 * len(_FENCE) or not (plain.startswith(_FENCE) and plain.endswith(_FENCE)):
        return plain
    inside = plain[len(_FENCE) : -len(_FENCE)]
    tag = _TAG.match(inside)
    return inside[tag.end() :].strip() if tag else inside.strip()


def json_answer(text: str) -> Any:
    """Return the value of an answer, with or without a Markdown fence; ``NO_JSON`` where it is none.

    What is nested deeper than Python reads, or holds a number of thousands of digits, is none.
    """
    if len(text) > MOST_LETTERS:
        return NO_JSON
    try:
        return json.loads(unfenced(text))
    except (ValueError, RecursionError):
        return NO_JSON
