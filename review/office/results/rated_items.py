"""What people said of systems' outputs, one row a rating, for weighing metrics against people."""

from __future__ import annotations

from dataclasses import dataclass

from corpora.model.entry import EntryId
from review.office.store.store import Office, Review
from review.verdict.panel.key import counted


@dataclass(frozen=True, slots=True)
class RatedItem:
    """One person's rating of one run's output of one entry; controls are none."""

    run_id: str
    entry_id: EntryId
    """As on the run's card."""
    reviewer: str
    """Pseudonym."""
    rating: int
    """Rank, 0 reject … 3 excellent."""


def rated_items(office: Office, review: Review) -> list[RatedItem]:
    """Return the ratings of the people who count; repeats and other controls are left out."""
    items = review.key.items
    return [
        RatedItem(truth.run_id, truth.entry, reviewer, judgement.rating.rank)
        for reviewer, _, person in counted(office.state(review), review.key)
        for item, judgement in sorted(person.judgements.items())
        if (truth := items.get(item)) is not None
        and truth.control is None
        and truth.run_id is not None
        and judgement.rating is not None
    ]
