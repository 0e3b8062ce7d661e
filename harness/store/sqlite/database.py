"""Opening the store: where it lies, who may read it, which version wrote it, and whether it was written since."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from types import ModuleType

from corpora.files.problems import StoredValueError
from harness.core.failures import DataFolderError, StoreError, UsageError
from harness.core.storage import StorageProblem, private_folder, storage_problem
from harness.store.sqlite.copies import (
    copied,
    copied_for_upgrade,
    erase_left_copies,
    file_lock,
    locks_are_missing,
)
from harness.store.sqlite.schema import STEPS, create_schema, fill_run_scores, recorded_steps, require_columns
from harness.store.sqlite.trouble import (
    STORE_ERRORS,
    cannot_be_written,
    full_words,
    in_words,
    transaction,
    unpacks,
)

MOMENT_SECONDS = 1.0
"""A file written so short a time ago may be written again without its times showing it."""

Mark = tuple[object, ...]

_WITHDRAWN = "consent.jsonl"
"""What was withdrawn, beside the store: runs go from lists with it (``harness.consent.register``)."""


def mark_of(path: Path) -> Mark:
    """Return what is different after each change of the store at ``path``, by this process or another.

    Equal marks mean that nothing was written between them; unequal ones that something may have been.
    """
    newest, marks = 0.0, []
    for file in (path, path.with_name(f"{path.name}-wal"), path.with_name(_WITHDRAWN)):
        with suppress(OSError):
            seen = file.stat()
            newest = max(newest, seen.st_mtime)
            marks.append((file.name, seen.st_ino, seen.st_size, seen.st_mtime_ns))
    return (*marks, object()) if time.time() - newest < MOMENT_SECONDS else tuple(marks)


SCHEMA_VERSION = len(STEPS)
"""Number of schema steps that this program knows; kept in ``PRAGMA user_version``."""

READABLE_FROM = 8
"""The oldest version of a store that is read as it is, where it cannot be brought up to date."""

BUSY_MILLISECONDS = 30_000  # How long a writer waits for another process' short transaction


def home() -> Path:
    """Return the data folder: ``ROSETTA_HOME``, else the platform's place for user data.

    Raises UsageError where the system knows no home folder of this person, or its path is no UTF-8: the store, run
    cards and settings hold paths as text.
    """
    try:
        if chosen := os.environ.get("ROSETTA_HOME"):
            folder = Path(chosen).expanduser()
        else:
            from platformdirs import user_data_path

            folder = user_data_path("rosetta-tui", appauthor=False)
        str(folder).encode()
    except RuntimeError as error:
        raise UsageError(f"The data folder cannot be found ({error}). Name a folder in ROSETTA_HOME.") from None
    except UnicodeEncodeError:
        raise UsageError(
            f"The path of the data folder, {os.fsencode(folder)!r}, is no UTF-8. Name another folder in ROSETTA_HOME."
        ) from None
    return folder


def default_path() -> Path:
    """Return the path of the store in the data folder."""
    return home() / "rosetta.sqlite"


def has_table(connection: sqlite3.Connection, name: str) -> bool:
    """Return whether an open store has a table: one of before, which can only be read, lacks what came later."""
    query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
    return connection.execute(query, (name,)).fetchone() is not None


def store_path(connection: sqlite3.Connection) -> Path:
    """Return the path of an open store."""
    return Path(connection.execute("PRAGMA database_list").fetchone()[2])


def open_store(path: Path | None = None) -> sqlite3.Connection:
    """Open the store for reading and writing, making or upgrading it first where needed.

    A store that this person cannot write, on a protected stick or in an archive, and one on a full disk are opened for
    reading only (``is_read_only``). Raises StoreError where the file is no store, is damaged, or was written by a newer version.
    """
    path = path or default_path()
    _tidy_up()
    try:
        if cannot_be_written(path):
            return unpacks(_opened_to_read)(path)
        if not path.exists():
            private_folder(path.parent)
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        return unpacks(_opened_or_read)(path)  # SQLite may quote bytes of a damaged schema
    except STORE_ERRORS as error:
        raise in_words(error, path) from error
    except OSError as error:
        if storage_problem(error) is StorageProblem.NO_LOCKS:
            raise in_words(error, path) from error
        if storage_problem(error) is StorageProblem.DISK_FULL:
            raise StoreError(f"{path} cannot be made: {full_words(path)}") from error
        raise DataFolderError(
            f"The data folder {path.parent} cannot be written ({error.strerror}). Name another folder in ROSETTA_HOME."
        ) from error


def bring_up_to_date(path: Path) -> None:
    """Seal and upgrade a store of an older version now, where its words about it do not fall into a screen."""
    if path.is_file():
        open_store(path).close()


@cache
def _tidy_up() -> None:
    """Erase, once in a process, what killed processes left of stores that they read."""
    erase_left_copies()


@contextmanager
def opened(path: Path | None = None) -> Iterator[sqlite3.Connection]:
    """Open the store until the block ends; within it a store that fails is a StoreError.

    That is whatever SQLite says, stored values that cannot be read, and what nobody foresaw where the store is
    found to be damaged.
    """
    path = path or default_path()
    with closing(open_store(path)) as connection:
        try:
            yield connection
        except STORE_ERRORS as error:
            raise in_words(error, path) from error
        except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
            from harness.store.sqlite.openings import damaged

            if damaged(connection):
                raise in_words(StoredValueError(), path) from error
            raise


def is_read_only(connection: sqlite3.Connection) -> bool:
    """Return whether a store was opened for reading only."""
    return bool(connection.execute("PRAGMA query_only").fetchone()[0])


_WITHOUT_ROOM = {StorageProblem.DISK_FULL, StorageProblem.DISK_FAILS, StorageProblem.NOT_OPENED}
"""What SQLite says where it cannot make the files beside a store that writing needs."""


def _opened_or_read(path: Path) -> sqlite3.Connection:
    """Open a store for writing; where the disk has no room for that, for reading only."""
    try:
        return _opened(path)
    except sqlite3.Error as error:
        if storage_problem(error) not in _WITHOUT_ROOM or not path.stat().st_size:
            raise
        try:
            return _opened_to_read(path)
        except (sqlite3.Error, OSError, StoreError):
            raise error from None


def _opened_to_read(path: Path) -> sqlite3.Connection:
    """Open a store that cannot be written.

    Where a process was cut off, what it stored last is in the journal beside the store, and SQLite must write
    to take it in. Then a private copy of both is read, which is erased when the program ends.
    """
    connection = _plainly_read(path)
    if connection is None:
        journal = path.with_name(f"{path.name}-wal")
        left_over = journal.is_file() and journal.stat().st_size > 0
        connection = _with_journal(path, journal) if left_over else _read(path, "&immutable=1")
    try:
        _require_readable(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _with_journal(path: Path, journal: Path) -> sqlite3.Connection:
    """Open a store whose newest rows are in its journal: a copy of both, or, where no disk has room, alone.

    Who holds a store alone keeps the journal's index in memory and so needs no file; others wait meanwhile.
    """
    try:
        return _read(copied(path, journal))
    except OSError as error:
        if storage_problem(error) is not StorageProblem.DISK_FULL or cannot_be_written(path):
            raise
    return _read(path, mode="rw", locking="EXCLUSIVE")


def _require_readable(connection: sqlite3.Connection, path: Path) -> None:
    """Raise StoreError where a store cannot be read as it is."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version < READABLE_FROM:
        raise StoreError(
            f"{path} was written by an older version of Rosetta and can only be read here, so it cannot be "
            "brought up to date. Copy its folder to a disk that can be written, and name that in ROSETTA_HOME."
        )
    if not _current(connection, path):
        _sealing().warn_of(connection, path)


