"""Signed records beside the runs: who owns a method, and what an organisation states of itself.

They are kept by what they are about, not by the run, so they stay where a run is deleted. What a record is worth is
judged by ``review.records``; lists show what its reader found of it, unless one of its keys was revoked since.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple

from harness.store.file.database import has_table
from harness.store.file.trouble import stored_object, stored_word
from harness.store.withdrawn import now_standing

_TABLE: Final = "signed_records"


class RecordKind(StrEnum):
    """What a signed record says."""

    OWNERSHIP = "ownership"
    STATEMENT = "statement"
    """Of an organisation about itself."""


class KeptRecord(NamedTuple):
    """One record as lists know it."""

    id: str
    """SHA-256 of what was agreed on or stated."""
    kind: RecordKind
    run_id: str
    card: str
    """Hash of the card that it is about; empty where it is about none."""
    told: Mapping[str, Any]
    """What lists show; ``keys``: the keys that signed it."""

    @property
    def revoked(self) -> bool:
        """Return whether a key that signed it was revoked here since."""
        now = now_standing()
        return bool(now) and any(now.of_key(str(key)) for key in self.told.get("keys", ()))


def keep_signed(connection: sqlite3.Connection, record: KeptRecord, file: bytes) -> None:
    """Store a record, instead of an earlier state of it."""
    facts = json.dumps(record.told, ensure_ascii=False)
    row = (record.id, record.kind, record.run_id, record.card, facts, file)
    connection.execute("INSERT OR REPLACE INTO signed_records VALUES (?, ?, ?, ?, ?, ?)", row)


def signed_file(connection: sqlite3.Connection, record: str) -> bytes | None:
    """Return the file of a record by its id; None where it is not kept here."""
    if not has_table(connection, _TABLE):
        return None
    query = "SELECT file FROM signed_records WHERE id = ?"
    row = connection.execute(query, (record,)).fetchone()
    return None if row is None else bytes(row[0])


def signed_files(
    connection: sqlite3.Connection, kind: RecordKind
) -> list[tuple[KeptRecord, bytes]]:
    """Return all records of a kind with their files, by id."""
    if not has_table(connection, _TABLE):
        return []
    query = "SELECT * FROM signed_records WHERE kind = ? ORDER BY id"
    return [(_record(row[:5]), bytes(row[5])) for row in connection.execute(query, (kind,))]


def records_by_run(
    connection: sqlite3.Connection, only: int | None = None
) -> dict[int, tuple[KeptRecord, ...]]:
    """Return the records of ownership of all runs of the store, or of one, by the store's number; an older store has none."""
    if not has_table(connection, _TABLE):
        return {}
    records: dict[int, tuple[KeptRecord, ...]] = {}
    rows = connection.execute(
        "SELECT u.id, r.id, r.kind, r.run_id, r.card, r.told FROM signed_records r"
        " JOIN runs u ON u.run_id = r.run_id WHERE r.kind = ? AND (? IS NULL OR u.id = ?) ORDER BY r.id",
        (RecordKind.OWNERSHIP, only, only),
    )
    for run, *row in rows:
        records[run] = (*records.get(run, ()), _record(row))
    return records


def _record(row: Sequence[Any]) -> KeptRecord:
    number, kind, run_id, card, facts = row
    kept = stored_word(kind, RecordKind)
    return KeptRecord(str(number), kept, str(run_id), str(card), stored_object(facts))
