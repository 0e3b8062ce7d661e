"""A reviewer's laptop: one SQLite file at home that takes ratings, batches, drafts and settings (DESIGN R1).

What ``append`` gives back is on the disk. The journal is a rollback journal, because a file that was moved
or unmounted while open then says so; in WAL mode it loses ratings without a word.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import Any, Self

from harness.failures import StoreError, UsageError
from harness.store.database import private_folder
from review.log.device import fingerprint, new_device
from review.log.event import Event
from review.log.laptop_schema import APPLICATION_ID, SCHEMA_VERSION, migrate
from review.log.payloads import MOST_TEXT, AnyPayload, Withdraw
from review.log.saving import NotSaved, Problem, saying, transaction
from review.log.table import append_event, read_events
from review.log.withdrawal import known_withdrawals, reach, reached

FILE_NAME = "review.sqlite"
BUSY_SECONDS = 5.0
"""How long a second program's short transaction is waited for."""

_BATCH_ID = re.compile(r"[0-9a-f]{16}")
_PRAGMAS = (
    "journal_mode = DELETE",
    "synchronous = EXTRA",  # FULL, and the folder too: a commit survives a power cut right after it
    "foreign_keys = ON",
    "secure_delete = ON",
    "temp_store = MEMORY",  # no text of ours in another folder
    "trusted_schema = OFF",
)


@dataclass(frozen=True, slots=True)
class StoredBatch:
    """A batch file as it was received."""

    id: str
    manifest: bytes
    """The signed head; it holds no text of an item."""
    members: bytes
    """The rest of the file; of a secret batch only its encrypted bytes."""
    secret: bool


class Laptop:
    """The open file; one object may be used by several threads, and several programs may have it open."""

    def __init__(self, connection: sqlite3.Connection, path: Path, device: str) -> None:
        self.path = path
        self.device = device
        """Random id of this installation, 16 hexadecimal digits."""
        self._connection = connection
        self._lock = RLock()

    @classmethod
    def open(cls, folder: Path, *, busy_seconds: float = BUSY_SECONDS) -> Laptop:
        """Open the file in a folder of the local disk, made where there is none.

        Raises NotSaved where it cannot be written, and StoreError where a newer version made it.
        """
        path = folder / FILE_NAME
        with saying(path):
            private_folder(folder)
            if not path.exists():
                os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            connection = sqlite3.connect(
                path, timeout=busy_seconds, isolation_level=None, check_same_thread=False
            )
            try:
                return cls._prepared(connection, path)
            except BaseException:
                connection.close()
                raise

    @classmethod
    def _prepared(cls, connection: sqlite3.Connection, path: Path) -> Laptop:
        _check_ours(connection, path)
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
        with transaction(connection):
            migrate(connection)
            device, unclean = _installed(connection, path)
        _try_writing(connection)
        laptop = cls(connection, path, device)
        if unclean:
            laptop._clean()
        return laptop

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def append(self, payload: AnyPayload) -> Event:
        """Write what happened as the next event of this device; it is on the disk when this returns.

        A withdrawal erases what it reaches, drafts too, from the file's every byte. Raises NotSaved where
        nothing was saved, and UsageError for what the person has taken back in advance.
        """
        with self._writing():
            self._refuse_taken_back(payload)
            event = append_event(self._connection, self.device, payload)
            if isinstance(payload, Withdraw):
                self._drop_drafts(payload)
        if isinstance(payload, Withdraw):
            self._clean()
        return event

    def _refuse_taken_back(self, payload: AnyPayload) -> None:
        reviewer, batch = getattr(payload, "reviewer", None), getattr(payload, "batch", None)
        if reviewer is None or isinstance(payload, Withdraw):
            return
        withdrawn = known_withdrawals(self._connection, reviewer)
        if reached(payload.kind, reviewer, batch, withdrawn):
            raise UsageError(
                "This person withdrew from this batch, so nothing more of theirs is kept. "
                "Whoever wants to take part again needs a new card from the organisation."
            )

    def _drop_drafts(self, withdraw: Withdraw) -> None:
        self._connection.execute(
            "DELETE FROM draft WHERE reviewer = ? AND batch = coalesce(?, batch)",
            (withdraw.reviewer, reach(withdraw)),
        )
        self._connection.execute("UPDATE installation SET unclean = 1")

    def _clean(self) -> None:
        """Rewrite the file without what was erased; tried again at the next opening where it fails.

        The erased bytes are overwritten already; rewriting needs free space that a full disk has not.
        """
        with self._lock, suppress(sqlite3.Error):
            self._connection.execute("VACUUM")
            self._connection.execute("UPDATE installation SET unclean = 0")

    def events(self, batch: str | None = None) -> Iterator[Event]:
        """Give the events of one batch, or of all, in the order in which they were written.

        Withdrawals and erased events come in any case. Raises EventError where the file was tampered with.
        """
        with saying(self.path), self._lock:
            return read_events(self._connection, None if batch is None else [batch])

    def add_batch(self, manifest: bytes, members: bytes, secret: bool) -> bool:
        """Keep a batch file as received; False where it is here already.

        Raises UsageError where another batch of the same id is here.
        """
        batch = _batch_id(manifest)
        with self._writing():
            known = self._connection.execute(
                "SELECT manifest FROM batch WHERE id = ?", (batch,)
            ).fetchone()
            if known is None:
                row = (batch, manifest, members, secret)
                self._connection.execute("INSERT INTO batch VALUES (?, ?, ?, ?)", row)
        if known is not None and known[0] != manifest:
            raise UsageError(
                f"Another batch with the id {batch} is here already. Ask the organisation for a new file."
            )
        return known is None

    def batches(self) -> tuple[StoredBatch, ...]:
        """Give all batches, the last received one last."""
        rows = self._rows("SELECT id, manifest, members, secret FROM batch ORDER BY rowid")
        return tuple(_stored(row) for row in rows)

    def batch(self, batch: str) -> StoredBatch:
        """Give one batch; raises UsageError where it is not here."""
        for row in self._rows(
            "SELECT id, manifest, members, secret FROM batch WHERE id = ?", batch
        ):
            return _stored(row)
        raise UsageError(f"There is no batch {batch} on this computer. Open its file first.")

    def save_draft(self, batch: str, reviewer: str, item: str, field: str, text: str) -> None:
        """Keep what a person is typing; raises UsageError where it is too long for an event."""
        if len(text) > MOST_TEXT or not _writable(text):
            raise UsageError(f"A text has at most {MOST_TEXT:,} characters. Shorten it.")
        self._write("REPLACE INTO draft VALUES (?, ?, ?, ?, ?)", batch, reviewer, item, field, text)

    def draft(self, batch: str, reviewer: str, item: str, field: str) -> str | None:
        """Give what a person was typing, None for nothing."""
        rows = self._rows(
            "SELECT text FROM draft WHERE batch = ? AND reviewer = ? AND item = ? AND field = ?",
            batch, reviewer, item, field,
        )  # fmt: skip
        return rows[0][0] if rows else None

    def drop_draft(self, batch: str, reviewer: str, item: str, field: str) -> None:
        """Forget a draft, because it was sent or given up."""
        self._write(
            "DELETE FROM draft WHERE batch = ? AND reviewer = ? AND item = ? AND field = ?",
            batch, reviewer, item, field,
        )  # fmt: skip

    def setting(self, name: str) -> str | None:
        """Give a setting of this computer, None where it was never set."""
        rows = self._rows("SELECT value FROM setting WHERE name = ?", name)
        return rows[0][0] if rows else None

    def set_setting(self, name: str, value: str | None) -> None:
        """Change a setting of this computer; None forgets it."""
        if value is None:
            self._write("DELETE FROM setting WHERE name = ?", name)
        else:
            self._write("REPLACE INTO setting VALUES (?, ?)", name, value)

    def _rows(self, statement: str, *values: str) -> list[tuple[Any, ...]]:
        with saying(self.path), self._lock:
            return self._connection.execute(statement, values).fetchall()

    def _write(self, statement: str, *values: str) -> None:
        with self._writing():
            self._connection.execute(statement, values)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with saying(self.path), self._lock, transaction(self._connection):
            yield


