"""How explanations name several things."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

_MOST = 12
_LONGEST = 60


def listed(words: Iterable[str], most: int = _MOST) -> str:
    """List words in the order of the text, each once with how often it is there if that is several
    times; beyond ``most`` only say how many more there are, so that all add up.
    """
    times = Counter(iter(words))
    shown = list(times)[:most]
    listing = ", ".join(word if times[word] == 1 else f"{word} ({times[word]}×)" for word in shown)
    rest = times.total() - sum(times[word] for word in shown)
    return f"{listing} and {rest:,} more" if rest else listing


def counted(number: int, one: str, several: str = "") -> str:
    """Return a number with its noun: ``1 word``, ``2 words``, ``1,000 entries``."""
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"


def minus(text: str) -> str:
    """Return a number's text with the minus sign instead of a hyphen."""
    return text.replace("-", "−")


def percent(share: float, places: int = 0) -> str:
    """Return a share of 0 to 1 as every page writes it, with a space before the sign: ``75 %``."""
    return minus(f"{share * 100:.{places}f} %")


def shortened(word: str) -> str:
    """Cut what is longer than any word to quote it."""
    return word if len(word) <= _LONGEST else f"{word[: _LONGEST - 1]}…"


def faulty(word: str, faults: Iterable[str]) -> str:
    """Return one sentence with all that is wrong with the form of a word."""
    return f"“{shortened(word)}”: {', '.join(faults)}."
