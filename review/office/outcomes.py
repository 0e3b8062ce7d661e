"""What people said of systems' outputs, one row a rating, for weighing metrics against people."""

from __future__ import annotations

from dataclasses import dataclass

from corpora.entry import EntryId
from harness.store.database import home
from review.office.store import Office, Review


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


def rated_items(review: Review | str) -> list[RatedItem]:
    """Give the ratings of a review, or of the one of this name in the data folder.

    Only those of people who agreed and took nothing of it back; repeats and other controls are left out.
    Raises UsageError where there is no such review.
    """
    with Office.open(home()) as office:
        found = office.review(review) if isinstance(review, str) else review
        return _rated(office, found)


def _rated(office: Office, review: Review) -> list[RatedItem]:
    items = review.key.items
    return [
        RatedItem(truth.run_id, truth.entry, reviewer, judgement.rating.rank)
        for (_, reviewer), person in sorted(office.state(review).reviewers.items())
        if person.consented
        for item, judgement in sorted(person.judgements.items())
        if (truth := items.get(item)) is not None
        and truth.control is None
        and truth.run_id is not None
        and judgement.rating is not None
    ]