def _stored(row: tuple[Any, ...]) -> StoredBatch:
    batch, manifest, members, secret = row
    return StoredBatch(batch, manifest, members, bool(secret))


def _check_ours(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute(
        "BEGIN"
    )  # one state of the file, though another program may just be making it
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    connection.rollback()
    if application != APPLICATION_ID and (application or version or tables):
        raise NotSaved(Problem.NOT_OURS, path, f"application_id {application:#x}")
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"{path} was written by a newer version of Rosetta (its version is {version}, this program "
            f"knows {SCHEMA_VERSION}). Install the newer version. Nothing was changed."
        )


def _installed(connection: sqlite3.Connection, path: Path) -> tuple[str, bool]:
    """Give the device's id, a new one where the file is not where it was, and whether to clean the file."""
    here = fingerprint(path)
    row = connection.execute("SELECT device, fingerprint, unclean FROM installation").fetchone()
    if row is not None and row[1] == here:
        return row[0], bool(row[2])
    device = new_device()
    connection.execute(
        "REPLACE INTO installation VALUES (1, ?, ?, ?)", (device, here, row[2] if row else 0)
    )
    return device, bool(row and row[2])


def _try_writing(connection: sqlite3.Connection) -> None:
    """Change something and take it back, so that a file or folder that is read-only says so at once.

    A full disk is no reason not to open: ratings can still be handed over.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute("UPDATE installation SET fingerprint = ''")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_FULL:
            raise
    finally:
        connection.rollback()


def _batch_id(manifest: bytes) -> str:
    try:
        batch = json.loads(manifest)["batch"]
    except (ValueError, LookupError, TypeError, RecursionError):
        batch = None
    if not (isinstance(batch, str) and _BATCH_ID.fullmatch(batch)):
        raise UsageError("The batch file names no batch. Ask the organisation for a new file.")
    return batch


def _writable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
