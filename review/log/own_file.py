"""Opening an SQLite file of ours so that what is reported as kept is kept; which programs have it open, and which wrote it.

The journal is a rollback journal: of a file that was moved or unmounted while open it says so; in WAL mode ratings are lost
without a word. A shared lock on an empty file shows that a window is open, for SQLite locks only in transactions. The random
id of an installation is made again where the file was copied: two laptops under one id would write chains with the same places.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import sqlite3
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from harness.core.failures import StoreError
from harness.core.storage import StorageProblem, private_folder, storage_problem
from harness.store.sqlite.trouble import transaction
from review.log.table import NotSaved, saying

FILE_NAME = "review.open"


class FileLock:
    """A shared lock, held from the opening of the laptop's file to its closing."""

    def __init__(self, folder: Path, busy_seconds: float) -> None:
        """Raises sqlite3.OperationalError (SQLITE_BUSY) while everything is being deleted, and OSError."""
        path = folder / FILE_NAME
        if not path.exists():
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        self._connection = sqlite3.connect(path, timeout=busy_seconds, isolation_level=None, check_same_thread=False)
        try:
            self._share()
        except BaseException:
            self.close()
            raise

    def be_alone(self) -> None:
        """Lock everybody else out until this is closed; sqlite3.OperationalError where another program is in."""
        self._connection.rollback()
        try:
            self._connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            with suppress(sqlite3.OperationalError):
                self._share()
            raise

    def close(self) -> None:
        """Release the lock."""
        self._connection.close()

    def _share(self) -> None:
        self._connection.execute("BEGIN")
        self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()


_MACHINE_IDS = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))
_WINDOWS_KEY = r"SOFTWARE\Microsoft\Cryptography"
# Set in a hardware address that `uuid.getnode` made up, which is another one each time
_MULTICAST = 1 << 40


def new_device() -> str:
    """Return a fresh id, 16 hexadecimal digits."""
    return secrets.token_hex(8)


def fingerprint(path: Path) -> str:
    """Return a hash that stays the same while a file stays where it is: of machine, path, inode and birth.

    Where it changes for another reason, such as a file system without lasting inodes, no more happens than
    that a new chain begins. A file whose old content was written over it looks the same here; anyone who
    brings events together sees that by two events at one place (``log.chain``).
    """
    place = path.resolve()
    stat_result = place.stat()
    # What tells this computer from others, empty where nothing lasting does.
    given = _given_id()
    node = 0 if given else uuid.getnode()
    machine = given or ("" if node & _MULTICAST else f"{node:012x}")
    facts = f"{machine}\n{place}\n{stat_result.st_ino}\n{getattr(stat_result, 'st_birthtime', '')}"
    return hashlib.sha256(facts.encode(errors="surrogateescape")).hexdigest()


def _given_id() -> str:
    if sys.platform == "win32":
        import winreg

        access = winreg.KEY_READ | winreg.KEY_WOW64_64KEY
        try:
            with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, _WINDOWS_KEY, access=access) as key:
                return str(winreg.QueryValueEx(key, "MachineGuid")[0])
        except OSError:
            return ""
    for place in _MACHINE_IDS:
        if place.is_file():
            return place.read_text(encoding="ascii", errors="replace").strip()
    return ""


Step = Callable[[sqlite3.Connection], None]

_PRAGMAS = (
    "journal_mode = DELETE",
    "synchronous = EXTRA",  # FULL, and the folder too: a commit survives a power cut right after it
    "foreign_keys = ON",
    "secure_delete = ON",
    "temp_store = MEMORY",  # no text of ours in another folder
    "trusted_schema = OFF",
)


@dataclass(frozen=True)
class FileForm:
    """What tells one kind of file from all others, and how an older one is brought up to date."""

    # `PRAGMA application_id`, which every other program leaves at 0 or sets to its own
    application_id: int
    # Each brings a file from the version of its place to the next; a released one is never changed
    steps: tuple[Step, ...]

    @property
    def version(self) -> int:
        return len(self.steps)


class OwnFile:
    """An open file of ours, closed at the end of its block."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self.connection = connection
        self.path = path

    def close(self) -> None:
        self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def opening(path: Path, form: FileForm, busy_seconds: float) -> Iterator[sqlite3.Connection]:
    """Open a file, made where there is none; what is done within is one transaction with its upgrade.

    The file stays open after the block, and is closed where anything fails. Raises NotSaved where it is
    another program's or cannot be written, and StoreError where a newer version made it; it is then as before.
    """
    with saying(path):
        private_folder(path.parent)
        if not path.exists():
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        connection = sqlite3.connect(path, timeout=busy_seconds, isolation_level=None, check_same_thread=False)
        try:
            _check_ours(connection, path, form)
            for pragma in _PRAGMAS:
                connection.execute(f"PRAGMA {pragma}")
            with transaction(connection):
                version = connection.execute("PRAGMA user_version").fetchone()[0]
                if version != form.version:
                    for step in form.steps[version:]:
                        step(connection)
                    connection.execute(f"PRAGMA application_id = {form.application_id}")
                    connection.execute(f"PRAGMA user_version = {form.version}")
                yield connection
            _try_writing(connection, form)
        except BaseException:
            connection.close()
            raise


def _check_ours(connection: sqlite3.Connection, path: Path, form: FileForm) -> None:
    # one state of the file, though another program may just be making it
    connection.execute("BEGIN")
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    connection.rollback()
    if application != form.application_id and (application or version or tables):
        raise NotSaved(StorageProblem.NOT_OURS, path, f"application_id {application:#x}")
    if version > form.version:
        raise StoreError(
            f"{path} was written by a newer version of Rosetta (its version is {version}, this program "
            f"knows {form.version}). Install the newer version, or name another folder in ROSETTA_HOME. "
            "Nothing was changed."
        )


def _try_writing(connection: sqlite3.Connection, form: FileForm) -> None:
    """Change something and take it back, so that a file or folder that is read-only says so at once.

    A full disk is no reason not to open: what is there can still be submitted.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(f"PRAGMA user_version = {form.version + 1}")
    except sqlite3.OperationalError as error:
        if storage_problem(error) is not StorageProblem.DISK_FULL:
            raise
    finally:
        connection.rollback()
