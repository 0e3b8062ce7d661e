"""Files on a memory stick: written so that they are whole or not there, and read back.

A stick fills up, is pulled, lies about what it kept, or is write-protected; each of these has its word here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from corpora.files.decode import open_regular
from harness.core.failures import HarnessError, UsageError
from harness.core.storage import StorageProblem, error_name, storage_problem, sync_folder, words_for

if sys.platform == "darwin":
    import fcntl

BATCH_SUFFIX: Final = ".rosetta-batch"
RATINGS_SUFFIX: Final = ".rosetta-ratings"
PAGE_SUFFIX: Final = ".html"
"""Of a batch as a page for any browser."""
ARCHIVES: Final = {"windows": "Review-Windows.zip", "macos": "Review-macOS.zip", "linux": "Review-Linux.tar.xz"}
"""System → archive of the program for reviewers on a stick."""
START_HERE: Final = "START-HERE.html"
STARTERS: Final = ("Start-Linux.desktop", "Start-Linux.sh")
"""What a double click on Linux starts, next to the archive."""
PROGRAM_FILES: Final = frozenset({*ARCHIVES.values(), START_HERE, *STARTERS, "CHECKSUMS.txt", "LICENCES.txt"})
"""Names of everything on a stick that came with the program, and not from a speaker."""

MOUNT_POINTS = (Path("/media"), Path("/run/media"), Path("/mnt"))
"""Where Linux shows sticks, in the first two mostly in a folder of the user's."""


def mounted_sticks() -> list[Path]:
    """List the places at which the system shows sticks; those that are plugged in now."""
    if sys.platform == "win32":
        letters = (Path(f"{letter}:\\") for letter in "DEFGHIJKLMNOPQRSTUVWXYZ")
        return [drive for drive in letters if drive.is_dir()]
    if sys.platform == "darwin":
        return _folders_in(Path("/Volumes"))
    shown = [path for above in MOUNT_POINTS for path in _folders_in(above)]
    of_users = [path for folder in shown if not _is_mounted(folder) for path in _folders_in(folder)]
    return [path for path in (*of_users, *shown) if _is_mounted(path)]


def listed(folder: Path) -> Iterator[os.DirEntry[str]]:
    """Yield what is in a folder; nothing of one that is gone, locked or no folder."""
    try:
        with os.scandir(folder) as entries:
            yield from entries
    except OSError:
        return  # pulled, locked, or no folder: there is nothing to find in it


def files_named(folder: Path, suffix: str) -> list[Path]:
    """Return the paths in a folder whose names end so, sorted, but hidden ones, as Macs put next to each file; none of one that is gone."""
    return sorted(Path(e.path) for e in listed(folder) if e.name.endswith(suffix) and not e.name.startswith("."))


def _folders_in(place: Path) -> list[Path]:
    return sorted(Path(entry.path) for entry in listed(place) if is_folder(entry))


def is_folder(entry: os.DirEntry[str]) -> bool:
    """Return whether this is a folder itself, no link to one; False on a failing stick."""
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _is_mounted(folder: Path) -> bool:
    try:
        return folder.is_mount()
    except OSError:
        return False  # another user's, or pulled meanwhile


MOST_BYTES: Final = 51 * 2**20
"""Bytes of the largest file that travels."""


PRIVATE: Final = 0o600
READABLE: Final = 0o644
"""For what is sealed: on the computer that it goes to, its owner has another number."""


_GONE = "It is not there. Look at its name, or put the stick back, and try again."
_WORDS = {
    StorageProblem.DISK_FULL: "It has too little room. Free some space, or take another stick.",
    StorageProblem.READ_ONLY: "It can be read but not changed. Take off its write protection, or take another stick.",
    StorageProblem.GONE: _GONE,
    StorageProblem.DISK_FAILS: _GONE,
    StorageProblem.CHANGED: "It did not keep what was written. Take another stick.",
    StorageProblem.TOO_LARGE: "It is larger than any file of a review. Choose another file.",
    StorageProblem.OTHER: "It cannot be used. Take another place.",
}
"""What is wrong with the place or the file; a stick that is pulled out says that it fails."""


