"""Files that wait until somebody vouches for their laptop, and taking back at the office what a reviewer gave.

A waiting file is signed as a whole, so one that holds a withdrawn person's words or ratings goes whole. What other people gave
in it is on their laptop still and can be submitted again.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from harness.core.failures import UsageError
from harness.sealed.sealing import AgeIdentity
from harness.sealed.strict_records import FileError
from review.files.ratings import RatingsFile, open_ratings
from review.log.event import EventError, Withdrawals, covered, read_event, taken_back
from review.log.payloads import Scope, Withdraw
from review.office.results.certifying import suspend_withdrawn
from review.office.store.arrivals import mark_recompute
from review.office.store.database import note_unclean
from review.office.store.store import Office, Review, utc_now

# Bytes of all files that are set aside: anyone who has a batch can write files that wait
MOST_WAITING: Final = 2**29


@dataclass(frozen=True, slots=True)
class Dropped:
    """What a withdrawal did to the files that wait."""

    files: int = 0  # Files that held what was taken back, and are gone
    # Files that none of the keys available opens, so that nobody knows what they hold; they wait on
    unopened: int = 0


def set_aside(office: Office, signing_key: str, name: str, data: bytes, phrase: str) -> bool:
    """Store a file of an unknown laptop, sealed as it came; False where too much waits already."""
    with office.transaction():
        waiting = office.connection.execute("SELECT sum(length(content)) FROM quarantine").fetchone()
        if (waiting[0] or 0) + len(data) > MOST_WAITING:
            return False
        office.connection.execute(
            "INSERT INTO quarantine (sha256, signing_key, received, name, content, phrase)"
            " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (sha256) DO UPDATE SET phrase = excluded.phrase",
            (sha256(data).hexdigest(), signing_key, utc_now(), name, data, phrase),
        )
    return True


def drop_reached(office: Office, identities: Sequence[AgeIdentity], withdrawn: Withdrawals) -> Dropped:
    """Drop each waiting file that holds something that withdrawals reach; the file is to be rewritten after it."""
    reached, unopened = [], 0
    for waiting in office.quarantine():
        try:
            ratings = open_ratings(waiting.content, identities)
        except FileError:
            unopened += 1
        else:
            if holds_reached(ratings, withdrawn):
                reached.append((waiting.sha256,))
    if reached:
        office.connection.execute("PRAGMA secure_delete = ON")
        with office.transaction():
            office.connection.executemany("DELETE FROM quarantine WHERE sha256 = ?", reached)
            note_unclean(office.connection)
    return Dropped(len(reached), unopened)


def holds_reached(ratings: RatingsFile, withdrawn: Withdrawals) -> bool:
    """Return whether a file holds the content of an event that withdrawals reach."""
    for line in ratings.lines:
        with suppress(EventError):  # what is no event is never taken, and stays with its file
            if covered(read_event(line), withdrawn):
                return True
    return False


@dataclass(frozen=True, slots=True)
class TakenBack:
    """What a withdrawal did."""

    erased: int  # Events whose content is gone
    recompute: int  # Certificates in force that rest on them, newly marked
    unclean: bool  # The disk had no room to rewrite the file; that is tried again
    waiting: Dropped  # What became of the files that wait for somebody to vouch for their laptop


def withdraw(
    office: Office, review: Review, reviewer: str, scope: Scope, identities: Sequence[AgeIdentity]
) -> TakenBack:
    """Erase what a reviewer gave, here, in the files that wait and in every later import; it cannot be undone.

    ``identities`` open the files that wait. UsageError where the review does not know the reviewer.
    """
    if not (batches := review.batches_of(reviewer)):
        raise UsageError(f"Review {review.name} has no reviewer {reviewer}. `rosetta review status` lists the codes.")
    before = _erased(office)
    withdraws = [
        Withdraw(wall=utc_now(), reviewer=reviewer, batch=batch, scope=scope)
        for batch in (batches if scope is not Scope.EVERYTHING else [None])
    ]
    with office.transaction():  # first: a mark too many is harmless, one too few is not
        marked = mark_recompute(office, withdraws)
    waiting = drop_reached(office, identities, taken_back(withdraws))
    for withdraw in withdraws:  # the file is rewritten with it
        office.append(review, withdraw)
    suspend_withdrawn(office)
    return TakenBack(_erased(office) - before, marked, office.unclean, waiting)


def _erased(office: Office) -> int:
    row = office.connection.execute("SELECT count(*) FROM event WHERE payload IS NULL").fetchone()
    return int(row[0])
