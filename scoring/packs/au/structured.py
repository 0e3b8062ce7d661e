"""Reading answers that are JSON: what a model wraps around them is taken off, and nothing else is guessed."""

from __future__ import annotations

import json
import re
from typing import Any

MOST_LETTERS = 1_000_000
"""Of a longer answer no JSON is read."""
_FENCE = re.compile(r"\A```[A-Za-z]{0,10}\s(.*?)\s?```\Z", re.DOTALL)


NO_JSON = object()
"""Stands for the value of an answer that is no JSON."""


def json_answer(text: str) -> Any:
    """Return the value of an answer, with or without a Markdown fence; ``NO_JSON`` where it is none.

    What is nested deeper than Python reads, or holds a number of thousands of digits, is none.
    """
    if len(text) > MOST_LETTERS:
        return NO_JSON
    plain = text.strip()
    fenced = _FENCE.match(plain)
    try:
        return json.loads(fenced[1] if fenced else plain)
    except (ValueError, RecursionError):
        return NO_JSON
