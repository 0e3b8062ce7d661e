"""The tables of a laptop's file as numbered steps; a step that was released is never changed again."""

from __future__ import annotations

import sqlite3

from review.log.own_file import FileForm
from review.log.sealed_words import create_key_table
from review.log.table import create_event_table

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