class StickError(HarnessError):
    """A file could not be written or read; what was there before is still there."""

    def __init__(self, path: Path, problem: StorageProblem, detail: str = "") -> None:
        self.path = path
        self.problem = problem
        self.detail = detail
        """One technical line for anyone who helps; no text of a reviewer."""
        super().__init__(f"{path}: {words_for(_WORDS, problem)}" + (f" ({detail})" if detail else ""))


def write_file(path: Path, data: bytes, mode: int = PRIVATE) -> None:
    """Write a file under a name next to it, flush it, read it back, and give it its name.

    Raises StickError; then no half file bears the name, and a file that bore it before is whole.
    """
    _write_pieces(path, [data], mode)


def copy_file(source: Path, path: Path, mode: int, copied: Callable[[int], object]) -> None:
    """Copy a large file as ``write_file`` writes one.

    ``copied`` is called with the bytes of each piece. Raises StickError, which names the file that failed.
    """
    _write_pieces(path, _pieces(source, copied), mode)


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file of any size. Raises StickError."""
    return _digest(_pieces(path, lambda _: None))


_PIECE: Final = 2**22


def _pieces(path: Path, copied: Callable[[int], object]) -> Iterator[bytes]:
    try:
        with open_regular(path) as file:
            while piece := file.read(_PIECE):
                yield piece
                copied(len(piece))
    except OSError as error:
        raise stick_error(path, error) from None


def _digest(pieces: Iterable[bytes]) -> str:
    digest = sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()


def _write_pieces(path: Path, pieces: Iterable[bytes], mode: int) -> None:
    beside = path.with_name(f".{path.name}.part")
    try:
        # Write a new file, wait until the medium has it, and return its SHA-256; never through a
        # link that lies there.
        beside.unlink(missing_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        digest = sha256()
        with os.fdopen(os.open(beside, flags, mode), "wb") as file:
            for piece in pieces:  # flushed one by one: a bar of progress counts what the medium has
                file.write(piece)
                digest.update(piece)
                file.flush()
                flush(file.fileno())
        kept = _digest(_read_again(beside)) == digest.hexdigest()
        if kept:
            beside.replace(path)
            sync_folder(path.parent)
    except OSError as error:
        raise stick_error(path, error) from None
    finally:
        with suppress(OSError):  # else the medium is gone; nothing under this name is ours to keep
            beside.unlink(missing_ok=True)  # also after Ctrl-C
    if not kept:
        raise StickError(path, StorageProblem.CHANGED)


def read_file(path: Path, most_bytes: int = MOST_BYTES) -> bytes:
    """Read a regular file of bounded size; raises StickError in words."""
    try:
        with open_regular(path) as file:
            small = os.fstat(file.fileno()).st_size <= most_bytes
            data = file.read(most_bytes + 1) if small else b""
    except OSError as error:
        raise stick_error(path, error) from None
    if not small or len(data) > most_bytes:
        raise StickError(path, StorageProblem.TOO_LARGE)
    return data


def read_named(path: Path, most_bytes: int = MOST_BYTES) -> bytes:
    """Read a file that a command line names, as ``read_file`` does; UsageError in the same words."""
    try:
        return read_file(path, most_bytes)
    except StickError as error:
        raise UsageError(str(error)) from None


def flush(descriptor: int) -> None:
    """Make what was written durable; raises OSError where the drive refuses."""
    if sys.platform == "darwin":  # there fsync leaves the bytes in the drive's own memory
        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
    else:
        os.fsync(descriptor)


def _read_again(path: Path) -> Iterator[bytes]:
    """Read from the medium, not from the memory in which the system keeps what was written."""
    with path.open("rb") as file:
        if sys.platform == "linux":
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        elif sys.platform == "darwin":
            fcntl.fcntl(file.fileno(), fcntl.F_NOCACHE, 1)
        while piece := file.read(_PIECE):
            yield piece


def stick_error(path: Path, error: OSError) -> StickError:
    """Return what the system's error means for anyone who put the stick in."""
    return StickError(path, storage_problem(error), error.strerror or error_name(error))
