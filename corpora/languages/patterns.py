"""How long a search for a regular expression can take: cards come from strangers (DESIGN L2).

A search tries one way after another until one fits. Repetitions in a row multiply their ways, so that a
pattern of a few letters can keep a machine busy for years; here they are counted before anything is searched.
"""

from __future__ import annotations

import re

LONGEST_WORD = 100
"""Letters of a word that are searched; all that follow are no word of any language."""
MOST_WAYS = 1000
"""Ways that a search may try from one letter on: one repetition without end, and a few choices beside it."""

_TOKEN = re.compile(
    r"""
      (?P<reference> \\[1-9] )
    | \\. | \[\^?+\]?+ (?: \\. | [^\]\\] )*+ \]
    | \( (?P<plain> (?: \? (?: [:=!>] | <[=!] ) )?+ ) (?P<other> \??+ )
    | (?P<close> \) )
    | (?P<bar> \| )
    | (?P<quantifier> [*+?] | \{ (?: [0-9]++ (?: ,[0-9]*+ )?+ | ,[0-9]*+ ) \} ) [+?]?+
    | .
    """,
    re.VERBOSE | re.DOTALL,
)


def why_endless(pattern: str) -> str | None:
    """Say why a search for a pattern that compiles could take very long; None where it cannot."""
    ways = _Ways()
    after_group = False
    for token in _TOKEN.finditer(pattern):
        if token["other"]:
            return "has a group that sets flags, has a name or is a comment; use plain groups, (…) or (?:…)"
        choices = _choices(token["quantifier"])
        if token["reference"] or (after_group and (choices > 1 and token["quantifier"] != "?")):
            return "repeats a group or refers to one; write the cases with | instead"
        ways.see(token, choices)
        after_group = token["close"] is not None
    if ways.all > MOST_WAYS:
        return (
            f"lets a search try {ways.all:,} ways from one letter on, and {MOST_WAYS:,} are allowed; "
            "keep to one * or + in each case between |, or make two patterns of it"
        )
    return None


class _Ways:
    """Counts ways: cases between bars add up, what stands in a row multiplies."""

    def __init__(self) -> None:
        self._before = 0
        """Of the cases that are read."""
        self._case = 1
        """Of the case that is being read."""
        self._open: list[int] = []
        """Cases of each group that is being read; what is inside of one counts in each of its cases."""

    @property
    def all(self) -> int:
        """How many ways there are."""
        return self._before + self._case

    def see(self, token: re.Match[str], choices: int) -> None:
        """Count one token, which may be repeated in as many ways."""
        self._case *= choices
        if token["plain"] is not None:
            self._open.append(1)
        elif token["close"] and self._open:
            self._case *= self._open.pop()
        elif token["bar"] and self._open:
            self._open[-1] += 1
        elif token["bar"]:
            self._before, self._case = self.all, 1


def _choices(quantifier: str | None) -> int:
    """Tell how often something may be repeated: in how many numbers of times, at most LONGEST_WORD."""
    if quantifier is None:
        return 1
    if quantifier in "*+?":
        return 2 if quantifier == "?" else LONGEST_WORD
    least, comma, most = quantifier[1:-1].partition(",")
    if not comma:
        return 1
    last = int(most) if most else LONGEST_WORD
    return max(1, min(last - int(least or 0) + 1, LONGEST_WORD))
