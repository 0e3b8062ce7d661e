"""What a person puts beside a run: a note, tags, and certificates of reviews.

They are next to the run's card and never in it, because a sealed card does not change (DESIGN C4). Notes and tags
stay at home: no export holds them. What a certificate is worth is judged by ``review.verdict``.
"""

from __future__ import annotations

import json
import sqlite3
import time
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple

from corpora.files.json_types import JsonObject
from harness.core.failures import StoreError, UsageError
from harness.core.storage import storable
from harness.store.sqlite.database import has_table
from harness.store.sqlite.trouble import stored_json, stored_object, stored_word, transaction
from harness.store.withdrawn import now_standing


class Attached(NamedTuple):
    """One certificate beside a run."""

    certificate: bytes
    """Its own bytes, over which it is signed."""
    signature: bytes
    """Ed25519, 64 bytes."""
    signer: str
    """Public key that was trusted when it was attached, hexadecimal."""
    suspended: bool = False
    """True where somebody took back what it rests on: it gives nothing until one is issued again."""

    @property
    def sha256(self) -> str:
        """Hash of its bytes, hexadecimal."""
        from hashlib import sha256  # loads OpenSSL, which a list of runs does without

        return sha256(self.certificate).hexdigest()


def attach_certificate(connection: sqlite3.Connection, run: int, attached: Attached) -> None:
    """Store a certificate beside a run; the same one a second time changes nothing."""
    row = (run, attached.sha256, attached.certificate, attached.signature, attached.signer, time.time())
    connection.execute(
        "INSERT OR IGNORE INTO certificates (run, sha256, certificate, signature, signer, attached)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        row,
    )


def detach_certificates(connection: sqlite3.Connection, run: int) -> int:
    """Remove all certificates of a run; return how many there were."""
    return connection.execute("DELETE FROM certificates WHERE run = ?", (run,)).rowcount


def suspend_certificates(connection: sqlite3.Connection, hashes: Iterable[str]) -> int:
    """Suspend certificates, whichever runs they are attached to; return how many newly."""
    marked = (
        connection.execute(
            "UPDATE certificates SET suspended = 1 WHERE sha256 = ? AND NOT suspended", (digest,)
        ).rowcount
        for digest in hashes
    )
    return sum(marked)


def attached_to(connection: sqlite3.Connection, run: int) -> tuple[Attached, ...]:
    """Return the certificates of one run, in the order in which they were attached."""
    return attached_by_run(connection, run).get(run, ())


def attached_by_run(connection: sqlite3.Connection, only: int | None = None) -> dict[int, tuple[Attached, ...]]:
    """Return the certificates of every run that has any; rows of a wrong type count as absent."""
    certificates: dict[int, tuple[Attached, ...]] = {}
    rows = connection.execute(
        "SELECT run, certificate, signature, signer, suspended FROM certificates"
        " WHERE ? IS NULL OR run = ? ORDER BY attached, sha256",
        (only, only),
    )
    for run, certificate, signature, signer, suspended in rows:
        if isinstance(certificate, bytes) and isinstance(signature, bytes):
            one = Attached(certificate, signature, str(signer), bool(suspended))
            certificates[run] = (*certificates.get(run, ()), one)
    return certificates


MOST_NOTE = 10_000  # Characters of the longest note
MOST_TAG = 40  # Characters of the longest tag
MOST_TAGS = 30  # Tags of one run


def change_words(
    connection: sqlite3.Connection,
    run: int,
    *,
    note: str | None = None,
    add: Iterable[str] = (),
    remove: Iterable[str] = (),
) -> tuple[str, ...]:
    """Change a run's note and tags, all of it or nothing; gives the tags that it has then.

    None leaves the note as it is. Raises UsageError for words that are not kept, StoreError where the run is
    gone.
    """
    words = None if note is None else tidy_note(note)
    added, removed = set(map(tidy_tag, add)), set(map(tidy_tag, remove))
    with transaction(connection):
        there = "SELECT 1 FROM runs WHERE id = ? AND put_away IS NULL"
        if connection.execute(there, (run,)).fetchone() is None:
            raise StoreError("The run was deleted meanwhile; nothing is kept next to it.")
        if words:
            connection.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (run, words))
        elif words is not None:
            connection.execute("DELETE FROM notes WHERE run = ?", (run,))
        had = set(tags_of(connection, run))
        if not added and not removed:
            return tuple(sorted(had))
        tags = (had | added) - removed
        wanted = tidy_tags(tags)
        connection.execute("DELETE FROM tags WHERE run = ?", (run,))
        connection.executemany("INSERT INTO tags VALUES (?, ?)", [(run, tag) for tag in wanted])
        return wanted


