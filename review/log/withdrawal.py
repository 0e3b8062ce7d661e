"""What a person took back, which events that reaches, and erasing those from a store (DESIGN R4).

A withdrawal reaches every event of its person in scope, whenever it was made and whenever it arrives. The
heads stay, so that chains still verify; the withdrawal itself stays too and travels, so that a later import
of an old file is erased on arrival.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping

from harness.store.file.transaction import transaction
from review.log.event import Event
from review.log.payloads import Kind, Scope, Withdraw

Withdrawals = Mapping[tuple[str, str | None], frozenset[Scope]]
"""By reviewer and batch (None: all): what was taken back."""

WORDS = frozenset({Kind.COMMENT, Kind.SUGGEST})
"""What ``Scope.COMMENTS`` reaches."""


def withdrawals(events: Iterable[Event]) -> dict[tuple[str, str | None], frozenset[Scope]]:
    """Return what the withdrawals among the events take back."""
    return taken_back(event.payload for event in events if isinstance(event.payload, Withdraw))


def taken_back(said: Iterable[Withdraw]) -> dict[tuple[str, str | None], frozenset[Scope]]:
    """Return what these withdrawals take back."""
    scopes: dict[tuple[str, str | None], set[Scope]] = defaultdict(set)
    for withdraw in said:
        scopes[withdraw.reviewer, reach(withdraw)].add(withdraw.scope)
    return {
        key: frozenset(scopes[key])
        for key in sorted(scopes, key=lambda key: (key[0], key[1] or ""))
    }


def reach(withdraw: Withdraw) -> str | None:
    """Return the batch that a withdrawal reaches, None for every batch."""
    return None if withdraw.scope is Scope.EVERYTHING else withdraw.batch


def covered(event: Event, withdrawn: Withdrawals) -> bool:
    """Return whether an event was taken back; one without payload says nothing that could be."""
    payload = event.payload
    if payload is None or not withdrawn:
        return False
    reviewer, batch = getattr(payload, "reviewer", None), getattr(payload, "batch", None)
    return reached(event.kind, reviewer, batch, withdrawn)


def reached(kind: Kind, reviewer: str | None, batch: str | None, withdrawn: Withdrawals) -> bool:
    """Return whether withdrawals reach what a person says in a batch; never a withdrawal itself."""
    if reviewer is None or kind is Kind.WITHDRAW:
        return False
    everywhere = withdrawn.get((reviewer, None), frozenset())
    scopes = everywhere | withdrawn.get((reviewer, batch), frozenset())
    return kind in WORDS if scopes == {Scope.COMMENTS} else bool(scopes)


def known_withdrawals(connection: sqlite3.Connection, reviewer: str | None = None) -> Withdrawals:
    """Read what was taken back according to a store; of one reviewer, or of all."""
    rows = connection.execute(
        "SELECT payload FROM event WHERE kind = 'withdraw' AND payload IS NOT NULL"
        " AND reviewer = coalesce(?, reviewer)",
        (reviewer,),
    )
    return taken_back(Withdraw.model_validate_json(row[0]) for row in rows.fetchall())


def erase_covered(connection: sqlite3.Connection) -> int:
    """Erase what known withdrawals reach, within the caller's transaction; gives how many events."""
    return sum(
        _erase_reached(connection, reviewer, batch, scopes)
        for (reviewer, batch), scopes in known_withdrawals(connection).items()
    )


def erase_reached(connection: sqlite3.Connection, withdraw: Withdraw) -> int:
    """Erase what one withdrawal reaches, within the caller's transaction; gives how many events."""
    scopes = frozenset({withdraw.scope})
    return _erase_reached(connection, withdraw.reviewer, reach(withdraw), scopes)


def _erase_reached(
    connection: sqlite3.Connection, reviewer: str, batch: str | None, scopes: frozenset[Scope]
) -> int:
    return connection.execute(
        "UPDATE event SET payload = NULL, salt = NULL, batch = NULL, reviewer = NULL"
        " WHERE reviewer = :reviewer AND batch = coalesce(:batch, batch) AND kind <> 'withdraw'"
        " AND (NOT :only_words OR kind IN ('comment', 'suggest'))",
        {"reviewer": reviewer, "batch": batch, "only_words": scopes == {Scope.COMMENTS}},
    ).rowcount


def erase(connection: sqlite3.Connection) -> int:
    """Erase what known withdrawals reach, and every byte of it from the file; gives how many events.

    The connection is outside a transaction. Raises sqlite3.Error where the file cannot be rewritten, which
    needs as much free space as it has bytes; what was taken back is overwritten even then.
    """
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("PRAGMA temp_store = MEMORY")  # no copy in another folder
    with transaction(connection):
        erased = erase_covered(connection)
    connection.execute("VACUUM")
    return erased
