"""What came back: what the office notes about files that arrive, and what of it an organiser should look into."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from harness.sealed.chain import check_chain
from harness.sealed.keys import Signed, key_phrase
from review.log.event import Event, WildClock, reach, wild_clocks
from review.log.payloads import ReviewerPayload, Scope, Withdraw
from review.office.store.review import Import
from review.office.store.store import Office, Review, utc_now


@dataclass(frozen=True, slots=True)
class Delivery:
    """One laptop that handed something in for a review."""

    name: str  # What the organisation calls it
    phrase: str  # Its six words
    # What was imported from it, oldest first; a file that came again is there again
    files: Sequence[Import]
    copied: bool  # Its data was copied to a second laptop, and both continued
    gaps: int  # Events that are missing in its chains, or do not fit the one before
    clocks: Sequence[WildClock]

    @property
    def different_files(self) -> int:
        """How many files came, each counted once."""
        return len({file.sha256 for file in self.files})


def deliveries(office: Office, review: Review) -> list[Delivery]:
    """Return the laptops of a review by name; what is found follows from the events that are kept."""
    rows = office.connection.execute(
        "SELECT d.signing_key, d.device FROM delivery d JOIN batch b ON b.batch = d.batch WHERE b.review = ?",
        (review.number,),
    )
    devices: dict[str, set[str]] = {}  # Signing key → the devices that it answered for in this review
    for key, device in rows:
        devices.setdefault(key, set()).add(device)
    events = office.events(review, shut=True)
    chains = {chain.device: chain for chain in check_chain(events).chains}
    since = datetime.fromisoformat(review.manifest.created)
    clocks = wild_clocks(events, datetime.now(UTC), since)
    names = {laptop.signing_key: laptop.name for laptop in office.laptops()}
    imports = office.imports(review)
    deliveries = []
    for key in {*devices, *(imported.signing_key for imported in imports)}:
        own = [chains[device] for device in devices.get(key, ()) if device in chains]
        delivery = Delivery(
            names.get(key, "a laptop without a name"),
            key_phrase(key),
            [imported for imported in imports if imported.signing_key == key],
            copied=any(chain.forked for chain in own),
            gaps=sum(chain.missing + len(chain.broken) for chain in own),
            clocks=[clock for clock in clocks if clock.device in devices.get(key, ())],
        )
        deliveries.append(delivery)
    return sorted(deliveries, key=lambda delivery: (delivery.name, delivery.phrase))


@dataclass(frozen=True, slots=True)
class Arrival:
    """One file of ratings."""

    sha256: str
    name: str
    signing_key: str
    batch: str
    signed: Signed  # Its manifest


def note_arrival(
    connection: sqlite3.Connection, arrival: Arrival, added: Collection[Event], ends: Mapping[str, int]
) -> None:
    """Record a file that is being imported, within the caller's transaction.

    ``ends`` is device → last place of its chain in the file; the file waits in quarantine no longer.
    """
    now = utc_now()
    connection.execute(
        "INSERT INTO import (sha256, received, name, signing_key, batch, added) VALUES (?, ?, ?, ?, ?, ?)",
        (arrival.sha256, now, arrival.name, arrival.signing_key, arrival.batch, len(added)),
    )
    connection.execute(
        "INSERT OR IGNORE INTO signed (sha256, manifest, signature, devices) VALUES (?, ?, ?, ?)",
        (arrival.signed.sha256, arrival.signed.content, arrival.signed.signature, " ".join(sorted(ends))),
    )
    connection.executemany(
        "INSERT INTO delivery (device, batch, signing_key, last_seq)"
        " VALUES (?, ?, ?, ?) ON CONFLICT (device, batch) DO UPDATE"
        " SET last_seq = max(last_seq, excluded.last_seq)",
        [(device, arrival.batch, arrival.signing_key, last) for device, last in ends.items()],
    )
    reviewers = {event.payload.reviewer for event in added if isinstance(event.payload, ReviewerPayload)}
    connection.executemany(
        "INSERT INTO contribution (reviewer, batch, received) VALUES (?, ?, ?) ON CONFLICT (reviewer, batch) DO UPDATE"
        " SET received = excluded.received",
        [(reviewer, arrival.batch, now) for reviewer in sorted(reviewers)],
    )
    connection.execute("DELETE FROM quarantine WHERE sha256 = ?", (arrival.sha256,))


def free_name(office: Office) -> str:
    """Return a laptop a name that no other has: ``laptop 3``."""
    taken = {laptop.name for laptop in office.laptops()}
    number = len(taken) + 1
    while f"laptop {number}" in taken:
        number += 1
    return f"laptop {number}"


def mark_recompute(office: Office, withdrawn: Collection[Withdraw]) -> int:
    """Mark the certificates that rest on ratings which were taken back; return how many in force are newly marked.

    One that a newer one of its run replaced is marked too, and not counted: nobody issues it again. Anyone who takes back comments alone leaves every number as it was.
    """
    marked, ratings = 0, [withdraw for withdraw in withdrawn if withdraw.scope is not Scope.COMMENTS]
    for review in office.reviews() if ratings else ():
        places = {None, *review.key.batches}
        if not any(w.reviewer in review.key.orders and reach(w) in places for w in ratings):
            continue
        [(newly,)] = office.connection.execute(
            "SELECT count(DISTINCT run_id) FROM certificate WHERE review = ? AND NOT recompute", (review.number,)
        )
        office.connection.execute("UPDATE certificate SET recompute = 1 WHERE review = ?", (review.number,))
        marked += int(newly)
    return marked


def last_contributions(connection: sqlite3.Connection) -> dict[tuple[str, str], str]:
    """Return (reviewer, batch) → when something of this reviewer last arrived."""
    rows = connection.execute("SELECT reviewer, batch, received FROM contribution")
    return {(reviewer, batch): received for reviewer, batch, received in rows}
