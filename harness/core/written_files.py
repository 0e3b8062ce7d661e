"""Files and folders that the program writes: whole or not at all, and of their owner alone unless somebody asks otherwise."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from harness.core.failures import UsageError
from harness.core.storage_problems import mend_of

PRIVATE: Final = 0o600
"""Mode of a file of its owner alone."""


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


def write_file(path: Path, data: bytes, *, overwrite: bool, mode: int = PRIVATE) -> None:
    """Write bytes to a file, of its owner alone unless ``mode`` says otherwise, all of them or none.

    Raises UsageError where the file is there already and ``overwrite`` is false, or cannot be written.
    """
    _write(path, data, None if overwrite else "Choose another name, or add --overwrite.", mode)


def write_new_file(path: Path, data: bytes, *, mode: int = PRIVATE) -> None:
    """Write bytes to a file as ``write_file`` does, where no option replaces one that is there already."""
    _write(path, data, "Choose another name.", mode)


def _write(path: Path, data: bytes, taken: str | None, mode: int) -> None:
    """Write a file; ``taken``: the fix where it is there already, None where it is replaced."""
    if path.is_dir():
        raise UsageError(f"{path} is a folder. Name a file in it.")
    if taken is not None and path.exists():
        raise UsageError(f"{path.name} is there already. {taken}")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # mode 0600
    except OSError as error:
        raise _unwritten(path, error) from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
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
