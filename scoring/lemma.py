"""One analysis of a word, taken apart: ``PV/e+mîcisow+V+AI+Cnj+3Sg`` is a lemma with tags."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

_BEFORE = frozenset({"IC", "Intens", "RdplS", "RdplW"})
"""Tags that GiellaLT analysers write before the lemma, besides those with a slash (``PV/e``)."""


class Analysed(NamedTuple):
    """What an analyser takes a word for."""

    lemma: str
    tags: tuple[str, ...]
    """All others, those before the lemma first."""


@lru_cache(maxsize=65536)
def analysed(analysis: str) -> Analysed:
    """Take an analyser string apart; what comes before the lemma counts as tags."""
    parts = analysis.split("+")
    place = 0
    while place < len(parts) - 1 and (parts[place] in _BEFORE or "/" in parts[place]):
        place += 1
    return Analysed(parts[place], (*parts[:place], *parts[place + 1 :]))
