"""A reviewer's laptop: one SQLite file at home that takes ratings, batches, drafts and settings (DESIGN R1).

What ``append`` gives back is on the disk.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import Any

from harness.core.failures import UsageError
from harness.core.storage import private_folder, storable
from harness.sealed.keys import Identity, Role
from harness.sealed.sealing import AgeIdentity
from harness.store.sqlite.trouble import transaction
from review.log.event import Event, known_withdrawals, reach, reached
from review.log.own_file import FileForm, FileLock, OwnFile, fingerprint, new_device, opening
from review.log.payloads import MOST_TEXT, AnyPayload, Comment, Judged, Kind, Scope, Suggest, Withdraw
from review.log.sealed_words import SealedWords, WordKeys, create_key_table
from review.log.table import append_event, create_event_table, read_events, saying, seal_written

FILE_NAME = "review.sqlite"
BUSY_SECONDS = 5.0  # How long a second program's short transaction is waited for

# Field of the draft of an answer; it stays where a person takes back their comments only
ANSWER_DRAFT = "translation"

_BATCH_ID = re.compile(r"[0-9a-f]{16}")

# ---- The tables of the file as numbered steps; a step that was released is never changed again.

APPLICATION_ID = 0x526F5276  # `PRAGMA application_id`: tells our file from every other SQLite file

_FIRST_TABLES = (
    """CREATE TABLE installation (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        device TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        unclean INTEGER NOT NULL DEFAULT 0  -- 1: free pages may still hold what was taken back
    ) STRICT""",
    """CREATE TABLE batch (
        id TEXT PRIMARY KEY,
        manifest BLOB NOT NULL,
        members BLOB NOT NULL,
        secret INTEGER NOT NULL
    ) STRICT""",
    """CREATE TABLE draft (
        batch TEXT NOT NULL,
        reviewer TEXT NOT NULL,
        item TEXT NOT NULL,
        field TEXT NOT NULL,
        text TEXT NOT NULL,
        PRIMARY KEY (batch, reviewer, item, field)
    ) STRICT""",
    "CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
)


def _m001_events_batches_drafts_settings(connection: sqlite3.Connection) -> None:
    create_event_table(connection)
    for statement in _FIRST_TABLES:
        connection.execute(statement)


def _m002_texts_saved_with_an_answer(connection: sqlite3.Connection) -> None:
    connection.execute(
        """CREATE TABLE saved_with (
            text TEXT PRIMARY KEY,  -- event of a comment or a better wording
            answer TEXT NOT NULL    -- event of the answer that saved it
        ) STRICT"""
    )
    connection.execute("CREATE INDEX saved_with_answer ON saved_with (answer)")


def _m003_how_a_code_begins(connection: sqlite3.Connection) -> None:
    """Reduce the code that was typed last to how it begins; where no name of its person stood, the code was it."""
    connection.execute(
        """INSERT OR IGNORE INTO setting
           SELECT 'person', value FROM setting WHERE name = 'reviewer' AND value <> ''"""
    )
    connection.execute("UPDATE setting SET value = substr(value, 1, 2) WHERE name = 'reviewer'")


def _m004_sealed_words(connection: sqlite3.Connection) -> None:
    """Seal what is written in secret batches; what is open is sealed when the file was opened."""
    create_key_table(connection)
    connection.execute("ALTER TABLE draft ADD COLUMN sealed BLOB")  # its text is empty then


# Each brings a file from the version of its place to the next
MIGRATIONS = (
    _m001_events_batches_drafts_settings,
    _m002_texts_saved_with_an_answer,
    _m003_how_a_code_begins,
    _m004_sealed_words,
)

LAPTOP = FileForm(APPLICATION_ID, MIGRATIONS)  # The form of a laptop's file


@dataclass(frozen=True, slots=True)
class StoredBatch:
    id: str
    manifest: bytes  # The signed head; it holds no text of an item
    members: bytes  # The rest of the file; of a secret batch only its encrypted bytes
    secret: bool


@dataclass(frozen=True, slots=True)
class Draft:
    """What a person is typing about an item and did not save."""

    item: str
    field: str
    text: str | None  # None: nothing is being typed any more


class Laptop(OwnFile):
    """The open file; one object may be used by several threads, and several programs may have it open."""

    def __init__(self, connection: sqlite3.Connection, path: Path, device: str, presence: FileLock) -> None:
        super().__init__(connection, path)
        self.device = device  # Random id of this installation, 16 hexadecimal digits
        self._presence = presence
        self._lock = RLock()
        self._words = SealedWords(
            connection, self._identities, file=FILE_NAME, keys="laptop.key, or its entry in its keyring"
        )

    @classmethod
    def open(cls, folder: Path, *, busy_seconds: float = BUSY_SECONDS) -> Laptop:
        """Open the file in a folder of the local disk, made where there is none.

        What an older version left open of what is written about secret sentences is sealed. Raises NotSaved where the
        file cannot be written, StoreError where a newer version made it, and KeyStoreError where sealing needs a key
        that cannot be had.
        """
        path = folder / FILE_NAME
        with saying(path):
            presence = FileLock(private_folder(folder), busy_seconds)
        try:
            with opening(path, LAPTOP, busy_seconds) as connection:
                device, unclean = _installed(connection, path)
        except BaseException:
            presence.close()
            raise
        laptop = cls(connection, path, device, presence)
        try:
            unclean = laptop._seal_older() or unclean
        except BaseException:
            laptop.close()
            raise
        if unclean:
            laptop._clean()
        return laptop

    def _identities(self) -> Iterator[AgeIdentity]:
        """Yield the key that opens batches and what is written in them; none is made."""
        if Identity.known(self.path.parent, Role.LAPTOP):
            yield Identity.load(self.path.parent, Role.LAPTOP).age

    def _recipients(self) -> list[str]:
        return [Identity.load(self.path.parent, Role.LAPTOP).age.recipient]

    def _seal_older(self) -> bool:
        """Seal what an older version left open of secret batches; tells whether there was such a batch."""
        if not self._unsealed():
            return False
        recipients = self._recipients()
        with self._writing():
            batches = self._unsealed()
            for batch in batches:
                self._words.add(batch, recipients)
            words = self._words.keys(batches)
            seal_written(self.connection, words, batches)
            for number, *place, text in self._rows(
                "SELECT rowid, batch, reviewer, item, field, text FROM draft WHERE sealed IS NULL"
            ):
                self.connection.execute(
                    "UPDATE draft SET text = ?, sealed = ? WHERE rowid = ?", (*words.draft(place, text), number)
                )
            self.connection.execute("UPDATE installation SET unclean = 1")
        return True

    def _unsealed(self) -> list[str]:
        query = "SELECT id FROM batch WHERE secret AND id NOT IN (SELECT batch FROM words_key)"
        return [row[0] for row in self._rows(query)]

    def ready_to_seal(self, batches: Collection[str]) -> WordKeys:
        """Return the keys of what is written in batches, a new one where none opens here; KeyStoreError in words."""
        with saying(self.path), self._lock:
            return self._words.ready(batches, self._recipients)

    def require_open(self, events: Iterable[Event]) -> None:
        """Raise StoreError in words where what is written in one of these events is sealed and no key here opens it."""
        if shut := [event for event in events if event.shut]:
            with saying(self.path), self._lock:
                self._words.keys().require(shut)

    def close(self) -> None:
        super().close()
        self._presence.close()

    def close_alone(self) -> FileLock:
        """Close the file and let nobody open it until what comes back is closed.

        Raises NotSaved (``Problem.BUSY``) where another program has it open; it is then open as before.
        """
        with saying(self.path), self._lock:
            self._presence.be_alone()
            super().close()
        return self._presence

    def append(self, payload: AnyPayload) -> Event:
        """Write what happened as the next event of this device; see ``record``."""
        return self.record([payload])[0]

    def record(
        self, payloads: Sequence[AnyPayload], place: tuple[str, str] = ("", ""), drafts: Iterable[Draft] = ()
    ) -> list[Event]:
        """Write what happened as the next events of this device, and change drafts: all of it, or nothing.

        ``place`` is the batch and the person whose drafts change. All is on the disk when this returns. A text
        that is written together with the answer to its item is known as saved with it. A withdrawal erases
        what it reaches, drafts too, from the file's every byte. Raises NotSaved where nothing was saved, and
        UsageError for what the person has taken back in advance.
        """
        withdraws = [payload for payload in payloads if isinstance(payload, Withdraw)]
        words = self.ready_to_seal({place[0], *(getattr(payload, "batch", None) or "" for payload in payloads)})
        with self._writing():
            for payload in payloads:
                self._refuse_taken_back(payload)
            events = [append_event(self.connection, self.device, p, words) for p in payloads]
            answers = {e.payload.item: e.id for e in events if isinstance(e.payload, Judged)}
            rows = [
                (e.id, answers[e.payload.item])
                for e in events
                if isinstance(e.payload, Comment | Suggest) and e.payload.item in answers
            ]
            self.connection.executemany("INSERT INTO saved_with VALUES (?, ?)", rows)
            self._change_drafts(*place, drafts, words)
            for withdraw in withdraws:
                words_only = withdraw.scope is Scope.COMMENTS
                self.connection.execute(
                    "DELETE FROM draft WHERE reviewer = ? AND batch = coalesce(?, batch) AND NOT (? AND field = ?)",
                    (withdraw.reviewer, reach(withdraw), words_only, ANSWER_DRAFT),
                )
                self.connection.execute("UPDATE installation SET unclean = 1")
        if withdraws:
            self._clean()
        return events

    def saved_with(self, answer: str) -> frozenset[str]:
        """Return the events of the texts that an answer saved."""
        rows = self._rows("SELECT text FROM saved_with WHERE answer = ?", answer)
        return frozenset(row[0] for row in rows)

    def _refuse_taken_back(self, payload: AnyPayload) -> None:
        reviewer, batch = getattr(payload, "reviewer", None), getattr(payload, "batch", None)
        if reviewer is None or isinstance(payload, Withdraw):
            return
        withdrawn = known_withdrawals(self.connection, reviewer)
        if reached(payload.kind, reviewer, batch, withdrawn):
            raise UsageError(
                "This person withdrew from this batch, so nothing more of theirs is kept. "
                "Anyone who wants to take part again needs a new card from the organisation."
            )

    def _clean(self) -> None:
        """Rewrite the file without what was erased; tried again at the next opening where it fails.

        The erased bytes are overwritten already; rewriting needs free space that a full disk has not.
        """
        with self._lock, suppress(sqlite3.Error):
            self.connection.execute("VACUUM")
            self.connection.execute("UPDATE installation SET unclean = 0")

    def events(self, batch: str | None = None) -> Iterator[Event]:
        """Return the events of one batch, or of all, in the order in which they were written.

        Withdrawals and erased events come in any case, and shut what no key here opens. Raises EventError where the
        file was tampered with.
        """
        with saying(self.path), self._lock:
            batches = None if batch is None else [batch]
            return read_events(self.connection, batches, self._words.keys(batches))

    def add_batch(self, manifest: bytes, members: bytes, secret: bool) -> bool:
        """Store a batch file as received; False where it is here already.

        Raises UsageError where another batch of the same id is here, and KeyStoreError where what is to be written about
        secret sentences cannot be sealed.
        """
        try:
            batch = json.loads(manifest)["batch"]
        except (ValueError, LookupError, TypeError, RecursionError):
            batch = None
        if not (isinstance(batch, str) and _BATCH_ID.fullmatch(batch)):
            raise UsageError("The batch file names no batch. Ask the organisation for a new file.")
        recipients = self._recipients() if secret else []
        with self._writing():
            known = self.connection.execute("SELECT manifest FROM batch WHERE id = ?", (batch,)).fetchone()
            if known is None:
                row = (batch, manifest, members, secret)
                self.connection.execute("INSERT INTO batch VALUES (?, ?, ?, ?)", row)
                if secret:
                    self._words.add(batch, recipients)
        if known is not None and known[0] != manifest:
            raise UsageError(f"Another batch with the id {batch} is here already. Ask the organisation for a new file.")
        return known is None

    def batches(self) -> tuple[StoredBatch, ...]:
        rows = self._rows("SELECT id, manifest, members, secret FROM batch ORDER BY rowid")
        return tuple(StoredBatch(id_, head, rest, bool(secret)) for id_, head, rest, secret in rows)

    def batch(self, batch: str) -> StoredBatch:
        """Return one batch; raises UsageError where it is not here."""
        query = "SELECT id, manifest, members, secret FROM batch WHERE id = ?"
        for id_, head, rest, secret in self._rows(query, batch):
            return StoredBatch(id_, head, rest, bool(secret))
        raise UsageError(f"There is no batch {batch} on this computer. Open its file first.")

    def save_drafts(self, batch: str, reviewer: str, drafts: Iterable[Draft]) -> None:
        """Store what a person is typing, or forget it; raises UsageError where it is too long for an event.

        After a withdrawal that reaches it, in whatever program, nothing of it comes to the disk any more.
        """
        words = self.ready_to_seal([batch])
        with self._writing():
            self._change_drafts(batch, reviewer, drafts, words)

    def _change_drafts(self, batch: str, reviewer: str, drafts: Iterable[Draft], words: WordKeys) -> None:
        withdrawn = known_withdrawals(self.connection, reviewer)
        for draft in drafts:
            self.connection.execute(
                "DELETE FROM draft WHERE batch = ? AND reviewer = ? AND item = ? AND field = ?",
                (batch, reviewer, draft.item, draft.field),
            )
            kind = Kind.TRANSLATE if draft.field == ANSWER_DRAFT else Kind.COMMENT
            if draft.text is None or reached(kind, reviewer, batch, withdrawn):
                continue
            if len(draft.text) > MOST_TEXT or storable(draft.text) != draft.text:
                raise UsageError(f"A text has at most {MOST_TEXT:,} characters. Shorten it.")
            place = (batch, reviewer, draft.item, draft.field)
            kept = words.draft(place, draft.text)
            self.connection.execute("INSERT INTO draft VALUES (?, ?, ?, ?, ?, ?)", (*place, *kept))

    def drafts(self, batch: str, reviewer: str) -> tuple[Draft, ...]:
        """Return everything that a person was typing in a batch and did not save; StoreError where no key here opens it."""
        rows = self._rows(
            "SELECT item, field, text, sealed FROM draft WHERE batch = ? AND reviewer = ? ORDER BY rowid",
            batch, reviewer,
        )  # fmt: skip
        with saying(self.path), self._lock:
            words = self._words.keys([batch])
        return tuple(
            Draft(item, field, words.draft_text((batch, reviewer, item, field), text, sealed))
            for item, field, text, sealed in rows
        )

    def count_drafts(self) -> int:
        row = self._rows("SELECT count(*) FROM draft WHERE text <> '' OR sealed IS NOT NULL")
        return int(row[0][0])

    def setting(self, name: str) -> str | None:
        """Return a setting of this computer, None where it was never set."""
        rows = self._rows("SELECT value FROM setting WHERE name = ?", name)
        return rows[0][0] if rows else None

    def set_setting(self, name: str, value: str | None) -> None:
        """Change a setting of this computer; None forgets it."""
        with self._writing():
            if value is None:
                self.connection.execute("DELETE FROM setting WHERE name = ?", (name,))
            else:
                self.connection.execute("REPLACE INTO setting VALUES (?, ?)", (name, value))

    def _rows(self, statement: str, *values: str) -> list[tuple[Any, ...]]:
        with saying(self.path), self._lock:
            return self.connection.execute(statement, values).fetchall()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with saying(self.path), self._lock, transaction(self.connection):
            yield


def _installed(connection: sqlite3.Connection, path: Path) -> tuple[str, bool]:
    """Return the device's id, a new one where the file is not where it was, and whether to clean the file."""
    here = fingerprint(path)
    row = connection.execute("SELECT device, fingerprint, unclean FROM installation").fetchone()
    if row is not None and row[1] == here:
        return row[0], bool(row[2])
    device, unclean = new_device(), row[2] if row else 0
    connection.execute("REPLACE INTO installation VALUES (1, ?, ?, ?)", (device, here, unclean))
    return device, bool(unclean)
