"""The table of events, which only grows: the same in a laptop's file and in the organisation's.

Triggers guard it against every program that opens the file. Nothing is deleted; a row changes in two ways
only: its content is erased, or content that another copy still had comes to a row without any. What was not
written is said in words, with what to do.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from harness.core.failures import StoreError
from harness.core.storage import StorageProblem, error_name, storage_problem, words_for
from review.log.event import (
    FIRST,
    SALT_BYTES,
    VERSION,
    Event,
    EventError,
    covered,
    erase_reached,
    known_withdrawals,
    make_event,
    read_event,
    shut_event,
)
from review.log.payloads import AnyPayload, Kind, Withdraw
from review.log.sealed_words import WRITTEN, WordKeys, names_sealed, older_content, shut_payload

_WORDS = {
    StorageProblem.DISK_FULL: "the disk is full. Free some space, then do it again",
    StorageProblem.READ_ONLY: "the file can be read but not changed. Give yourself the right to write it",
    StorageProblem.GONE: "the file is gone from its place. Put it back, then do it again",
    StorageProblem.BUSY: "another program uses the file. Close the other window, then do it again",
    StorageProblem.DAMAGED: "the file is damaged. Keep it, ask for help, and name another data folder",
    StorageProblem.NOT_OURS: "it is the file of another program. Move it away, or name another data folder",
    StorageProblem.OTHER: "the disk or the file system gives an error. Do it again, or restart the computer",
}

# What SQLite says of an open file that was moved or removed, where it says no more
_MAY_BE_GONE = {
    StorageProblem.READ_ONLY,
    StorageProblem.NOT_OPENED,
    StorageProblem.DISK_FAILS,
    StorageProblem.OTHER_FORM,
    StorageProblem.OTHER,
}


class NotSaved(StoreError):  # noqa: N818  says what happened to what the person gave
    """Nothing was saved, and nothing that was there before is lost."""

    def __init__(self, problem: StorageProblem, path: Path, detail: str) -> None:
        self.problem = problem
        # One technical line for anyone who helps; no text of a reviewer or a batch
        self.detail = detail
        self.words = f"{words_for(_WORDS, problem)} ({detail})"  # What is wrong and what to do
        super().__init__(f"Not saved to {path}: {self.words}.")


def not_saved(error: sqlite3.Error | OSError, path: Path) -> NotSaved:
    """Return why an attempt to use the file failed."""
    problem = storage_problem(error)
    if isinstance(error, sqlite3.Error) and problem in _MAY_BE_GONE:
        with suppress(OSError):  # where one may not look, it is not known
            problem = problem if path.exists() else StorageProblem.GONE
    return NotSaved(problem, path, error_name(error))


@contextmanager
def saying(path: Path) -> Iterator[None]:
    """Raise NotSaved for every failure of SQLite or the file system within."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise not_saved(error, path) from error


_OLDEST_SQLITE = (3, 37, 0)
_HEAD = ("id", "device", "seq", "lamport", "prev", "kind", "commitment")
_CONTENT = ("payload", "salt", "batch", "reviewer")
_COLUMNS = ", ".join(_HEAD + _CONTENT)
_SAME_HEAD = " AND ".join(f"NEW.{name} IS OLD.{name}" for name in ("rowid", *_HEAD))
_EMPTY = " AND ".join(f"NEW.{name} IS NULL" for name in _CONTENT)
_NEVER_CHANGED = f"""CREATE TRIGGER event_is_never_changed BEFORE UPDATE ON event
        WHEN NOT ({_SAME_HEAD} AND (({_EMPTY}) OR OLD.payload IS NULL))
        BEGIN SELECT RAISE(ABORT, 'an event is never changed'); END"""

_STATEMENTS = (
    """CREATE TABLE event (
        id TEXT NOT NULL UNIQUE CHECK (length(id) = 64),
        device TEXT NOT NULL,
        seq INTEGER NOT NULL,
        lamport INTEGER NOT NULL,
        prev TEXT NOT NULL,
        kind TEXT NOT NULL,
        commitment TEXT NOT NULL,  -- the head's "commit", a word of SQL
        payload TEXT,              -- canonical JSON, NULL where erased
        salt BLOB,
        batch TEXT,                -- of the payload, for queries
        reviewer TEXT,
        CHECK ((payload IS NULL) = (salt IS NULL)),
        CHECK (payload IS NOT NULL OR (batch IS NULL AND reviewer IS NULL))
    ) STRICT""",
    "CREATE INDEX event_chain ON event (device, seq)",
    "CREATE INDEX event_lamport ON event (lamport)",
    "CREATE INDEX event_reviewer ON event (reviewer, batch)",
    "CREATE INDEX event_withdrawal ON event (reviewer) WHERE kind = 'withdraw'",
    """CREATE TRIGGER event_is_never_deleted BEFORE DELETE ON event
        BEGIN SELECT RAISE(ABORT, 'an event is never deleted'); END""",
    """CREATE TRIGGER event_is_never_replaced BEFORE INSERT ON event
        WHEN EXISTS (SELECT 1 FROM event WHERE id = NEW.id OR rowid = NEW.rowid)
        BEGIN SELECT RAISE(ABORT, 'an event is never replaced'); END""",
    _NEVER_CHANGED,
)


