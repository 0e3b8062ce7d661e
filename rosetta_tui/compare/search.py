"""Compared entries that hold a piece of text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from harness.store.file.database import opened
from harness.store.ordering import Cancelled, Ordering

if TYPE_CHECKING:
    from harness.compare.comparison import Comparison


def places_with(
    path: Path, found: Comparison, search: str, cancelled: Callable[[], bool]
) -> frozenset[int]:
    """Find the text in id, source, reference or an output of any run; for a thread of its own."""
    places: set[int] = set()
    with opened(path) as store:
        for number, side in enumerate(found.sides):
            ordering = Ordering(side.rows.run.id)
            try:
                there = set(ordering.positions(store, search=search, cancelled=cancelled).tolist())
            except Cancelled:
                return frozenset()
            own = found.entries.positions[number].tolist()
            places.update(place for place, position in enumerate(own) if position in there)
    return frozenset(places)
