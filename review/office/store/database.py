"""The office's file: what the organisation keeps of its reviews, with the log of all laptops."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path

from harness.core.failures import StoreError
from harness.store.file.database import BUSY_MILLISECONDS
from review.log.own_file import FileForm, fingerprint, new_device, opening
from review.log.sealed_words import create_key_table
from review.log.table import NotSaved, create_event_table
from review.log.withdrawal import erase

FILE = "reviews.sqlite"
APPLICATION_ID = 0x524F5346
"""Marks the file as an office's (``ROSF``)."""


def _m001(connection: sqlite3.Connection) -> None:
    create_event_table(connection)
    for statement in _FIRST.split(";\n"):
        connection.execute(statement)


_FIRST = """
    CREATE TABLE own_device (      -- ids of the organisation's own chains of events, the last one continues
        device TEXT PRIMARY KEY,
        fingerprint TEXT NOT NULL  -- of the place of this file, a copy begins its own chain
    ) STRICT;
    CREATE TABLE recovery (        -- who else can open the ratings, where nobody was named: one row
        recipient TEXT NOT NULL,
        made TEXT NOT NULL
    ) STRICT;
    CREATE TABLE review (
        number INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        created TEXT NOT NULL,     -- UTC, ISO 8601
        answer_key BLOB NOT NULL,  -- canonical JSON
        policy BLOB NOT NULL       -- TOML, as read
    ) STRICT;
    CREATE TABLE batch (
        batch TEXT PRIMARY KEY,
        review INTEGER NOT NULL REFERENCES review (number),
        manifest BLOB NOT NULL     -- canonical JSON
    ) STRICT;
    CREATE TABLE item (
        item TEXT PRIMARY KEY,
        review INTEGER NOT NULL REFERENCES review (number),
        source TEXT NOT NULL,
        candidate TEXT NOT NULL
    ) STRICT;
    CREATE TABLE laptop (          -- whose ratings are taken
        signing_key TEXT PRIMARY KEY,
        recipient TEXT,            -- NULL where it is known by its ratings only
        name TEXT NOT NULL,
        enrolled TEXT NOT NULL
    ) STRICT;
    CREATE TABLE delivery (        -- how far a device's chain belongs to a batch
        device TEXT NOT NULL,
        batch TEXT NOT NULL REFERENCES batch (batch),
        signing_key TEXT NOT NULL,
        last_seq INTEGER NOT NULL,
        PRIMARY KEY (device, batch)
    ) STRICT;
    CREATE TABLE quarantine (      -- files of laptops that nobody has vouched for, as they came
        sha256 TEXT PRIMARY KEY,
        signing_key TEXT NOT NULL,
        received TEXT NOT NULL,
        name TEXT NOT NULL,
        content BLOB NOT NULL
    ) STRICT;
    CREATE TABLE import (
        number INTEGER PRIMARY KEY,
        sha256 TEXT NOT NULL,
        received TEXT NOT NULL,
        name TEXT NOT NULL,
        signing_key TEXT NOT NULL,
        batch TEXT NOT NULL,
        added INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE contribution (    -- which import brought something of a reviewer
        reviewer TEXT NOT NULL,
        batch TEXT NOT NULL,
        received TEXT NOT NULL,
        PRIMARY KEY (reviewer, batch)
    ) STRICT;
    CREATE TABLE certificate (
        number INTEGER PRIMARY KEY,
        review INTEGER NOT NULL REFERENCES review (number),
        run_id TEXT NOT NULL,
        certificate BLOB NOT NULL,
        signature BLOB NOT NULL,
        recompute INTEGER NOT NULL DEFAULT 0   -- 1: something was withdrawn since
    ) STRICT
"""


def _m002(connection: sqlite3.Connection) -> None:
    """Record whose log a laptop continues with, and that the file is to be rewritten after a withdrawal."""
    connection.execute("ALTER TABLE laptop ADD COLUMN instead_of TEXT")
    connection.execute("CREATE TABLE unclean (one INTEGER PRIMARY KEY CHECK (one = 1)) STRICT")


def _m003(connection: sqlite3.Connection) -> None:
    """Record the six words of a file that waits; of older ones they are not known until they come again."""
    connection.execute("ALTER TABLE quarantine ADD COLUMN phrase TEXT NOT NULL DEFAULT ''")


def _m_removed(connection: sqlite3.Connection) -> None:
    """Record since when a laptop is not heard any more, and why; NULL for those that are."""
    connection.execute("ALTER TABLE laptop ADD COLUMN removed TEXT")
    connection.execute("ALTER TABLE laptop ADD COLUMN reason TEXT NOT NULL DEFAULT ''")


