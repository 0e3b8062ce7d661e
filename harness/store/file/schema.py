"""The store's tables: created from the steps, and compared with what the steps make."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import UTC, datetime

from harness.store.file.steps import STEPS

_RECORDS = """CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);
CREATE UNIQUE INDEX "idx__sqlite_migrations_migration_set_name"
    ON "_sqlite_migrations" ("migration_set", "name");
"""
"""The table in which sqlite-utils records applied steps, as it would create it."""


def create_schema(connection: sqlite3.Connection) -> None:
    """Create all tables of an empty store in one transaction, as applying every step would.

    sqlite-utils splits a step into statements one by one, which takes longer than SQLite takes to run them, and
    importing it takes longer still. Only stores of older versions need it: ``harness.store.file.migrations``.
    """
    applied_at = str(datetime.now(UTC))
    records = (
        "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) "
        f"VALUES ('rosetta', '{name}', '{applied_at}');"
        for name in STEPS
    )
    script = (
        "BEGIN IMMEDIATE;",
        _RECORDS,
        *STEPS.values(),
        *records,
        f"PRAGMA user_version = {len(STEPS)};",
        "COMMIT;",
    )
    connection.executescript("\n".join(script))


# What the tables of a store should be

Columns = dict[str, tuple[object, ...]]


def recorded_steps(connection: sqlite3.Connection) -> set[str]:
    """Return the names of the steps that a store records as applied: while it is upgraded, more than its version says."""
    if "_sqlite_migrations" not in _tables(connection):
        return set()
    query = "SELECT name FROM _sqlite_migrations WHERE migration_set = 'rosetta'"
    return {str(name) for (name,) in connection.execute(query)}


def schema_differences(connection: sqlite3.Connection, steps: Iterable[str]) -> list[str]:
    """Return how the tables of a store differ from what these steps make, a clause for each; empty where they do not.

    Columns are compared by name, type, NOT NULL and part in the primary key, indexes by name. A table or index that no
    step makes is not examined. No name that only the store has is quoted.
    """
    names = set(steps)
    if names - set(STEPS):
        return ["it records a step that this version does not know"]
    with closing(sqlite3.connect(":memory:")) as expected:
        try:
            expected.executescript("\n".join(sql for name, sql in STEPS.items() if name in names))
        except sqlite3.Error:
            return ["it records a step without one that comes before"]
        tables = [*_differing_tables(_tables(connection), _tables(expected))]
        missing = sorted(_indexes(expected) - _indexes(connection))
    return [*tables, *(f"the index {name} is missing" for name in missing)]


def _tables(connection: sqlite3.Connection) -> dict[str, Columns]:
    """Return table → column → its type, whether it is NOT NULL, and its place in the primary key."""
    query = """
        SELECT m.name, c.name, c.type, c."notnull", c.pk FROM sqlite_master m, pragma_table_info(m.name) c
        WHERE m.type = 'table'
    """
    tables: dict[str, Columns] = {}
    for table, column, *declared in connection.execute(query):
        tables.setdefault(table, {})[column] = tuple(declared)
    return tables


def _indexes(connection: sqlite3.Connection) -> set[str]:
    query = "SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
    return {str(name) for (name,) in connection.execute(query)}


def _differing_tables(tables: dict[str, Columns], expected: dict[str, Columns]) -> Iterator[str]:
    for table, columns in expected.items():
        if table not in tables:
            yield f"the table {table} is missing"
            continue
        present = tables[table]
        yield from (f"{table} has no column {name}" for name in columns if name not in present)
        yield from (
            f"{table}.{name} is declared in another way"
            for name, declared in columns.items()
            if present.get(name, declared) != declared
        )
        if more := len(present.keys() - columns.keys()):
            yield f"{table} has {more} column{'s' * (more != 1)} more"
