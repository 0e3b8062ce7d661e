"""What the organiser is told of letters: which a reviewer's window lacks, and what therefore nobody was asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from review.office.progress import ReviewProgress

_MOST = 10
"""Entries that are named."""


def not_shown_words(found: ReviewProgress) -> Iterator[str]:
    """Say which sentences laptops could not show, so that their people were not asked."""
    entries = found.not_shown
    if entries:
        times = sum(entries.values())
        said = "could not be shown on a laptop, so its person was not asked"
        yield (
            f"NOT SHOWN: {_counted(len(entries), 'sentence')} {said} ({_counted(times, 'time')} in all): "
            f"{named(entries)}."
        )


def named(entries: Iterable[object]) -> str:
    """Name entries by their ids, the first ones of many."""
    ids = [str(each) for each in entries]
    more = f" and {len(ids) - _MOST} more" if len(ids) > _MOST else ""
    return f"{'entry' if len(ids) == 1 else 'entries'} {', '.join(ids[:_MOST])}{more}"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count:,} {what}s"
