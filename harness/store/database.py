"""Opening the store: where it lies, who may read it, and which version wrote it."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from corpora.stored_value import StoredValueError
from harness.failures import StoreError, UsageError
from harness.store.trouble import STORE_ERRORS, full_words, unpacks, worded

SCHEMA_VERSION = 8
"""Number of migrations that this program knows; kept in ``PRAGMA user_version``."""

BUSY_MILLISECONDS = 30_000
"""How long a writer waits for another process' short transaction."""


def home() -> Path:
    """Give the data folder: ``ROSETTA_HOME``, else the platform's place for user data.

    Raises UsageError where the system knows no home folder of this person.
    """
    chosen = os.environ.get("ROSETTA_HOME")
    try:
        if chosen:
            return Path(chosen).expanduser()
        from platformdirs import user_data_path

        return user_data_path("rosetta-tui", appauthor=False)
    except RuntimeError as error:
        raise UsageError(
            f"The data folder cannot be found ({error}). Name a folder in ROSETTA_HOME."
        ) from None


def default_path() -> Path:
    """Give the path of the store in the data folder."""
    return home() / "rosetta.sqlite"


def private_folder(folder: Path) -> Path:
    """Make a folder that only its owner may enter, where it does not exist yet."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def store_path(connection: sqlite3.Connection) -> Path:
    """Give the path of an open store."""
    return Path(connection.execute("PRAGMA database_list").fetchone()[2])


def open_store(path: Path | None = None) -> sqlite3.Connection:
    """Open the store for reading and writing, making or upgrading it first where needed.

    Raises StoreError where the file is no store, is damaged, or was written by a newer version.
    """
    path = path or default_path()
    try:
        private_folder(path.parent)
        if not path.exists():
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        with worded(path):
            return unpacks(_opened)(path)  # what SQLite says may quote bytes of a damaged schema
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise StoreError(f"{path} cannot be made: {full_words(path)}") from error
        raise StoreError(
            f"The data folder {path.parent} cannot be written ({error.strerror}). "
            "Name another folder in ROSETTA_HOME."
        ) from error


@contextmanager
def opened(path: Path | None = None) -> Iterator[sqlite3.Connection]:
    """Open the store until the block ends; within it a store that fails is a StoreError.

    That is whatever SQLite says, stored values that cannot be read, and what nobody foresaw where the store is
    found to be damaged.
    """
    path = path or default_path()
    with closing(open_store(path)) as connection, worded(path), _examined(connection):
        yield connection


@contextmanager
def _examined(connection: sqlite3.Connection) -> Iterator[None]:
    """Say of an error that nobody foresaw that the store is damaged, where it is; else let it go up."""
    try:
        yield
    except STORE_ERRORS:
        raise
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
        from harness.store.examination import damaged

        if damaged(connection):
            raise StoredValueError from error
        raise


def _opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=BUSY_MILLISECONDS / 1000, isolation_level=None, check_same_thread=False
    )
    try:
        if not _current(connection, path):
            _upgrade(connection, path)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def _current(connection: sqlite3.Connection, path: Path) -> bool:
    """Tell whether the store has this program's schema, without writing anything.

    Raises StoreError where a newer version, or another program, made the file.
    """
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"{path} was written by a newer version of Rosetta (its store version is {version}, "
            f"this program knows {SCHEMA_VERSION}). Install the newer version, or name another "
            "folder in ROSETTA_HOME. Nothing was changed."
        )
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    if tables and "_sqlite_migrations" not in tables:
        raise StoreError(
            f"{path} is the database of another program. Move it away, or name another folder in "
            "ROSETTA_HOME. Nothing was changed."
        )
    return bool(version == SCHEMA_VERSION)


def _upgrade(connection: sqlite3.Connection, path: Path) -> None:
    """Bring the schema up to date, in one process at a time."""
    import filelock
    from sqlite_utils import Database

    from harness.store.migrations import migrations

    with filelock.FileLock(private_folder(path.parent / "locks") / "store.lock", mode=0o600):
        connection.execute("PRAGMA journal_mode = WAL")
        migrations.apply(Database(connection))
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