def _plainly_read(path: Path) -> sqlite3.Connection | None:
    """Open a store with the journal files that are next to it; None where SQLite would have to make some."""
    connection = _read(path)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        connection.close()
        return None
    return connection


def _read(path: Path, more: str = "", *, mode: str = "ro", locking: str = "NORMAL") -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}{more}",
        uri=True,
        timeout=BUSY_MILLISECONDS / 1000,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.execute(f"PRAGMA locking_mode = {locking}")
    connection.execute("PRAGMA query_only = ON")
    connection.execute("PRAGMA temp_store = MEMORY")
    return connection


def _opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
    try:
        _wait_for_locks(connection, path)
        if not _current(connection, path):
            _upgrade(connection, path)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA temp_store = MEMORY")  # sorted texts reach no temporary file
    except BaseException:
        connection.close()
        raise
    return connection


def _wait_for_locks(connection: sqlite3.Connection, path: Path) -> None:
    """Configure a connection to wait for others from here on; raises at once where the storage has no locks at all."""
    try:
        connection.execute("PRAGMA user_version")
    except sqlite3.Error as error:
        if storage_problem(error) is StorageProblem.BUSY and locks_are_missing(path.parent):
            raise
    connection.execute(f"PRAGMA busy_timeout = {BUSY_MILLISECONDS}")


def _current(connection: sqlite3.Connection, path: Path) -> bool:
    """Return whether the store has this program's schema, without writing anything.

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
    """Create the tables of an empty store, or bring an older one up to date, in one process at a time."""
    with file_lock(private_folder(path.parent / "locks") / "store.lock"):
        before = connection.execute("PRAGMA user_version").fetchone()[0]
        if before == SCHEMA_VERSION:  # another process was quicker
            return
        require_columns(connection, path, recorded_steps(connection), "Nothing was changed.")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")
        if connection.execute("SELECT 1 FROM sqlite_master").fetchone() is None:
            create_schema(connection)
            return
        begun = len(recorded_steps(connection)) > before
        with copied_for_upgrade(connection, path, before, begun=begun) as copy:
            # Upgrade a store from the version `before` to this program's; it gets the new number only
            # once it holds.
            from sqlite_utils import Database

            from harness.store.sqlite.migrations import migrations

            migrations.apply(Database(connection))
            require_columns(connection, path, STEPS, f"{copy} is the store as it was before.")
            if before:
                _sealing().take_over(connection, path)
            with transaction(connection):
                fill_run_scores(connection)
            with closing(_read(copy, "&immutable=1")) as original:
                lost = [table for table in _KEPT if _count(connection, table) < _count(original, table)]
            if lost:
                raise StoreError(
                    f"{path} has fewer rows of {' and '.join(lost)} than before it was brought up to date. {copy} is the "
                    "store as it was before."
                )
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


_KEPT = ("runs", "corpora", "entries", "results")  # Tables from which no upgrade takes a row


def _count(connection: sqlite3.Connection, table: str) -> int:
    if not has_table(connection, table):  # as in the first versions
        return 0
    return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def _sealing() -> ModuleType:
    """Return what seals older stores, which loads more than others need."""
    from harness.store.sqlite import take_over

    return take_over
