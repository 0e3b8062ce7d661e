"""Reading TOML that a person wrote or sent: settings, cards, price tables, policies, lists.

The library follows any depth, by recursion and at a cost that grows with the square of a key's parts. So
every file from outside is read here, and each error says the same.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from typing import Any

MOST_CHARACTERS = 8 * 2**20
"""Longest text; a table that people wrote has some hundred thousand."""

MOST_PARTS = 32
"""Parts that a dotted key may have."""

_PART = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
_LONG_KEY = re.compile(rf"(?<![A-Za-z0-9_.-])(?:{_PART}){{{MOST_PARTS},}}")


def parse_toml(text: str, *, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
    """Return the table that a TOML text holds; ValueError says what is wrong with it, and where."""
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"it is longer than {MOST_CHARACTERS:,} characters")
    if (key := _LONG_KEY.search(text)) is not None:
        line = text.count("\n", 0, key.start()) + 1
        raise ValueError(f"nested too deeply, in a key of many parts (at line {line}, column 1)")
    try:
        return tomllib.loads(text, parse_float=parse_float)
    except RecursionError:
        raise ValueError("nested too deeply") from None
