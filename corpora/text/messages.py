"""Names as they are compared, which known names a mistyped one may mean, and how messages list things."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from itertools import takewhile

LONGEST = 80
"""Characters of a name or value that is examined; a longer one is a text."""
NEAR = 0.8
"""Share of common letters from which on a name resembles another."""
_LOOK_ALIKES = str.maketrans("аеорсухѕіјԁһкмтнвԍոαειοκνρτυχμѵƨ", "aeopcyxsijdhkmthbgnaeioknptuxmvs")
"""Cyrillic, Armenian and Greek letters that are drawn as Latin ones."""
_BETWEEN_WORDS = re.compile(r"[^a-z0-9]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def fold(text: str) -> str:
    """Return the letters and digits of a name without case, marks, signs between them, or look-alikes."""
    if text.isascii():  # nearly all names; twenty times as fast
        return _BETWEEN_WORDS.sub("", text.lower())
    return "".join(folded_words(text))


def folded_words(text: str) -> list[str]:
    """Split a name into its words, folded; a camel's hump begins a word."""
    plain = unicodedata.normalize("NFKD", text).translate(_LOOK_ALIKES)
    plain = "".join(one for one in plain if unicodedata.category(one) not in {"Mn", "Cf"})
    folded = _CAMEL.sub(" ", plain).casefold().translate(_LOOK_ALIKES)
    return [word for word in _BETWEEN_WORDS.split(folded) if word]


_LONGEST = 40
"""Characters of a typed name that are examined."""
_SHORTEST = 3
"""Letters from which on the beginning of a word tells anything."""
_STEM = 0.6
"""Share of the longer name that two forms of one word have in common at their beginning."""
_STEM_WHOLE = 0.5
"""The same where one of them is the beginning of the other: ``listing``."""


def near_names(typed: str, known: Iterable[str], most: int = 3) -> list[str]:
    """Return the known names that a mistyped one may mean, the likeliest first; empty where none is near.

    Those with a word that begins as the typed one does go first, so that ``--source`` means every option of the
    source; then those with the fewest slips, other forms of the word, and beginnings with slips. Case and hyphens at the beginning do not count; at most ``most`` are returned.
    """
    wanted = _plain(typed[:_LONGEST])
    ranked: dict[tuple[int, int], list[str]] = {}
    for name in known:
        rank = _rank(wanted, _plain(name))
        if rank is not None:
            ranked.setdefault(rank, []).append(name)
    if not ranked:
        return []
    first = min(ranked)
    begun = [rank for rank in sorted(ranked) if rank[0] == _BEGUN] or [first]
    return [name for rank in begun for name in ranked[rank]][:most]


def one_of(names: Iterable[str]) -> str:
    """Write names as a choice: ``a``, ``a or b``, ``a, b or c``."""
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", "-", name.strip().casefold()).strip("-")


_BEGUN, _SLIPS, _STEMS, _BEGUN_WITH_SLIPS = range(4)


def _rank(typed: str, name: str) -> tuple[int, int] | None:
    """Return in which way a name is near, and how far within it; None where it is not."""
    words = name.split("-")
    tails = ["-".join(words[at:]) for at in range(len(words))]
    begun = [at for at, tail in enumerate(tails) if tail.startswith(typed)]
    if begun and len(typed) >= _SHORTEST:
        return _BEGUN, begun[0]
    allowed = next((slips for slips, least in ((3, 10), (2, 6), (1, 3)) if len(typed) >= least), 0)
    slips = _distance(typed, name)
    if slips <= allowed:
        return _SLIPS, slips
    pairs = zip(typed, name, strict=False)
    alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    share = _STEM if alike < len(name) else _STEM_WHOLE
    if alike >= max(4, share * max(len(typed), len(name))):
        return _STEMS, 0
    head = "-".join(words[: typed.count("-") + 1])
    slips = _distance(typed, head)
    return (_BEGUN_WITH_SLIPS, slips) if slips <= allowed else None


def _distance(one: str, other: str) -> int:
    """Return how many letters are missing, added, wrong, or swapped with their neighbour.

    Optimal string alignment (Boytsov 2011, §2.2): no part is edited twice.
    """
    before: list[int] = []
    last = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        row = [at]
        for place, there in enumerate(other, 1):
            cost = min(last[place] + 1, row[-1] + 1, last[place - 1] + (letter != there))
            swapped = at > 1 < place and letter == other[place - 2] and one[at - 2] == there
            row.append(min(cost, before[place - 2] + 1) if swapped else cost)
        before, last = last, row
    return last[-1]


# ---- How explanations name several things ----

_MOST = 12


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


def pause_words(hours: float) -> str:
    """Return how long a pause is, in words."""
    return counted(int(hours / 24), "day") if hours and hours % 24 == 0 else f"{hours:g} hours"


def to_minute(stated: str) -> str:
    """Return a time of a log, UTC, to the minute: ``2026-02-01 09:06``."""
    return stated[:16].replace("T", " ")


def dollars(amount: float) -> str:
    """Return US dollars, from 0 on, with more places where it is little: ``$12.30``, ``$0.5000``."""
    return f"${amount:,.{2 if amount >= 1 or not amount else 4 if amount >= 0.0001 else 6}f}"


def minus(text: str) -> str:
    """Return a number's text with the minus sign instead of a hyphen."""
    return text.replace("-", "−")


def percent(share: float, places: int = 0) -> str:
    """Return a share of 0 to 1 as every page writes it, with a space before the sign: ``75 %``."""
    return minus(f"{share * 100:.{places}f} %")


def shortened(word: str, longest: int = 60) -> str:
    """Cut what is longer than any word to quote it."""
    return word if len(word) <= longest else f"{word[: longest - 1]}…"


def faulty(word: str, faults: Iterable[str]) -> str:
    """Return one sentence with all that is wrong with the form of a word."""
    return f"“{shortened(word)}”: {', '.join(faults)}."
