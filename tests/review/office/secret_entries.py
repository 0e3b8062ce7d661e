"""Entries that are secret, and a review of them."""

from pathlib import Path
from typing import Any

from corpora.model.entry import Entry, Segment
from tests.review.office import made


def secret_entries() -> list[Entry]:
    return [
        entry.model_copy(update={"segment": Segment.GOLD_STANDARD} if place % 2 else {})
        for place, entry in enumerate(made.demo_entries())
    ]


def secret_desk(folder: Path, **size: Any) -> made.Desk:
    """Copy an organisation with a review half of whose entries are secret."""
    return made.desk(folder, secret_entries(), **size)
