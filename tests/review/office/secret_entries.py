"""Entries that are secret."""

from __future__ import annotations

from corpora.model.entry import Entry, Segment
from tests.review.office import made


def secret_entries() -> list[Entry]:
    return [
        entry.model_copy(update={"segment": Segment.GOLD_STANDARD} if place % 2 else {})
        for place, entry in enumerate(made.demo_entries())
    ]
