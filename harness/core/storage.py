"""What files, disks and databases cannot hold, and what keeps them from being read or written.

This is the one table of the errors of SQLite and of the system. Anyone who tells a person of a problem (the store,
the reviewer's file, a stick, a window) has a table of words by problem. It may leave problems out: ``words_for``
then takes the words of the wider problem.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import Final

from corpora.files.decode import MARKS, blocks_of, folder_words, open_regular, sha256_of, what_is, wide_encoding
from harness.core.failures import UsageError


def storable(text: str) -> str:
    """Return the text with each lone surrogate as U+FFFD, and each pair as the character that it stands for.

    JSON and Python's strings may hold them, UTF-8 and databases cannot.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


class StorageProblem(StrEnum):
    """Why something was not read or not saved."""

    DISK_FULL = "disk_full"
    READ_ONLY = "read_only"
    GONE = "gone"
    """The file, its folder or its disk is not in its place."""
    BUSY = "busy"
    """Another program holds the file."""
    NO_LOCKS = "no_locks"
    """The storage has no locks, as some network drives."""
    DAMAGED = "damaged"
    NOT_OURS = "not_ours"
    """The file is something else."""
    OTHER_FORM = "other_form"
    """The file does not have the tables that it should have."""
    NOT_OPENED = "not_opened"
    """SQLite cannot make or open a file; the reason it keeps to itself."""
    DISK_FAILS = "disk_fails"
    """The disk did not read or write."""
    CHANGED = "changed"
    """What was read back is not what was written."""
    TOO_LARGE = "too_large"
    OTHER = "other"


_WIDER: Final[Mapping[StorageProblem, StorageProblem]] = {
    StorageProblem.GONE: StorageProblem.OTHER,
    StorageProblem.NOT_OURS: StorageProblem.DAMAGED,
    StorageProblem.NOT_OPENED: StorageProblem.READ_ONLY,
}
"""Problem → the one whose words hold of it too; that of all others is ``OTHER``."""

_SQLITE: Final = (
    ("SQLITE_READONLY_DBMOVED", StorageProblem.GONE),
    ("SQLITE_READONLY", StorageProblem.READ_ONLY),
    ("SQLITE_PERM", StorageProblem.READ_ONLY),
    ("SQLITE_FULL", StorageProblem.DISK_FULL),
    ("SQLITE_BUSY", StorageProblem.BUSY),
    ("SQLITE_LOCKED", StorageProblem.BUSY),
    ("SQLITE_PROTOCOL", StorageProblem.BUSY),
    ("SQLITE_CORRUPT", StorageProblem.DAMAGED),
    ("SQLITE_FORMAT", StorageProblem.DAMAGED),
    ("SQLITE_IOERR_SHORT_READ", StorageProblem.DAMAGED),
    ("SQLITE_NOTADB", StorageProblem.NOT_OURS),
    ("SQLITE_CANTOPEN", StorageProblem.NOT_OPENED),
    ("SQLITE_IOERR", StorageProblem.DISK_FAILS),
    ("SQLITE_ERROR", StorageProblem.OTHER_FORM),
)
"""Beginning of the name of SQLite's result code → problem; the first that fits."""

_SYSTEM: Final = {
    errno.ENOSPC: StorageProblem.DISK_FULL,
    errno.EDQUOT: StorageProblem.DISK_FULL,
    errno.EFBIG: StorageProblem.DISK_FULL,
    errno.EACCES: StorageProblem.READ_ONLY,
    errno.EPERM: StorageProblem.READ_ONLY,
    errno.EROFS: StorageProblem.READ_ONLY,
    errno.ENOENT: StorageProblem.GONE,
    errno.ENOTDIR: StorageProblem.GONE,
    errno.ENODEV: StorageProblem.GONE,
    errno.ENXIO: StorageProblem.GONE,
    errno.ENOTCONN: StorageProblem.GONE,
    errno.ESTALE: StorageProblem.GONE,
    errno.EIO: StorageProblem.DISK_FAILS,
    errno.ENOLCK: StorageProblem.NO_LOCKS,
}
"""Number of the system's error → problem."""


def storage_problem(error: Exception) -> StorageProblem:
    """Return what an OSError or an error of sqlite3 says; OTHER where it says nothing that is known."""
    if isinstance(error, OSError):
        return _SYSTEM.get(error.errno or 0, StorageProblem.OTHER)
    name = error_name(error)
    fits = (problem for beginning, problem in _SQLITE if name.startswith(beginning))
    return next(fits, StorageProblem.OTHER)


def error_name(error: Exception) -> str:
    """Return the name by which manuals list an error, such as ENOSPC or SQLITE_FULL; quotes nothing stored."""
    if isinstance(error, OSError):
        return errno.errorcode.get(error.errno or 0, type(error).__name__)
    return getattr(error, "sqlite_errorname", None) or type(error).__name__