def tidy_note(note: str) -> str:
    """Return a note as it is kept; raises UsageError for one that is too long."""
    words = storable(note).strip()
    if len(words) > MOST_NOTE:
        raise UsageError(f"The note has {len(words):,} characters; at most {MOST_NOTE:,} are kept. Shorten it.")
    return words


def tidy_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return the tags of a run as they are kept; raises UsageError where one is none or there are too many."""
    wanted = tuple(sorted(set(map(tidy_tag, tags))))
    if len(wanted) > MOST_TAGS:
        raise UsageError(f"A run has at most {MOST_TAGS} tags; these are {len(wanted)}.")
    return wanted


def tidy_tag(tag: str) -> str:
    """Return a tag as it is kept: one word in NFC; raises UsageError for what is none."""
    word = unicodedata.normalize("NFC", storable(tag).strip().lstrip("#"))
    apart = any(c == "," or c.isspace() or unicodedata.category(c) in {"Cc", "Cs"} for c in word)
    if not word or len(word) > MOST_TAG or apart:
        raise UsageError(
            f"A tag is one word of at most {MOST_TAG} characters, without spaces and commas, such as "
            "`baseline` or `2026-11`. Write each tag for itself."
        )
    return word


def note_of(connection: sqlite3.Connection, run: int) -> str:
    """Return a run's note, empty where it has none."""
    row = connection.execute("SELECT words FROM notes WHERE run = ?", (run,)).fetchone()
    return "" if row is None else str(row[0])


def tags_of(connection: sqlite3.Connection, run: int) -> tuple[str, ...]:
    """Return a run's tags in order."""
    return tags_by_run(connection, run).get(run, ())


def tags_by_run(connection: sqlite3.Connection, only: int | None = None) -> dict[int, tuple[str, ...]]:
    """Return the tags of every run that has any, in order."""
    tags: dict[int, tuple[str, ...]] = {}
    rows = connection.execute("SELECT run, tag FROM tags WHERE ? IS NULL OR run = ? ORDER BY run, tag", (only, only))
    for run, tag in rows:
        tags[run] = (*tags.get(run, ()), tag)
    return tags


# ---- Signed records beside the runs: who owns a method, and what an organisation states of
# itself.
#
# They are kept by what they are about, not by the run, so they stay where a run is deleted. What
# a record is worth is judged by ``review.records``; lists show what its reader found of it,
# unless one of its keys was revoked since.

_TABLE: Final = "signed_records"


class RecordKind(StrEnum):
    """What a signed record says."""

    OWNERSHIP = "ownership"
    STATEMENT = "statement"
    """Of an organisation about itself."""


class KeptRecord(NamedTuple):
    """One record as lists know it."""

    id: str  # SHA-256 of what was agreed on or stated
    kind: RecordKind
    run_id: str
    card: str  # Hash of the card that it is about; empty where it is about none
    told: JsonObject  # What lists show; `keys`: the keys that signed it

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that signed it, the organisation's first."""
        keys = self.told.get("keys")
        return tuple(map(str, keys)) if isinstance(keys, list | tuple) else ()

    @property
    def revoked(self) -> bool:
        """Return whether a key that signed it was revoked here since."""
        now = now_standing()
        return bool(now) and any(now.of_key(key) for key in self.keys)


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


def signed_files(connection: sqlite3.Connection, kind: RecordKind) -> list[tuple[KeptRecord, bytes]]:
    """Return all records of a kind with their files, by id."""
    if not has_table(connection, _TABLE):
        return []
    query = "SELECT * FROM signed_records WHERE kind = ? ORDER BY id"
    return [(_record(row[:5]), bytes(row[5])) for row in connection.execute(query, (kind,))]


def records_by_run(connection: sqlite3.Connection, only: int | None = None) -> dict[int, tuple[KeptRecord, ...]]:
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


# ---- What was found here of cards that others made: their scores computed again from their
# outputs, their set-up run again.
#
# It is next to the card and never in it: a card says of itself what it likes.


class Recount(NamedTuple):
    """Result of scoring a card's outputs again gave."""

    pinned: bool
    """Whether sources and references of its rows were held against the corpus file that the card names."""
    differences: tuple[str, ...] = ()
    """In words, what the card states and its outputs do not give; empty where all is as stated."""

    @property
    def counts(self) -> bool:
        """Return whether the card's scores may stand without the word stated."""
        return self.pinned and not self.differences


