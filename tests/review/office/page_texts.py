"""The texts of a page."""

from __future__ import annotations

from review.files.manifests import BatchItem
from tests.review.office.reviewed import ITEMS


def texts(**more: str) -> dict[str, BatchItem]:
    """The items' texts."""
    items = {item: BatchItem(id=item, source=f"Source {place}", candidate=f"Frazo {place}") for place, item in enumerate(ITEMS)}  # fmt: skip
    for item, text in more.items():
        items[item] = BatchItem(id=item, source=text, candidate=text)
    return items