_MENDS: Final[Mapping[StorageProblem, str]] = {
    StorageProblem.READ_ONLY: "Allow it, or name another place.",
    StorageProblem.GONE: "Correct the path, or make the folder that it is in.",
    StorageProblem.DISK_FULL: "Make room there, and do it again.",
    StorageProblem.DISK_FAILS: "See whether the disk is still there, and do it again.",
    StorageProblem.NO_LOCKS: "Locks do not work there: use a folder on a disk of this machine.",
    StorageProblem.OTHER: "See whether the place is right, and do it again.",
}
_NAMED_WRONGLY: Final[Mapping[int, str]] = {
    errno.EISDIR: "Name a file in it.",
    errno.EEXIST: "Name another place.",
    errno.ENAMETOOLONG: "Name a shorter one.",
    errno.ELOOP: "Name the place that is meant, without links.",
    errno.EINVAL: "Name another place.",
}
"""Number of the system's error about the name that was given → fix."""


def mend_of(error: OSError) -> str:
    """Return what a person does about a file that the system refused."""
    number = error.errno or 0
    return _NAMED_WRONGLY.get(number) or words_for(_MENDS, storage_problem(error))


def is_about_the_place(error: OSError) -> bool:
    """Return whether another place, or leave to use this one, is all that is missing."""
    refused = storage_problem(error) in {StorageProblem.READ_ONLY, StorageProblem.GONE}
    return refused or error.errno in _NAMED_WRONGLY


def words_for(words: Mapping[StorageProblem, str], problem: StorageProblem) -> str:
    """Return a table's words for a problem, or those for the wider problem; every table has words for OTHER."""
    while problem not in words and problem is not StorageProblem.OTHER:
        problem = _WIDER.get(problem, StorageProblem.OTHER)
    return words[problem]


# ---- Files and folders that the program writes: whole or not at all, and of their owner alone
# unless somebody asks otherwise.

PRIVATE: Final = 0o600  # Mode of a file of its owner alone


PUBLISHED: Final = 0o644
"""Mode of a file that everybody may have, and so every user of a computer may read."""


def private_folder(folder: Path) -> Path:
    """Make a folder that only its owner may enter, where it does not exist yet."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def file_stamp(path: str | os.PathLike[str]) -> tuple[int, int, int]:
    """Return what is another where a file was written again: inode, size in bytes, time in ns; zeros where it cannot be seen.

    A link is examined itself, and not what it leads to.
    """
    try:
        seen = os.lstat(path)
    except OSError:
        return (0, 0, 0)
    return (seen.st_ino, seen.st_size, seen.st_mtime_ns)


def write_file(path: Path, data: bytes | Iterable[bytes], *, overwrite: bool, mode: int = PRIVATE) -> None:
    """Write bytes to a file, of its owner alone unless ``mode`` says otherwise, all of them or none.

    ``data``: the bytes, or pieces of them in order. Raises UsageError where the file is there already and ``overwrite`` is false, or cannot be written.
    """
    _write(path, data, None if overwrite else "Choose another name, or add --overwrite.", mode)


def write_new_file(path: Path, data: bytes, *, mode: int = PRIVATE) -> None:
    """Write bytes to a file as ``write_file`` does, where no option replaces one that is there already."""
    _write(path, data, "Choose another name.", mode)


def _write(path: Path, data: bytes | Iterable[bytes], taken: str | None, mode: int) -> None:
    """Write a file; ``taken``: the fix where it is there already, None where it is replaced."""
    if path.is_dir():
        raise UsageError(f"{path} is a folder. Name a file in it.")
    if taken is not None and path.exists():
        raise UsageError(f"{path.name} is there already. {taken}")
    import tempfile

    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # mode 0600
    except OSError as error:
        raise _unwritten(path, error) from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines([data] if isinstance(data, bytes) else data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode)
        _place(Path(name), path, taken)
    except OSError as error:
        raise _unwritten(path, error) from error
    finally:
        with suppress(FileNotFoundError):
            Path(name).unlink()


def _unwritten(path: Path, error: OSError) -> UsageError:
    return UsageError(f"{path} cannot be written: {error.strerror}. {mend_of(error)}")


def append_line(path: Path, end: int, line: bytes) -> None:
    """Write a line behind the first ``end`` bytes of a file, over what a stopped write left there; the disk has it then.

    The file is made where it is not there, of its owner alone. Raises OSError.
    """
    new = not path.exists()
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE), "r+b") as file:
        file.truncate(end)
        file.seek(end)
        file.write(line)
        file.flush()
        os.fsync(file.fileno())
    if new:
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Flush the names in a folder to the disk where the system can; some file systems refuse, and need it not.

    Raises OSError for what else goes wrong.
    """
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.ENOTSUP, errno.EBADF}:
            raise
    finally:
        os.close(descriptor)