def create_event_table(connection: sqlite3.Connection) -> None:
    """Make the table, its indexes and its triggers, within the caller's transaction.

    Raises StoreError where the interpreter's SQLite is too old for columns that keep their types.
    """
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        raise StoreError(
            f"Reviews need SQLite 3.37 or newer, and this Python has {sqlite3.sqlite_version}. Install a newer Python."
        )
    for statement in _STATEMENTS:
        connection.execute(statement)


# Of files in which nothing is secret, and for anyone who needs no words: those that are sealed stay
# shut
NO_WORDS = WordKeys()


def insert_event(connection: sqlite3.Connection, event: Event, words: WordKeys = NO_WORDS) -> bool:
    """Store an event, within the caller's transaction; False where it was there already with its content.

    Content comes to an event that was known without, unless a known withdrawal reaches it; a withdrawal
    erases what it reaches. What is written in a batch that is secret by ``words`` is sealed.
    """
    reviewer = getattr(event.payload, "reviewer", None)
    gone = reviewer is not None and covered(event, known_withdrawals(connection, reviewer))
    kept = event.erased() if gone else event
    row = connection.execute("SELECT payload FROM event WHERE id = ?", (event.id,)).fetchone()
    if row is None:
        marks = ", ".join("?" * len(_HEAD + _CONTENT))
        head = (kept.id, kept.device, kept.seq, kept.lamport, kept.prev, kept.kind, kept.commit)
        connection.execute(f"INSERT INTO event ({_COLUMNS}) VALUES ({marks})", (*head, *_content(kept, words)))
    elif row[0] is None and kept.payload is not None:
        connection.execute(
            "UPDATE event SET payload = ?, salt = ?, batch = ?, reviewer = ? WHERE id = ?",
            (*_content(kept, words), event.id),
        )
    else:
        return False
    if isinstance(kept.payload, Withdraw):
        erase_reached(connection, kept.payload)
    return True


def _content(event: Event, words: WordKeys) -> tuple[Any, ...]:
    payload = event.payload
    place = (getattr(payload, "batch", None), getattr(payload, "reviewer", None))
    return (*words.content(event), *place)


def append_event(connection: sqlite3.Connection, device: str, payload: AnyPayload, words: WordKeys = NO_WORDS) -> Event:
    """Write the next event of a device's chain, within the caller's transaction; ``words`` as of ``insert_event``.

    The transaction must have begun with BEGIN IMMEDIATE, so that two processes never take one place.
    """
    seq, prev = connection.execute(
        "SELECT seq + 1, id FROM event WHERE device = ? ORDER BY seq DESC LIMIT 1", (device,)
    ).fetchone() or (0, FIRST)
    lamport = connection.execute("SELECT coalesce(max(lamport), 0) + 1 FROM event").fetchone()[0]
    salt = secrets.token_bytes(SALT_BYTES)
    event = make_event(payload, device=device, seq=seq, lamport=lamport, prev=prev, salt=salt)
    insert_event(connection, event, words)
    return event


def seal_written(connection: sqlite3.Connection, words: WordKeys, batches: Collection[str]) -> None:
    """Seal what an earlier version stored openly of what is written in batches, within the caller's transaction.

    Heads, and with them chains, stay as they are.
    """
    marks = ", ".join("?" * len(WRITTEN))
    rows = connection.execute(
        f"SELECT rowid, id, kind, batch, payload, salt FROM event WHERE kind IN ({marks})", tuple(WRITTEN)
    ).fetchall()
    connection.execute("DROP TRIGGER event_is_never_changed")
    for number, identity, kind, batch, payload, salt in rows:
        if batch in batches:
            content_words, names = older_content(kind, batch, payload)
            content = words.sealed(identity, content_words, salt, names)
            connection.execute("UPDATE event SET payload = ?, salt = ? WHERE rowid = ?", (*content, number))
    connection.execute(_NEVER_CHANGED)


