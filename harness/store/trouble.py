"""What SQLite says when a store cannot be read or written, in words with a mend."""

from __future__ import annotations

import shutil
import sqlite3
import zlib
from json import JSONDecodeError
from pathlib import Path

from harness.failures import StoreError

_BUSY = (
    "another program has held it for too long. Close the other Rosetta, or wait until it is done, then "
    "try again. Nothing was changed."
)
_DAMAGED = (
    "it is damaged, or no store at all. Move it away with the files beside it whose names begin alike, "
    "and put a copy of yours in its place, or begin anew. `rosetta doctor` gives the lines for that."
)
_NOT_WRITABLE = "this person may not write it. Allow it, or name another folder in ROSETTA_HOME."
_BEGINNING = "{} cannot be used as a store: "
_WORDS = {
    sqlite3.SQLITE_BUSY: _BUSY,
    sqlite3.SQLITE_LOCKED: _BUSY,
    sqlite3.SQLITE_PROTOCOL: _BUSY,
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
    sqlite3.SQLITE_FORMAT: _DAMAGED,
    sqlite3.SQLITE_IOERR: (
        "the disk did not read or write it. See whether the disk is still there and has room; a store "
        "belongs on a disk of this machine, not on a network or a stick."
    ),
    sqlite3.SQLITE_READONLY: _NOT_WRITABLE,
    sqlite3.SQLITE_PERM: _NOT_WRITABLE,
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened. Name another folder in ROSETTA_HOME.",
    sqlite3.SQLITE_ERROR: (
        "it is not in the form that this program makes. Move it away, or name another folder in "
        "ROSETTA_HOME."
    ),
}
"""Primary result code → what is the matter, and what to do."""

_FOR_WANT_OF_ROOM = {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN}
"""What SQLite may say on a full disk: even who only reads needs a file beside the store."""

NEEDED_BYTES = 20 * 10**6
"""Free space that a store needs to be worked with: a run of some thousand entries fits in."""

_NO_ROOM_BYTES = 10**6
"""Free space below which it is the reason why a file beside a store cannot be made."""


_NOT_TEXT = ("Could not decode to UTF-8", "malformed JSON")
"""Beginnings of what SQLite and its Python module say of a value; they come with no code of their own."""

STORE_ERRORS = (sqlite3.Error, zlib.error, ValueError)
"""What reading a store may raise; whether a ValueError is about a stored value, ``in_words`` finds out."""


def in_words(error: Exception, path: Path) -> StoreError | None:
    """Give what a person is told of an error at a store; quotes nothing that is stored.

    None for an error that says nothing of the store: it is a fault of the program.
    """
    if not isinstance(error, sqlite3.Error):
        return StoreError(_BEGINNING.format(path) + _DAMAGED) if _of_stored(error) else None
    code = getattr(error, "sqlite_errorcode", None)
    primary = code & 0xFF if isinstance(code, int) else -1
    if str(error).startswith(_NOT_TEXT):
        primary = sqlite3.SQLITE_CORRUPT
    if primary == sqlite3.SQLITE_FULL or (primary in _FOR_WANT_OF_ROOM and is_full(path)):
        return StoreError(_BEGINNING.format(path) + full_words(path))
    said = _WORDS.get(primary, f"SQLite fails on it ({type(error).__name__}). Try again.")
    return StoreError(_BEGINNING.format(path) + said)


def _of_stored(error: Exception) -> bool:
    """Tell whether a stored value cannot be unpacked, is no text, no JSON, or not what it was when it was stored."""
    from pydantic import ValidationError

    return isinstance(error, zlib.error | UnicodeError | JSONDecodeError | ValidationError)


def is_full(path: Path) -> bool:
    """Tell whether there is no room left on the disk of a file; False where that cannot be found out."""
    free = _free_bytes(path)
    return free is not None and free < _NO_ROOM_BYTES


def full_words(path: Path) -> str:
    """Say that the disk of a file is full, how much is to be freed, and that nothing was lost."""
    free = _free_bytes(path) or 0
    wanted = max(NEEDED_BYTES - free, _NO_ROOM_BYTES)
    return (
        f"the disk is full. Free {-(-wanted // 10**6)} MB or more on it, then try again; what was stored "
        "before is safe."
    )


def _free_bytes(path: Path) -> int | None:
    try:
        there = next(each for each in path.absolute().parents if each.exists())
        return shutil.disk_usage(there).free
    except OSError:
        return None
