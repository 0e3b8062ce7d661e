"""What cannot be read or written of a store, in words with a fix; and stored values, read so that faults show.

Which entries of its corpus a run is on is kept in order, as numbers in few bytes.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from corpora.files.json_types import Json, JsonObject
from corpora.files.places import without_gaps
from corpora.files.problems import StoredValueError
from harness.core.failures import StoreError
from harness.core.storage import StorageProblem, storable, storage_problem, words_for
from harness.store.sqlite.copies import copies, locks_are_missing

_BUSY = (
    "another program has held it for too long. Close the other Rosetta, or wait until it is done, then "
    "try again. Nothing was changed."
)
_DAMAGED = (
    "it is damaged, or no store at all. Move it away with the files next to it whose names begin alike, "
    "and put a copy of yours in its place, or begin again. `rosetta doctor` gives the lines for that."
)
_NOT_WRITABLE = (
    "it can only be read here, so nothing was changed. Allow writing, or copy its folder to a disk that can be "
    "written and name that in ROSETTA_HOME."
)
_BEGINNING = "{} cannot be used as a store: "
_WORDS = {
    StorageProblem.BUSY: _BUSY,
    StorageProblem.NO_LOCKS: (
        "locks do not work in its folder, as on some network drives, so it could be damaged there. Copy the folder to a "
        "disk of this machine, and name that in ROSETTA_HOME."
    ),
    StorageProblem.DAMAGED: _DAMAGED,
    StorageProblem.DISK_FAILS: (
        "the disk did not read or write it. See whether the disk is still there and has room; a store "
        "belongs on a disk of this machine, not on a network or a stick."
    ),
    StorageProblem.NOT_OPENED: "it cannot be opened. Name another folder in ROSETTA_HOME.",
    StorageProblem.GONE: (
        "it is not in its place any more. Put it back with the files next to it, or name its folder in ROSETTA_HOME."
    ),
    StorageProblem.OTHER_FORM: (
        "it is not in the form that this program makes, and `rosetta doctor` names what differs. Move it away, or "
        "name another folder in ROSETTA_HOME."
    ),
    StorageProblem.OTHER: "SQLite fails on it ({}). Try again.",
}
"""What is the matter, and what to do."""

_FOR_WANT_OF_ROOM = {StorageProblem.DISK_FAILS, StorageProblem.NOT_OPENED}
"""What SQLite may say on a full disk: even who only reads needs a file beside the store."""

_NEEDED_BYTES = 20 * 10**6
"""Free space that a store needs to be worked with: a run of some thousand entries fits in."""

_NOT_TEXT = ("Could not decode to UTF-8", "malformed JSON")
"""Beginnings of what SQLite and its Python module say of a value; they come with no code of their own."""


_OF_VALUES = (json.JSONDecodeError, UnicodeDecodeError, zlib.error)
"""What a damaged value raises where it is unpacked; a fault of ours is a TypeError, a KeyError and so on."""

P = ParamSpec("P")
T = TypeVar("T")
Word = TypeVar("Word", bound=StrEnum)


def unpacks(read: Callable[P, T]) -> Callable[P, T]:
    """Make StoredValueError of what damage raises in a function that unpacks stored values.

    Other errors go up as they are: they are faults of the program. So a value's shape is examined, by a model
    or by ``stored_object`` and ``of_kind``, before anything is taken out of it.
    """

    @wraps(read)
    def unpacked(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return read(*args, **kwargs)
        except (ValueError, zlib.error) as error:
            core = sys.modules.get("pydantic_core")  # who lists runs has not loaded pydantic, and no model raises
            if isinstance(error, _OF_VALUES) or (core is not None and isinstance(error, core.ValidationError)):
                raise StoredValueError from error
            raise

    return unpacked


def of_kind(value: object, kind: type[T]) -> T:
    """Return a stored value that must be of a type; StoredValueError where it is of another."""
    if not isinstance(value, kind):
        raise StoredValueError
    return value


def stored_json(text: object) -> Any:
    """Read a stored JSON text; StoredValueError where it is none."""
    try:
        return json.loads(of_kind(text, str))
    except (json.JSONDecodeError, RecursionError) as error:
        raise StoredValueError from error


def stored_object(text: object) -> dict[str, Json]:
    """Read a stored JSON object; StoredValueError where it is none."""
    return of_kind(stored_json(text), dict)


def stored_word(word: object, kind: type[Word]) -> Word:
    """Read a stored word of a closed list; StoredValueError where it is none of them."""
    try:
        return kind(of_kind(word, str))
    except ValueError as error:
        raise StoredValueError from error


def unpacked_message(data: object) -> Any:
    """Read what was stored with msgpack; StoredValueError where it is no message."""
    import msgpack  # the reviewer's bundle has it not

    try:
        return msgpack.unpackb(of_kind(data, bytes))
    except (ValueError, msgpack.UnpackException) as error:
        raise StoredValueError from error


def rows_by_name(
    connection: sqlite3.Connection, query: str, values: Sequence[object] | JsonObject
) -> list[sqlite3.Row]:
    """Return all rows of a query, whose columns are found by their names and not by their places."""
    cursor = connection.cursor()
    cursor.row_factory = sqlite3.Row
    return cursor.execute(query, values).fetchall()


def inflated(data: object) -> bytes:
    """Read what was stored with zlib; StoredValueError where it was not."""
    try:
        return zlib.decompress(of_kind(data, bytes))
    except zlib.error as error:
        raise StoredValueError from error


STORE_ERRORS = (sqlite3.Error, StoredValueError)  # What reading a store may raise


def of_a_value(error: Exception) -> bool:
    """Return whether one of ``STORE_ERRORS`` is of a damaged value, and no trouble with the store as a whole."""
    return isinstance(error, StoredValueError) or str(error).startswith(_NOT_TEXT)


def in_words(error: Exception, path: Path) -> StoreError:
    """Return the message for one of ``STORE_ERRORS``, or of an OSError; quotes nothing that is stored."""
    if isinstance(error, StoredValueError) and error.args:
        return StoreError(f"{path}: {error}.")
    problem = StorageProblem.DAMAGED if of_a_value(error) else storage_problem(error)
    if problem is StorageProblem.BUSY and locks_are_missing(path.parent):
        problem = StorageProblem.NO_LOCKS
    full = problem in _FOR_WANT_OF_ROOM and _lacking_bytes(path) > 0
    if full or problem is StorageProblem.DISK_FULL:
        return StoreError(_BEGINNING.format(path) + full_words(path))
    if problem is StorageProblem.READ_ONLY:
        return StoreError(read_only_words(path))
    message = words_for(_WORDS, problem).format(type(error).__name__)
    return StoreError(_BEGINNING.format(path) + message)


@contextmanager
def worded(path: Path) -> Iterator[None]:
    """Make a StoreError, with words for a person, of whatever a store raises in the block."""
    try:
        yield
    except STORE_ERRORS as error:
        raise in_words(error, path) from error


def cannot_be_written(path: Path) -> bool:
    """Return whether a store is there that this person cannot write: the file, or the folder that holds its journal."""
    if not path.is_file():
        return False
    effective = os.access in os.supports_effective_ids
    both = (path, path.parent)
    return path in copies() or not all(os.access(place, os.W_OK, effective_ids=effective) for place in both)


def read_only_words(path: Path) -> str:
    """Return that a store can only be read, and what to do; it may be a full disk that keeps it from being written."""
    why = _NOT_WRITABLE if cannot_be_written(path) else full_words(path)
    return f"{path} cannot be written: {why}"


def full_words(path: Path) -> str:
    """Return that the disk of a file is full, how much is to be freed, and that nothing was lost."""
    return (
        f"the disk is full. Free {-(-_lacking_bytes(path) // 10**6) or 1} MB or more on it, then try again; "
        "what was stored before is safe."
    )


def _lacking_bytes(path: Path) -> int:
    """Return how much is to be freed on the disk of a file; 0 also where that cannot be found out."""
    import shutil

    try:
        there = next(parent for parent in path.absolute().parents if parent.exists())
        return max(0, _NEEDED_BYTES - shutil.disk_usage(there).free)
    except OSError:
        return 0


_BYTES = 4


def pack_positions(positions: Sequence[int]) -> bytes:
    """Pack 0-based places: zlib of little-endian uint32."""
    places = array("I", positions)
    if sys.byteorder == "big":
        places.byteswap()
    return zlib.compress(places)


def unpack_positions(packed: bytes) -> Sequence[int]:
    """Read the places back; StoredValueError where they are none."""
    places = array("I", little_endian_positions(packed))
    if sys.byteorder == "big":
        places.byteswap()
    many = without_gaps(places)
    return many if isinstance(many, range) else tuple(places)


def among(column: str, places: Iterable[int] | None) -> tuple[str, tuple[object, ...]]:
    """Return the condition that a column holds one of some places, after others, and its values; nothing for None."""
    if places is None:
        return "", ()
    if isinstance(places, range) and places.step == 1:
        return f" AND {column} BETWEEN ? AND ?", (places.start, places.stop - 1)
    return f" AND {column} IN (SELECT value FROM json_each(?))", (json.dumps([*places]),)


def little_endian_positions(packed: bytes) -> bytes:
    """Return the places as they are packed: little-endian uint32, one after the other."""
    places = inflated(packed)
    if len(places) % _BYTES:
        raise StoredValueError
    return places


def count_positions(packed: bytes) -> int:
    """Return how many there are."""
    return len(little_endian_positions(packed)) // _BYTES


# ---- Writing to SQLite: all of it or nothing, and each text once, however many rows refer to it.


def digest(text: str) -> int:
    """Return 32 bits by which equal texts are found; texts that share them are distinguished by comparison."""
    from hashlib import blake2b  # a list of runs starts without OpenSSL

    return int.from_bytes(blake2b(text.encode(), digest_size=4).digest(), "big", signed=True)


def intern_text(connection: sqlite3.Connection, text: str) -> int:
    """Return the id of a text, storing it where it is new."""
    text = storable(text)
    mark = digest(text)
    row = connection.execute("SELECT id FROM texts WHERE digest = ? AND body = ?", (mark, text)).fetchone()
    if row is not None:
        return int(row[0])
    inserted = connection.execute("INSERT INTO texts (digest, body) VALUES (?, ?)", (mark, text))
    return int(inserted.lastrowid or 0)


def read_texts(connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, str]:
    """Return the texts of these ids."""
    query = "SELECT id, body FROM texts WHERE id IN (SELECT value FROM json_each(?))"
    return dict(connection.execute(query, (json.dumps([*ids]),)))


def sweep_texts(connection: sqlite3.Connection) -> int:
    """Erase texts that nothing refers to any more; gives how many."""
    return connection.execute("""
        DELETE FROM texts WHERE id NOT IN (
            SELECT source FROM entries UNION SELECT reference FROM entries
            UNION SELECT output FROM results WHERE output IS NOT NULL
            UNION SELECT raw FROM results WHERE raw IS NOT NULL
            UNION SELECT head FROM replies UNION SELECT body FROM replies
            UNION SELECT tail FROM replies WHERE tail IS NOT NULL
        )
    """).rowcount


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Run the block in a transaction, all or nothing; it is on the disk when the block ends.

    The connection has ``isolation_level=None``. Taking the lock first keeps two processes from changing what
    both have read.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk ends it by itself
            connection.execute("ROLLBACK")
        raise


@contextmanager
def undone(connection: sqlite3.Connection) -> Iterator[None]:
    """Run the block in a transaction and roll it back: for reading what would be stored; nothing reaches the disk."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        if connection.in_transaction:  # a full disk ends it by itself
            connection.execute("ROLLBACK")