def _m_signed(connection: sqlite3.Connection) -> None:
    """Store what was signed: the organisation's signature of each batch, and each manifest of a laptop."""
    connection.execute("ALTER TABLE batch ADD COLUMN signature BLOB NOT NULL DEFAULT x''")
    connection.execute(
        """CREATE TABLE signed (       -- manifests of laptops, as they came, of files that were imported
            number INTEGER PRIMARY KEY,
            sha256 TEXT NOT NULL UNIQUE,
            manifest BLOB NOT NULL,
            signature BLOB NOT NULL,
            devices TEXT NOT NULL  -- whose chains it signs, with blanks between
        ) STRICT"""
    )


def _m_witness(connection: sqlite3.Connection) -> None:
    """Store what witnesses signed of laptops."""
    connection.execute(
        """CREATE TABLE witness (      -- statements of people who saw a laptop
            laptop TEXT NOT NULL,
            witness TEXT NOT NULL,
            content BLOB NOT NULL,     -- the file, canonical JSON
            PRIMARY KEY (laptop, witness)
        ) STRICT"""
    )


def _m_people(connection: sqlite3.Connection) -> None:
    """Record who has which code, where the log names people by tags; other reviews have no such rows."""
    connection.execute(
        """CREATE TABLE person (
            review INTEGER NOT NULL REFERENCES review (number),
            person TEXT NOT NULL,
            code TEXT NOT NULL,
            PRIMARY KEY (review, person)
        ) STRICT"""
    )


def _m_around(connection: sqlite3.Connection) -> None:
    """Store where the sentence of an item is, as canonical JSON; empty where its batch does not say."""
    connection.execute("ALTER TABLE item ADD COLUMN around TEXT NOT NULL DEFAULT ''")


def _m_sealed(connection: sqlite3.Connection) -> None:
    """Store the sentences of secret reviews sealed; those of before are sealed when the office is opened next."""
    connection.execute(
        """CREATE TABLE sealed_texts (
            review INTEGER PRIMARY KEY REFERENCES review (number),
            content BLOB NOT NULL      -- rows of item as JSON, sealed by age
        ) STRICT"""
    )
    connection.execute("CREATE TABLE unsealed (one INTEGER PRIMARY KEY CHECK (one = 1)) STRICT")
    connection.execute("INSERT INTO unsealed SELECT 1 WHERE EXISTS (SELECT 1 FROM review)")


def _m_words(connection: sqlite3.Connection) -> None:
    """Store what is written in secret reviews sealed; that of before is sealed when the office is opened next."""
    create_key_table(connection)
    connection.execute(
        "INSERT OR IGNORE INTO unsealed SELECT 1 WHERE EXISTS (SELECT 1 FROM review)"
    )


def _m_vault(connection: sqlite3.Connection) -> None:
    """Store the sentences of runs from a vault under the key by which the store has them, so that only the vault opens them."""
    connection.execute(
        """CREATE TABLE vault_texts (
            review INTEGER PRIMARY KEY REFERENCES review (number),
            runs TEXT NOT NULL,        -- ids of the runs, with blanks between; the key is that of the first one's corpus
            content BLOB NOT NULL      -- rows of item as JSON, sealed
        ) STRICT"""
    )


OFFICE = FileForm(
    APPLICATION_ID,
    (
        _m001,
        _m002,
        _m003,
        _m_removed,
        _m_signed,
        _m_witness,
        _m_people,
        _m_around,
        _m_sealed,
        _m_words,
        _m_vault,
    ),
)
"""The form of the office's file."""


def open_office(path: Path) -> sqlite3.Connection:
    """Open the office's file, making or upgrading it first where needed.

    Raises StoreError where the file is no office's, is damaged, cannot be written, or was written by a newer
    version.
    """
    try:
        with opening(path, OFFICE, BUSY_MILLISECONDS / 1000) as connection:
            _know_place(connection, path)
    except NotSaved as error:
        raise StoreError(f"{path} cannot be used: {error.words}.") from error
    rewrite(connection)
    return connection


def _know_place(connection: sqlite3.Connection, path: Path) -> None:
    """Start a chain of events where there is none yet, or where the file is a copy of another."""
    mark = fingerprint(path)
    last = connection.execute(
        "SELECT fingerprint FROM own_device ORDER BY rowid DESC LIMIT 1"
    ).fetchone()
    if last is None or last[0] != mark:
        connection.execute("INSERT INTO own_device VALUES (?, ?)", (new_device(), mark))


def note_unclean(connection: sqlite3.Connection) -> None:
    """Record, within the caller's transaction, that something is taken back and the file is to be rewritten."""
    connection.execute("INSERT OR IGNORE INTO unclean VALUES (1)")


def is_unclean(connection: sqlite3.Connection) -> bool:
    """Return whether the file is still to be rewritten without what was taken back."""
    return connection.execute("SELECT 1 FROM unclean").fetchone() is not None


def rewrite(connection: sqlite3.Connection) -> None:
    """Rewrite the file without what was taken back, where that is due; tried again at the next opening.

    What was erased is overwritten already; rewriting needs free space that a full disk has not.
    """
    with suppress(sqlite3.Error):
        if is_unclean(connection):
            erase(connection)
            connection.execute("DELETE FROM unclean")
