"""Whether a store is damaged: examined where the program met something that it did not foresee.

A fault of the program must not be told as damage of somebody's store, so damage is only said where it is found
here, by what the schema and the models say of each value, and never by running the code that failed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter

from corpora.model.corpus import Dataset
from harness.method.method import Setup
from harness.store.file.openings import Live, RunOpening
from harness.store.file.trouble import (
    STORE_ERRORS,
    inflated,
    of_kind,
    stored_object,
    unpacked_message,
    unpacks,
)

_KINDS = {
    "INTEGER": ("integer",),
    "REAL": ("real", "integer"),
    "TEXT": ("text",),
    "BLOB": ("blob",),
}
"""Declared type of a column → the kinds of its values."""

_REFERRED = {
    "texts": (
        ("entries", "source"),
        ("entries", "reference"),
        ("results", "output"),
        ("results", "raw"),
        ("replies", "head"),
        ("replies", "tail"),
        ("replies", "body"),
    ),
    "corpora": (("entries", "corpus"), ("runs", "corpus")),
    "runs": (("results", "run"), ("stretches", "run")),
}
"""Table → columns that hold ids of its rows."""


class _Card(BaseModel):
    model_config = ConfigDict(extra="allow")

    run_id: str
    scores: dict[str, Any]
    cost: dict[str, Any]
    speed: dict[str, Any]
    dataset: dict[str, Any]
    method: dict[str, Any]


_STATISTICS: TypeAdapter[list[list[float] | None]] = TypeAdapter(list[list[float] | None])

_VALUES: tuple[tuple[str, str, Callable[[Any], object]], ...] = (
    ("runs", "setup", Setup.model_validate_json),
    ("runs", "opening", RunOpening.read),
    ("runs", "plan", stored_object),
    ("runs", "live", Live.read),
    ("runs", "run_card", lambda text: _Card.model_validate(stored_object(text))),
    ("runs", "positions", inflated),
    ("runs", "imported", inflated),
    ("corpora", "dataset", Dataset.model_validate_json),
    ("entries", "rest", stored_object),
    ("results", "statistics", lambda data: _STATISTICS.validate_python(unpacked_message(data))),
    ("results", "trace", lambda data: of_kind(unpacked_message(data), list)),
    ("row_words", "analyses", lambda data: of_kind(unpacked_message(data), list)),
    ("annotations", "value", unpacked_message),
    ("annotations", "trace", lambda data: of_kind(unpacked_message(data), list)),
    ("replies", "facts", lambda data: of_kind(unpacked_message(data), list)),
)
"""Table and column of values that are more than a number or a text, and what reads them."""


def damaged(connection: sqlite3.Connection) -> bool:
    """Return whether any value of the store is not what the schema, or the program's models, say of it."""
    try:
        return _broken_pages(connection) or any(
            any(looked)
            for looked in (_other_kinds(connection), _strays(connection), _unread(connection))
        )
    except sqlite3.ProgrammingError:  # the connection is closed: nothing can be said
        return False
    except (*STORE_ERRORS, UnicodeDecodeError):
        return True


def _broken_pages(connection: sqlite3.Connection) -> bool:
    check_row: tuple[str] = connection.execute("PRAGMA integrity_check(1)").fetchone()
    return check_row != ("ok",)


def _tables(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return [row[0] for row in rows if not row[0].startswith(("sqlite_", "_sqlite"))]


def _other_kinds(connection: sqlite3.Connection) -> Iterator[bool]:
    """Find values of another kind than their column's."""
    for table in _tables(connection):
        for _, name, declared, needed, _, _ in connection.execute(
            f"PRAGMA table_info({table})"
        ).fetchall():
            kinds = _KINDS.get(declared)
            if kinds is None:
                continue
            allowed = (*kinds, *(() if needed else ("null",)))
            marks = ",".join("?" * len(allowed))
            query = f'SELECT 1 FROM {table} WHERE typeof("{name}") NOT IN ({marks}) LIMIT 1'
            yield connection.execute(query, allowed).fetchone() is not None


def _strays(connection: sqlite3.Connection) -> Iterator[bool]:
    """Find ids of rows that are not there."""
    for table, columns in _REFERRED.items():
        for other, column in columns:
            query = (
                f"SELECT 1 FROM {other} WHERE {column} IS NOT NULL"
                f" AND {column} NOT IN (SELECT id FROM {table}) LIMIT 1"
            )
            yield connection.execute(query).fetchone() is not None
    keyless = "SELECT 1 FROM entries WHERE sealed IS NOT NULL AND corpus NOT IN (SELECT corpus FROM corpus_keys) LIMIT 1"
    if "corpus_keys" in _tables(connection):
        yield connection.execute(keyless).fetchone() is not None
    query = (
        "SELECT 1 FROM results r JOIN runs u ON u.id = r.run WHERE NOT EXISTS"
        " (SELECT 1 FROM entries e WHERE e.corpus = u.corpus AND e.position = r.position) LIMIT 1"
    )
    yield connection.execute(query).fetchone() is not None


def _unread(connection: sqlite3.Connection) -> Iterator[bool]:
    """Read every text and every packed value; StoredValueError where one cannot be."""
    for (body,) in connection.execute("SELECT body FROM texts"):
        yield not isinstance(body, str)
    for table, column, read in _VALUES:
        reading = unpacks(read)
        for (value,) in connection.execute(
            f"SELECT {column} FROM {table} WHERE {column} IS NOT NULL"
        ):
            reading(value)
            yield False