def _place(made: Path, path: Path, taken: str | None) -> None:
    if taken is None:
        made.replace(path)
        return
    try:
        os.link(made, path)  # fails where another program was quicker, which replace would not
    except FileExistsError:
        raise UsageError(f"{path.name} is there already. {taken}") from None
    except OSError:  # a file system without links
        made.replace(path)


@contextmanager
def exclusive(lock: Path, busy: Exception, seconds: float) -> Iterator[None]:
    """Lock a file, of its owner alone; raises ``busy`` where another program holds it for that long."""
    import filelock

    try:
        with filelock.FileLock(lock, timeout=seconds, mode=PRIVATE):
            yield
    except filelock.Timeout:
        raise busy from None


# ---- Reading a text file that a user named: with a bound on its size, and words for what is wrong with it. Dictionaries, word
# lists and the like come from anywhere; all are read here, so that each says the same. So are the words for what a model
# refuses in them, or in options.

MOST_BYTES = 256 * 2**20
"""No dictionary that people made is larger; a wrong path may name a disk image."""


def read_text(path: Path, what: str, most_bytes: int = MOST_BYTES) -> tuple[str, str]:
    """Read a file in UTF-8, or in UTF-16 with its byte order mark; return its text and the SHA-256 of its bytes.

    ``what`` names its contents (``"the word list"``). UsageError names file, line of a wrong byte and fix.
    """
    content = read_bytes(path, what, most_bytes)
    return text_of(path, what, content), sha256_of([content])


def text_of(path: Path, what: str, content: bytes) -> str:
    """Return the text of a file that was read; see ``read_text``."""
    if (binary := what_is(content)) is not None:
        raise UsageError(f"{path}: {binary[0]}, not {what}. {binary[1]}")
    wide = wide_encoding(content)
    if wide is not None and (wide != "UTF-16" or content[:2] not in MARKS):
        raise UsageError(
            f"{path}: line 1: in {wide}, and not in UTF-8 or in UTF-16 with its byte order mark. "
            "Save the file as UTF-8."
        )
    encoding = "utf-16" if wide else "utf-8-sig"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content[: error.start].decode(encoding, "ignore").count("\n") + 1
        name = wide or "UTF-8"
        raise UsageError(f"{path}: line {line}: not {name}. Save the file as UTF-8.") from None


def read_bytes(path: Path, what: str, most_bytes: int = MOST_BYTES) -> bytes:
    """Read a file whose bytes are kept or hashed as they are; UsageError names file and fix."""
    try:
        with open_regular(path) as file:
            small = os.fstat(file.fileno()).st_size <= most_bytes
            content = file.read(most_bytes + 1) if small else b""
    except IsADirectoryError:
        message, mend = folder_words(path)
        raise UsageError(f"{path}: {message} {mend}") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        mend = "Check the name" if error.errno == errno.ENOENT else "Name a text file in UTF-8"
        raise UsageError(f"{path}: {what} cannot be read ({reason}). {mend}.") from error
    except ValueError:
        raise UsageError(f"{path!r}: no file can have this name. Correct it.") from None
    if not small or len(content) > most_bytes:
        limit = f"{most_bytes // 2**20:,} MiB" if most_bytes >= 2**20 else f"{most_bytes:,} bytes"
        raise UsageError(f"{path}: larger than {limit}, so it is not {what}. Name the right file.")
    return content


def folder_sha256(folder: Path) -> str:
    """Hash the names and contents of a model's files; hidden ones and the README say nothing of it."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "README.md")
    named = ((path.relative_to(folder), path) for path in files)
    seen = ((name, path) for name, path in named if all(part[0] != "." for part in name.parts))
    return sha256_of(f"{name.as_posix()}\0{sha256_of(blocks_of(path))}\n".encode() for name, path in seen)


@contextmanager
def usage_errors(what: str, text: str = "", *, fix: str = "") -> Iterator[None]:
    """Raise UsageError, beginning with ``what``, for what a model refuses in the block.

    ``text``: the TOML that is read there; with it, lines are named.
    """
    try:
        yield
    except ValueError as error:
        from pydantic import ValidationError  # loaded by who has a model

        from corpora.files.toml_text import first_problem

        if not isinstance(error, ValidationError):
            if not text:
                raise
            raise UsageError(f"{what}: not valid TOML: {error}. Correct it.") from None
        raise UsageError(f"{what}: {first_problem(error, text)} {fix}".rstrip()) from None
