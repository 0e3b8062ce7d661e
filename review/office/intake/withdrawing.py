"""Taking back, at the office, what a reviewer gave: for people who ask the organisation instead of a laptop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.core.failures import UsageError
from review.log.payloads import Scope, Withdraw
from review.log.withdrawal import taken_back
from review.office.intake.quarantine import Dropped, drop_reached
from review.office.results.attaching import suspend_withdrawn
from review.office.store.arrivals import mark_recompute
from review.office.store.store import Office, Review, utc_now
from review.sealed.sealing import AgeIdentity


@dataclass(frozen=True, slots=True)
class TakenBack:
    """What a withdrawal did."""

    erased: int
    """Events whose content is gone."""
    recompute: int
    """Certificates in force that rest on them, newly marked."""
    unclean: bool
    """The disk had no room to rewrite the file; that is tried again."""
    waiting: Dropped
    """What became of the files that wait for somebody to vouch for their laptop."""


def withdraw(
    office: Office,
    review: Review,
    reviewer: str,
    scope: Scope,
    identities: Sequence[AgeIdentity],
) -> TakenBack:
    """Erase what a reviewer gave, here, in the files that wait and in every later import; it cannot be undone.

    ``identities`` open the files that wait. UsageError where the review does not know the reviewer.
    """
    batches = review.batches_of(reviewer)
    if not batches:
        raise UsageError(
            f"Review {review.name} has no reviewer {reviewer}. `rosetta review status` lists the codes."
        )
    before = _erased(office)
    said = [
        Withdraw(wall=utc_now(), reviewer=reviewer, batch=batch, scope=scope)
        for batch in (batches if scope is not Scope.EVERYTHING else [None])
    ]
    with office.transaction():  # first: a mark too many is harmless, one too few is not
        marked = mark_recompute(office, said)
    waiting = drop_reached(office, identities, taken_back(said))
    for each in said:  # the file is rewritten with it
        office.append(review, each)
    suspend_withdrawn(office)
    return TakenBack(_erased(office) - before, marked, office.unclean, waiting)


def _erased(office: Office) -> int:
    row = office.connection.execute("SELECT count(*) FROM event WHERE payload IS NULL").fetchone()
    return int(row[0])
