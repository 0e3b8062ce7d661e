"""What a person puts beside a run: a note, tags, and certificates of reviews.

They are next to the run's card and never in it, because a sealed card does not change (DESIGN C4). Notes and tags
stay at home: no export holds them. What a certificate is worth is judged by ``review.verdict``.
"""

from __future__ import annotations

import sqlite3
import time
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from harness.core.failures import StoreError, UsageError
from harness.core.storage_problems import storable
from harness.store.file.transaction import transaction


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
    connection.execute(
        "INSERT OR IGNORE INTO certificates (run, sha256, certificate, signature, signer, attached)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (
            run,
            attached.sha256,
            attached.certificate,
            attached.signature,
            attached.signer,
            time.time(),
        ),
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


def attached_by_run(
    connection: sqlite3.Connection, only: int | None = None
) -> dict[int, tuple[Attached, ...]]:
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


MOST_NOTE = 10_000
"""Characters of the longest note."""

MOST_TAG = 40
"""Characters of the longest tag."""

MOST_TAGS = 30
"""Tags of one run."""


def set_note(connection: sqlite3.Connection, run: int, note: str) -> None:
    """Replace the note of a run; an empty one removes it."""
    change_words(connection, run, note=note)


def change_tags(
    connection: sqlite3.Connection, run: int, add: Iterable[str] = (), remove: Iterable[str] = ()
) -> tuple[str, ...]:
    """Add tags to a run's and take others away, whatever another process does meanwhile; gives them all."""
    return change_words(connection, run, add=add, remove=remove)


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
    with _words_of(connection, run):
        if words:
            connection.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (run, words))
        elif words is not None:
            connection.execute("DELETE FROM notes WHERE run = ?", (run,))
        had = set(tags_of(connection, run))
        if not added and not removed:
            return tuple(sorted(had))
        return _replace(connection, run, (had | added) - removed)


def tidy_note(note: str) -> str:
    """Return a note as it is kept; raises UsageError for one that is too long."""
    words = storable(note).strip()
    if len(words) > MOST_NOTE:
        raise UsageError(
            f"The note has {len(words):,} characters; at most {MOST_NOTE:,} are kept. Shorten it."
        )
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
    if not word or len(word) > MOST_TAG or any(_parts(letter) for letter in word):
        raise UsageError(
            f"A tag is one word of at most {MOST_TAG} characters, without spaces and commas, such as "
            "`baseline` or `2026-11`. Write each tag for itself."
        )
    return word


def _parts(letter: str) -> bool:
    return letter == "," or letter.isspace() or unicodedata.category(letter) in {"Cc", "Cs"}


def _replace(connection: sqlite3.Connection, run: int, tags: Iterable[str]) -> tuple[str, ...]:
    wanted = tidy_tags(tags)
    connection.execute("DELETE FROM tags WHERE run = ?", (run,))
    connection.executemany("INSERT INTO tags VALUES (?, ?)", [(run, tag) for tag in wanted])
    return wanted


@contextmanager
def _words_of(connection: sqlite3.Connection, run: int) -> Iterator[None]:
    """Change what is next to a run that is there, all of it or nothing."""
    with transaction(connection):
        _refuse_gone(connection, run)
        yield


def _refuse_gone(connection: sqlite3.Connection, run: int) -> None:
    there = "SELECT 1 FROM runs WHERE id = ? AND put_away IS NULL"
    if connection.execute(there, (run,)).fetchone() is None:
        raise StoreError("The run was deleted meanwhile; nothing is kept next to it.")


def note_of(connection: sqlite3.Connection, run: int) -> str:
    """Return a run's note, empty where it has none."""
    row = connection.execute("SELECT words FROM notes WHERE run = ?", (run,)).fetchone()
    return "" if row is None else str(row[0])


def tags_of(connection: sqlite3.Connection, run: int) -> tuple[str, ...]:
    """Return a run's tags in order."""
    return tags_by_run(connection, run).get(run, ())


def tags_by_run(
    connection: sqlite3.Connection, only: int | None = None
) -> dict[int, tuple[str, ...]]:
    """Return the tags of every run that has any, in order."""
    tags: dict[int, tuple[str, ...]] = {}
    rows = connection.execute(
        "SELECT run, tag FROM tags WHERE ? IS NULL OR run = ? ORDER BY run, tag", (only, only)
    )
    for run, tag in rows:
        tags[run] = (*tags.get(run, ()), tag)
    return tags