class CheckedHere(NamedTuple):
    """All that was found here of the card of one run."""

    reproduced: frozenset[str] = frozenset()
    """Hashes of cards that somebody reproduced whose key is believed here."""
    recount: Recount | None = None
    """None where nobody scored it again, and for runs of this store, which were scored here."""
    records: tuple[KeptRecord, ...] = ()
    """What people signed about it after its verdict."""

    @property
    def counts(self) -> bool:
        """Return whether its outputs were scored again here with its corpus, and gave what the card states."""
        return self.recount is not None and self.recount.counts


UNCHECKED = CheckedHere()


def checked_here(connection: sqlite3.Connection, only: int | None = None) -> dict[int, CheckedHere]:
    """Return what was found of the cards of all runs, or of one, by the store's number; runs without are left out."""
    again, counted = reproduced_cards(connection, only), recounts(connection, only)
    signed = records_by_run(connection, only)
    return {
        run: CheckedHere(again.get(run, frozenset()), counted.get(run), signed.get(run, ()))
        for run in (*again, *counted, *signed)
    }


def keep_reproduction(connection: sqlite3.Connection, run: int, signer: str, card: str, file: bytes) -> None:
    """Store the signed record of a reproduction beside a run, instead of an earlier one of the same key."""
    connection.execute("INSERT OR REPLACE INTO reproductions VALUES (?, ?, ?, ?)", (run, signer, card, file))


def detach_reproductions(connection: sqlite3.Connection, run: int) -> int:
    """Remove all records of reproductions of a run; return how many there were."""
    return connection.execute("DELETE FROM reproductions WHERE run = ?", (run,)).rowcount


def reproduced_cards(connection: sqlite3.Connection, only: int | None = None) -> dict[int, frozenset[str]]:
    """Return by run the hashes of its cards that somebody reproduced whose key is believed here; an older store has none."""
    if not has_table(connection, "reproductions"):
        return {}
    rows = connection.execute("SELECT run, signer, card FROM reproductions WHERE ? IS NULL OR run = ?", (only, only))
    cards: dict[int, frozenset[str]] = {}
    standing = now_standing()
    for run, signer, card in rows:
        if standing.of_key(str(signer)) is None:
            cards[run] = cards.get(run, frozenset()) | {str(card)}
    return cards


def reproduction_files(connection: sqlite3.Connection, run: int) -> list[tuple[str, bytes]]:
    """Return the signed records beside a run, each behind the key that was trusted when it was attached."""
    if not has_table(connection, "reproductions"):
        return []
    query = "SELECT signer, file FROM reproductions WHERE run = ? ORDER BY signer"
    return [(str(signer), bytes(file)) for signer, file in connection.execute(query, (run,))]


def keep_recount(connection: sqlite3.Connection, run: int, *, pinned: bool, differences: Collection[str]) -> None:
    """Store what scoring a card again gave, instead of what an earlier time gave."""
    words = json.dumps(list(differences), ensure_ascii=False)
    connection.execute("INSERT OR REPLACE INTO recounts VALUES (?, ?, ?)", (run, pinned, words))


def recounts(connection: sqlite3.Connection, only: int | None = None) -> dict[int, Recount]:
    """Return by run what scoring its card again gave; an older store has none."""
    if not has_table(connection, "recounts"):
        return {}
    rows = connection.execute("SELECT run, pinned, differences FROM recounts WHERE ? IS NULL OR run = ?", (only, only))
    return {run: Recount(bool(pinned), _words(words)) for run, pinned, words in rows}


def _words(told: object) -> tuple[str, ...]:
    json = stored_json(told)
    return tuple(map(str, json)) if isinstance(json, list) else (str(json),)


# ---- Seals of keys beside the runs whose cards they name; gone with their run ----


def keep_seal(connection: sqlite3.Connection, run: int, signer: str, file: bytes) -> None:
    """Store the file of a seal beside a run, instead of an earlier one of the same key (hexadecimal)."""
    connection.execute("INSERT OR REPLACE INTO card_seals VALUES (?, ?, ?)", (run, signer, file))


def seals_of(connection: sqlite3.Connection, run: int) -> list[bytes]:
    """Return the files of the seals beside a run; rows of a wrong type count as absent, and an older store has none."""
    if not has_table(connection, "card_seals"):
        return []
    rows = connection.execute("SELECT file FROM card_seals WHERE run = ? ORDER BY signer", (run,))
    return [file for (file,) in rows if isinstance(file, bytes)]
