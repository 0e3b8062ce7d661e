"""What the organisation keeps: reviews with their answer keys, and every event that came back."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Self

from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.sealed.keys import Signed
from harness.sealed.sealing import AgeIdentity
from harness.store.sqlite.sealing import recipients_here
from harness.store.sqlite.trouble import transaction
from review.files.identities import Statement, read_statement
from review.files.manifests import BatchItem, BatchManifest
from review.log.event import Event
from review.log.fold import State, fold, looks_by_run
from review.log.merge import heard
from review.log.own_file import OwnFile
from review.log.payloads import Adjudicate, AssignLaptop, Kind, LaptopWord, OrganiserLook, Withdraw
from review.log.sealed_words import WRITTEN, WordKeys
from review.log.table import NO_WORDS, append_event, read_device, read_events, saying, seal_written
from review.office.store.database import (
    FILE,
    add_keys,
    is_unclean,
    keep_items,
    must_seal,
    note_unclean,
    open_office,
    read_items,
    rewrite,
    runs_out_of_vault,
    seal_older,
    words_here,
)
from review.office.store.review import (
    Import,
    IssuedCertificate,
    KnownLaptop,
    Quarantined,
    Review,
    ReviewRead,
    events_of,
    is_secret,
)
from review.verdict.gate.key import AnswerKey

__all__ = ["IssuedCertificate", "Office", "Review", "utc_now"]


def utc_now() -> str:
    """Return the time as events and reviews write it: UTC, whole seconds."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Office(OwnFile):
    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        super().__init__(connection, path)
        rows = connection.execute("SELECT device FROM own_device ORDER BY rowid").fetchall()
        self.device: str = rows[-1][0]  # Id of the organisation's own chain of events
        # Of the first place of the file: certificates name it wherever the file is now
        self.first_device: str = rows[0][0]
        # That one, and those from before the file was moved
        self.own_devices = frozenset(row[0] for row in rows)
        self._words = words_here(connection, path)
        self._last_read: ReviewRead | None = None

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open the office in a data folder, making it where there is none; StoreError in words."""
        path = folder / FILE
        office = cls(open_office(path), path)
        try:
            if must_seal(office.connection):
                office._seal_older()
        except BaseException:
            office.close()
            raise
        return office

    def _seal_older(self) -> None:
        """Seal what an older version left open of secret reviews, sentences and words alike, and leave no byte of it."""
        secret = [review for review in self.reviews() if review.secret]
        recipients = recipients_here(self.path.parent) if secret else []
        with self.transaction():
            for review in secret:
                add_keys(self._words, review.manifests.values(), recipients)
            batches = {batch for review in secret for batch in review.manifests}
            seal_written(self.connection, self._words.keys(batches), batches)
            seal_older(self.connection, recipients, [review.number for review in secret])
            if secret:
                note_unclean(self.connection)
        rewrite(self.connection)

    def ready_to_seal(self, review: Review, named: Sequence[AgeIdentity] = ()) -> WordKeys:
        """Return the keys of what is written in a review, new ones where none opens here; KeyStoreError in words.

        What ``named`` identities open, such as a recovery key, opens here from now on. It may ask the keyring, so it is
        called before a transaction.
        """

        def recipients() -> list[str]:
            others = review.manifest.organisation.recipients
            return sorted({*others, *recipients_here(self.path.parent)})

        with saying(self.path):
            self._words.seal_anew(review.manifests, named, recipients)
            return self._words.ready(review.manifests, recipients)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run a block all or nothing; NotSaved says why it could not be stored.

        A block within another is part of that one.
        """
        if self.connection.in_transaction:
            yield
            return
        with saying(self.path), transaction(self.connection):
            yield

    def create_review(
        self,
        key: AnswerKey,
        policy: bytes,
        manifests: Mapping[str, Signed],
        texts: Iterable[BatchItem],
        codes: Mapping[str, str] = MappingProxyType({}),
        vault_runs: Sequence[str] = (),
    ) -> Review:
        """Store a new review; ``codes`` is person → code on the card, ``vault_runs`` are those of its runs that are from a vault.

        UsageError where its name is taken, KeyStoreError where it is secret and cannot be sealed, StoreError where its vault is
        not open.
        """
        contents = [manifest.content for manifest in manifests.values()]
        secret = is_secret(key, BatchManifest.model_validate_json(contents[0]))
        recipients = recipients_here(self.path.parent) if secret else []
        with self.transaction():
            if self.is_taken(key.review):
                raise UsageError(f"There is a review {key.review!r} already. Choose another name with --name.")
            inserted = self.connection.execute(
                "INSERT INTO review (name, created, answer_key, policy) VALUES (?, ?, ?, ?)",
                (key.review, utc_now(), canonical_bytes(key.model_dump(mode="json")), policy),
            )
            number = int(inserted.lastrowid or 0)
            self.connection.executemany(
                "INSERT INTO batch (batch, review, manifest, signature) VALUES (?, ?, ?, ?)",
                [(batch, number, m.content, m.signature) for batch, m in manifests.items()],
            )
            keep_items(self.connection, self.path.parent, (number, key.batches[0]), texts, recipients, vault_runs)
            if secret:
                add_keys(self._words, contents, recipients)
            self.connection.executemany(
                "INSERT INTO person (review, person, code) VALUES (?, ?, ?)",
                [(number, person, code) for person, code in codes.items()],
            )
        return self.review(key.review)

    def is_taken(self, name: str) -> bool:
        """Return whether a review of this name is there; a stick has one file for names that differ by capitals alone."""
        row = self.connection.execute("SELECT 1 FROM review WHERE name = ? COLLATE NOCASE", (name,)).fetchone()
        return row is not None

    def reviews(self) -> list[Review]:
        return self._reviews("ORDER BY number DESC")

    def review(self, name: str) -> Review:
        """Return the review whose name is, or begins with, this one; ``last`` is the newest.

        Raises UsageError where none or several match.
        """
        if name == "last":
            reviews = self._reviews("ORDER BY number DESC LIMIT 1")
        else:
            begins = "WHERE substr(name, 1, ?) = ? ORDER BY name = ? DESC LIMIT 2"
            reviews = self._reviews(begins, len(name), name, name)
        if not reviews or not name:
            raise UsageError(f"There is no review {name!r}. `rosetta review status` lists them.")
        if len(reviews) > 1 and reviews[0].name != name:
            raise UsageError(f"Several reviews begin with {name!r}. Write more of the name.")
        return reviews[0]

    def review_of_batch(self, batch: str) -> Review | None:
        """Return the review that a batch belongs to, None where it is not ours."""
        of_batch = "WHERE number = (SELECT review FROM batch WHERE batch = ?)"
        return next(iter(self._reviews(of_batch, batch)), None)

    def _reviews(self, which: str, *values: str | int) -> list[Review]:
        columns = "SELECT number, name, created, answer_key, policy FROM review "
        return [self._review(*row) for row in self.connection.execute(columns + which, values).fetchall()]

    def _review(self, number: int, name: str, created: str, key: bytes, policy: bytes) -> Review:
        batches = self.connection.execute(
            "SELECT batch, manifest, signature FROM batch WHERE review = ? ORDER BY rowid", (number,)
        ).fetchall()
        manifests = {batch: manifest for batch, manifest, _ in batches}
        codes = "SELECT person, code FROM person WHERE review = ?"
        return Review(
            number=number,
            name=name,
            created=created,
            key=AnswerKey.model_validate_json(key),
            policy=policy,
            manifests=manifests,
            codes=dict(self.connection.execute(codes, (number,)).fetchall()),
            _read_texts=lambda: read_items(self.connection, self.path.parent, (number, next(iter(manifests)))),
            vault_runs=runs_out_of_vault(self.connection, number),
            signatures={batch: signature for batch, _, signature in batches},
        )

    def events(self, review: Review, *, shut: bool = False) -> list[Event]:
        """Return the events of a review: whole chains as far as they belong to it, in the one order.

        What the same devices said about other reviews comes as heads only, so that chains can be checked;
        later events of theirs about other reviews do not change this set. StoreError in words where what people wrote is
        sealed and no key here opens it, unless ``shut`` events will do. The last review that was read is read again only
        after the file was changed.
        """
        words = self._words.keys(review.manifests)
        # Number that changes when another connection changes the file.
        version: int = self.connection.execute("PRAGMA data_version").fetchone()[0]
        changes = (version, self.connection.total_changes)
        last = self._last_read
        known = last is not None and last.review is review
        if last is None or not known or (last.words, last.changes) != (words, changes):
            every = read_events(self.connection, words=words)
            events = events_of(review, every, self.connection, self.own_devices)
            self._last_read = last = ReviewRead(review, words, changes, events)
        if not shut:
            words.require(last.events)
        return [*last.events]

    def append(
        self, review: Review, payload: Adjudicate | OrganiserLook | Withdraw | LaptopWord | AssignLaptop
    ) -> Event:
        """Write an event of the organisation's own; it is durable when this returns.

        A withdrawal also erases what it reaches, from every byte of the file (``unclean`` where it could not).
        """
        if payload.batch is not None and payload.batch not in review.manifests:
            raise ValueError("the event is of another review")
        words = self.ready_to_seal(review) if payload.kind in WRITTEN else NO_WORDS
        with self.transaction():
            event = append_event(self.connection, self.device, payload, words)
            if event.kind is Kind.WITHDRAW:
                note_unclean(self.connection)
        rewrite(self.connection)
        return event

    @property
    def unclean(self) -> bool:
        """True while the file is still to be rewritten without what was taken back: the disk was full."""
        return is_unclean(self.connection)

    def state(self, review: Review) -> State:
        """Return what a review's events add up to, of the laptops that are heard; the same as in its evidence.

        HarnessError where policy, key or people were changed after the batches went out, StoreError as of ``events``.
        """
        review.require_unchanged()
        return self._state(review, self.events(review))

    def state_of_any(self, review: Review) -> State:
        """Return the same, also of a review that was changed or is shut: for counting who did how much, never for results."""
        return self._state(review, self.events(review, shut=True))

    def _state(self, review: Review, events: Iterable[Event]) -> State:
        batches = set(review.manifests)
        counted_events, _ = heard(events, self.devices(), self.own_devices, batches)
        return fold(counted_events, batches)

    def looks(self) -> dict[str, int]:
        """Return run id → how often its numbers were examined, in all reviews: at how many different sets of ratings."""
        return {run: len(seen) for run, seen in looks_by_run(self.own_looks()).items()}

    def other_batches(self, review: Review) -> dict[str, tuple[str, ...]]:
        """Return run → batches of the other reviews of it."""
        rows = self.connection.execute(
            "SELECT json_extract(run.value, '$.run_id'), batch.batch FROM review"
            " JOIN json_each(CAST(review.answer_key AS TEXT), '$.runs') run"
            " JOIN batch ON batch.review = review.number"
            " WHERE review.number <> ? ORDER BY batch.batch",
            (review.number,),
        ).fetchall()
        return {run.run_id: tuple(batch for run_id, batch in rows if run_id == run.run_id) for run in review.key.runs}

    def own_looks(self) -> list[OrganiserLook]:
        """Return every look of the organisation, in all reviews, in the one order."""
        events = self.own_words(Kind.LOOK)
        return [e.payload for e in events if isinstance(e.payload, OrganiserLook)]

    def own_words(self, kind: Kind) -> list[Event]:
        """Return what the organisation itself said of one kind, in all reviews, in the one order."""
        payloads = (read_device(self.connection, device, kind) for device in self.own_devices)
        return sorted(chain.from_iterable(payloads), key=lambda event: event.order)

    def laptops(self) -> list[KnownLaptop]:
        rows = self.connection.execute(
            "SELECT signing_key, recipient, name, enrolled, instead_of, removed, reason FROM laptop"
            " ORDER BY name, signing_key"
        )
        return [KnownLaptop(*row) for row in rows]

    def enrol(self, signing_key: str, name: str, recipient: str | None = None, instead_of: str | None = None) -> None:
        """Accept the ratings of a laptop from now on; what was known of it is kept."""
        with self.transaction():
            self.connection.execute(
                "INSERT INTO laptop (signing_key, recipient, name, enrolled, instead_of)"
                " VALUES (?, ?, ?, ?, ?) ON CONFLICT (signing_key) DO UPDATE"
                " SET name = excluded.name, recipient = coalesce(excluded.recipient, recipient),"
                " instead_of = coalesce(excluded.instead_of, instead_of)",
                (signing_key, recipient, name, utc_now(), instead_of),
            )

    def set_heard(self, signing_key: str, *, heard: bool, reason: str = "") -> None:
        with self.transaction():
            self.connection.execute(
                "UPDATE laptop SET removed = ?, reason = ? WHERE signing_key = ?",
                (None if heard else utc_now(), reason, signing_key),
            )

    def devices(self) -> dict[str, str]:
        """Return device → the key that answers for it: the first enrolled laptop that handed it in."""
        rows = self.connection.execute("SELECT device, signing_key FROM delivery ORDER BY rowid DESC")
        return dict(rows.fetchall())

    def signed(self, devices: Collection[str]) -> list[Signed]:
        """Return what laptops signed when they submitted events of some devices, in the order in which it came."""
        rows = self.connection.execute("SELECT manifest, signature, devices FROM signed ORDER BY number")
        return [
            Signed(manifest, signature)
            for manifest, signature, wrote in rows
            if not set(wrote.split()).isdisjoint(devices)
        ]

    def keep_statement(self, content: bytes, own_key: str) -> Statement:
        """Store what a witness signed of a laptop that is enrolled; the last statement of each witness counts.

        FileError for what is no statement; UsageError where it is of another organisation or of no laptop here.
        """
        statement = read_statement(content)
        if statement.organisation != own_key:
            raise UsageError(
                "This statement is for another organisation. Let the witness name yours: its key or one of its batches."
            )
        if statement.laptop not in {laptop.signing_key for laptop in self.laptops()}:
            raise UsageError(
                "The laptop of this statement is not enrolled here. Enrol it first, then take the statement in again."
            )
        with self.transaction():
            self.connection.execute(
                "INSERT OR REPLACE INTO witness (laptop, witness, content) VALUES (?, ?, ?)",
                (statement.laptop, statement.witness, content),
            )
        return statement

    def statements(self, laptops: Collection[str]) -> list[bytes]:
        rows = self.connection.execute("SELECT laptop, content FROM witness ORDER BY laptop, witness")
        return [content for laptop, content in rows if laptop in laptops]

    def quarantine(self) -> list[Quarantined]:
        rows = self.connection.execute(
            "SELECT sha256, signing_key, received, name, content, phrase FROM quarantine ORDER BY rowid"
        )
        return [Quarantined(*row) for row in rows]

    def imports(self, review: Review | None = None) -> list[Import]:
        """Return the files that were imported, oldest first: all, or those of one review."""
        rows = self.connection.execute(
            "SELECT sha256, received, name, signing_key, batch, added FROM import ORDER BY number"
        )
        every = [Import(*row) for row in rows]
        return [i for i in every if review is None or i.batch in review.manifests]

    def certificates(self, review: Review) -> list[IssuedCertificate]:
        """Return the certificates of a review, oldest first."""
        rows = self.connection.execute(
            "SELECT number, run_id, certificate, signature, recompute FROM certificate"
            " WHERE review = ? ORDER BY number",
            (review.number,),
        )
        return [IssuedCertificate(n, run, c, s, bool(again)) for n, run, c, s, again in rows]

    def add_certificate(self, review: Review, run_id: str, certificate: bytes, signature: bytes) -> None:
        with self.transaction():
            self.connection.execute(
                "INSERT INTO certificate (review, run_id, certificate, signature) VALUES (?, ?, ?, ?)",
                (review.number, run_id, certificate, signature),
            )
