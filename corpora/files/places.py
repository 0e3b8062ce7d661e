"""Places of entries in their corpus, in order; nothing else is loaded for them, as every store has some."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

MANY = 2048
"""Places after which a range is looked for."""
N = TypeVar("N", bound=int | None)


def without_gaps(places: Sequence[N]) -> Sequence[N] | range:
    """Return many places that follow one another as a range, which takes no memory; others as they are."""
    first = places[0] if len(places) > MANY else None
    if first is None or any(place != at for at, place in enumerate(places, first)):
        return places
    return range(first, first + len(places))
