"""Analyser strings taken apart: the lemma and the tags of ``wâpamêw+V+TA+Ind+1Sg+3SgO``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from corpora.text.words import folded

_BEFORE_THE_LEMMA = re.compile(r"[A-Z][A-Za-z]*/.+|IC|RdplW|RdplS|Rdpl")
"""GiellaLT's tags of prefixes and preverbs (``PV/e``), of initial change and reduplication."""

_BRACKETED = re.compile(r"([^<>]+)((?:<[^<>]+>)+)")
"""Apertium's notation, ``tlacatl<n><abs>``."""


@dataclass(frozen=True, slots=True)
class TaggedWord:
    """One analysis of one word."""

    lemma: str
    """The form in a dictionary; the parts of a compound joined by ``#``."""
    key: str
    """The lemma as lemmas are compared."""
    tags: frozenset[str]
    """Without the signs between them; those of a compound's last part."""


@lru_cache(maxsize=65_536)
def tagged_word(analysis: str) -> TaggedWord:
    """Take an analysis apart; one without a tag is a bare lemma."""
    if bracketed := _BRACKETED.fullmatch(analysis):
        return _tagged(bracketed[1], bracketed[2][1:-1].split("><"))
    if analysis[:2] in {"++", "#+"}:  # the signs themselves, analysed
        return _tagged(analysis[0], [tag for tag in analysis[2:].split("+") if tag])
    parts = [_part(part) for part in analysis.split("#")]
    return _tagged("#".join(lemma for lemma, _ in parts), parts[-1][1])


def _tagged(lemma: str, tags: Sequence[str]) -> TaggedWord:
    return TaggedWord(lemma, folded(lemma), frozenset(tags))


def _part(part: str) -> tuple[str, list[str]]:
    """Split one part of a compound into its lemma and its tags."""
    pieces = part.split("+")
    for place, piece in enumerate(pieces):
        if piece and not _BEFORE_THE_LEMMA.fullmatch(piece):
            return piece, [tag for tag in (*pieces[:place], *pieces[place + 1 :]) if tag]
    return part, []