def read_events(
    connection: sqlite3.Connection, batches: Collection[str] | None = None, words: WordKeys = NO_WORDS
) -> Iterator[Event]:
    """Return the events of some batches, or all, in the order in which they came.

    Withdrawals and events without content come whatever the batch, because chains and erasing need them.
    What is sealed and ``words`` do not open is shut. Raises EventError where a row was changed behind the program's back.
    """
    if batches is None:
        return _events(connection, words, "")
    marks = ", ".join("?" * len(batches))
    batch_clause = f"WHERE batch IN ({marks}) OR payload IS NULL OR kind = 'withdraw'"
    return _events(connection, words, batch_clause, *batches)


def read_device(connection: sqlite3.Connection, device: str, kind: Kind | None = None) -> Iterator[Event]:
    """Return the chain of one device, or its events of one kind, shut where sealed; EventError as of ``read_events``."""
    return _events(connection, NO_WORDS, "WHERE device = ? AND kind = coalesce(?, kind)", device, kind)


def read_person(connection: sqlite3.Connection, reviewer: str, kind: Kind | None = None) -> Iterator[Event]:
    """Return what any device said in a reviewer's name, or what is of one kind of it; EventError as of ``read_events``.

    What was taken back names nobody. What is sealed is shut.
    """
    return _events(connection, NO_WORDS, "WHERE reviewer = ? AND kind = coalesce(?, kind)", reviewer, kind)


def people_of(connection: sqlite3.Connection, device: str) -> list[str]:
    """Return the reviewers in whose names a device said something that was not taken back."""
    rows = connection.execute(
        "SELECT DISTINCT reviewer FROM event WHERE device = ? AND reviewer IS NOT NULL", (device,)
    ).fetchall()
    return [row[0] for row in rows]


def devices_of(connection: sqlite3.Connection, reviewer: str) -> list[str]:
    """Return the devices that said something in a reviewer's name that was not taken back."""
    rows = connection.execute("SELECT DISTINCT device FROM event WHERE reviewer = ?", (reviewer,)).fetchall()
    return [row[0] for row in rows]


def latest_time(connection: sqlite3.Connection, device: str) -> int:
    """Return the largest logical time of a device's chain; -1 where there is none."""
    row = connection.execute("SELECT coalesce(max(lamport), -1) FROM event WHERE device = ?", (device,)).fetchone()
    return int(row[0])


def _events(connection: sqlite3.Connection, words: WordKeys, which: str, *values: str | None) -> Iterator[Event]:
    rows = connection.execute(
        f"SELECT rowid, {_COLUMNS} FROM event {which} ORDER BY rowid", values
    ).fetchall()  # an open cursor would hold a lock against other processes
    return (_event(words, *row[:-2]) for row in rows)


def _event(
    words: WordKeys,
    number: int,
    identity: str,
    device: str,
    seq: int,
    lamport: int,
    prev: str,
    kind: str,
    commitment: str,
    payload: str | None,
    salt: bytes | None,
) -> Event:
    head = (
        f'{{"commit":"{commitment}","device":"{device}","kind":"{kind}","lamport":{lamport},'
        f'"prev":"{prev}","seq":{seq},"v":{VERSION}}}'
    )
    try:
        if payload is None or salt is None or len(salt) == SALT_BYTES:
            event = _read(head, payload, salt)
        else:
            event = _unsealed(words, identity, head, payload, salt)
    except EventError as error:
        raise EventError(f"Event {number} of the store {error}.") from None
    if event.id != identity:
        raise EventError(f"Event {number} of the store has another id than its head says.")
    return event


def _read(head: str, payload: str | None, salt: bytes | None) -> Event:
    salt_json = "null" if salt is None else f'"{salt.hex()}"'
    return read_event(f'{{"head":{head},"payload":{payload or "null"},"salt":{salt_json}}}'.encode())


def _unsealed(words: WordKeys, identity: str, head: str, payload: str, sealed: bytes) -> Event:
    """Return an event whose words are sealed: opened, or shut where no key available opens them."""
    try:
        stored, facts = json.loads(payload), json.loads(head)
    except ValueError:
        raise EventError("is not JSON") from None
    if not (isinstance(stored, dict) and names_sealed(stored)):
        raise EventError("has no salt")
    whole = words.whole(identity, stored, sealed)
    return shut_event(facts, shut_payload(stored)) if whole is None else _read(head, *whole)
