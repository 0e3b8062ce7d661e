"""How explanations name several things."""

from __future__ import annotations

from collections.abc import Iterable

_MOST = 12
_LONGEST = 60


def listed(words: Iterable[str], most: int = _MOST) -> str:
    """List words, each once in the order of the text; beyond ``most`` only say how many more there are."""
    distinct = list(dict.fromkeys(words))
    shown = ", ".join(distinct[:most])
    return shown if len(distinct) <= most else f"{shown} and {len(distinct) - most} more"


def shortened(word: str) -> str:
    """Cut what is longer than any word to quote it."""
    return word if len(word) <= _LONGEST else f"{word[: _LONGEST - 1]}…"


def faulty(word: str, faults: Iterable[str]) -> str:
    """Say in one sentence all that is wrong with the form of a word."""
    return f"“{shortened(word)}”: {', '.join(faults)}."
