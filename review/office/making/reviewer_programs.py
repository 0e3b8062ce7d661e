"""The program for reviewers: its archives in the data folder, one for each system, and their way to a stick.

An archive is one that ``make reviewer-bundle`` packs. Nobody signs it, so its SHA-256 is shown.
"""

from __future__ import annotations

import lzma
import shutil
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from io import RawIOBase
from pathlib import Path, PurePosixPath
from typing import Any, Final

from harness.core.failures import UsageError
from harness.core.storage import private_folder
from harness.sealed.stick import ARCHIVES, READABLE, STARTERS, copy_file, file_hash, write_file

TITLES: Final = {"windows": "Windows", "macos": "Mac", "linux": "Linux"}
_RUNNABLE: Final = 0o755

# Member by which an archive is recognised → its system
_PROGRAMS: Final = {
    "rosetta-review/rosetta-review.exe": "windows",
    "Rosetta Review.app/Contents/MacOS/rosetta-review": "macos",
    "rosetta-review/rosetta-review": "linux",
}

# Bytes of the largest archive, ten times those of today; a FAT stick takes files of up to 4 GiB
MOST_BYTES: Final = 2**29
MOST_UNPACKED: Final = 2**30
_MOST_MEMBERS: Final = 20_000
_DAMAGED: Final = (
    *(zipfile.BadZipFile, tarfile.TarError, lzma.LZMAError, zlib.error, struct.error),
    *(EOFError, OSError, OverflowError, ValueError),
)
_MEMORY: Final = 2**28  # Bytes that unpacking may need; the strongest setting of xz needs 65 MiB
_PIECE: Final = 2**20

Copied = Callable[[int], object]  # Called with the bytes of each piece that was copied


@dataclass(frozen=True, slots=True)
class ReviewerProgram:
    system: str
    path: Path
    size: int  # Bytes

    @property
    def sha256(self) -> str:
        """Return the SHA-256 of the archive. Raises StickError."""
        return file_hash(self.path)


def list_programs(home: Path) -> list[ReviewerProgram]:
    paths = {system: home / "reviewer-programs" / name for system, name in ARCHIVES.items()}
    return [ReviewerProgram(s, path, path.stat().st_size) for s, path in paths.items() if path.is_file()]


def add_program(path: Path, system: str, home: Path, copied: Copied) -> ReviewerProgram:
    """Copy the archive of a system into the data folder, over an earlier one, and return it.

    Raises UsageError where it does not fit, and StickError where it cannot be copied.
    """
    target = private_folder(home / "reviewer-programs") / ARCHIVES[system]
    size = path.stat().st_size
    _require_room(target.parent, size)
    copy_file(path, target, READABLE, copied)
    return ReviewerProgram(system, target, size)


# The way to a stick


def programs_to_copy(home: Path, folder: Path) -> list[ReviewerProgram]:
    """Return the archives that a stick lacks; UsageError where they do not fit on it."""
    lacking = []
    for program in list_programs(home):
        path = folder / ARCHIVES[program.system]
        same_size = path.is_file() and path.stat().st_size == program.size
        if not same_size or file_hash(path) != program.sha256:
            lacking.append(program)
    _require_room(folder, sum(program.size for program in lacking))
    return lacking


def copy_program(program: ReviewerProgram, folder: Path, copied: Copied) -> Path:
    """Copy an archive to a stick, and return its place there. Raises StickError."""
    path = folder / ARCHIVES[program.system]
    copy_file(program.path, path, READABLE, copied)
    return path


def write_starters(folder: Path) -> list[Path]:
    """Write what starts the program on Linux, where its archive is on the stick. Raises StickError."""
    if "linux" not in systems_on(folder):
        return []
    ours = files("review.office.making") / "linux_stick"
    for name in STARTERS:
        write_file(folder / name, (ours / name).read_bytes(), _RUNNABLE)
    return [folder / name for name in STARTERS]


def systems_on(folder: Path) -> list[str]:
    """Return the systems whose archive is on a stick."""
    return [system for system, name in ARCHIVES.items() if (folder / name).is_file()]


def _require_room(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise UsageError(
            f"{folder}: {megabytes(needed)} are needed and {megabytes(free)} are free. Free some space, or choose another place."
        )


def megabytes(size: int) -> str:
    """Return a size in bytes as people read it."""
    return f"{size / 10**6:,.1f} MB"


# Which system an archive is for


def recognise_archive(path: Path) -> str:
    """Return the system of an archive, after reading all of it. Raises UsageError where it is none, or is damaged."""
    try:
        size = path.stat().st_size if path.is_file() else None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from None
    if size is None:
        raise UsageError(f"{path}: there is no such file.")
    if size > MOST_BYTES:
        raise UsageError(f"{path} is {megabytes(size)} large; archives of the program for reviewers have about 40 MB.")
    try:
        with path.open("rb") as file:
            beginning = file.read(6)
        if beginning.startswith(b"PK\x03\x04"):
            names, form = _zip_members(path), ".zip"
        elif beginning == b"\xfd7zXZ\x00":
            names, form = _tar_members(path), ".tar.xz"
        else:
            raise _no_archive(path, "it is neither a .zip nor a .tar.xz")
    except _DAMAGED:
        raise UsageError(f"{path} is damaged or was cut short. Copy or download it again.") from None
    except (NotImplementedError, RuntimeError):  # a way of packing, or a password, that we never use
        raise _no_archive(path, "it was packed in another way") from None
    return _system(path, names, form)


def _system(path: Path, names: Sequence[str], form: str) -> str:
    if (system := next((_PROGRAMS[name] for name in names if name in _PROGRAMS), None)) is None:
        raise _no_archive(path, "the program rosetta-review is not in it")
    if not ARCHIVES[system].endswith(form):
        raise UsageError(
            f"{path} holds the program for {TITLES[system]}, which a stick needs as {ARCHIVES[system]}: add that file of the same build."
        )
    [top] = {PurePosixPath(name).parts[0] for name, known in _PROGRAMS.items() if known == system}
    parts_of = {name: PurePosixPath(name).parts for name in names}
    below = {name for name, parts in parts_of.items() if parts[:1] == (top,) and ".." not in parts and "\\" not in name}
    if outside := [name for name in names if name not in below]:
        raise _no_archive(path, f"beside the program it holds {outside[0][:80]!r}")
    return system


def _no_archive(path: Path, why: str) -> UsageError:
    return UsageError(
        f"{path} is no archive of the program for reviewers: {why}. `make reviewer-bundle` packs {', '.join(ARCHIVES.values())}."
    )


class _Budget:
    """Counts what is unpacked. ``spend`` raises LZMAError beyond what a program for reviewers can hold."""

    def __init__(self) -> None:
        self._left = MOST_UNPACKED
        self._members = _MOST_MEMBERS

    def spend(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise lzma.LZMAError

    def member(self) -> None:
        self._members -= 1
        if self._members < 0:
            raise lzma.LZMAError


def _zip_members(path: Path) -> list[str]:
    """Return the names in a zip. Every byte is read, so that its checksums are checked."""
    budget = _Budget()
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            budget.member()
            with archive.open(member) as file:
                while piece := file.read(_PIECE):
                    budget.spend(len(piece))
        return archive.namelist()


def _tar_members(path: Path) -> list[str]:
    """Return the names in a ``.tar.xz``. Every byte is read, so that its checksums are checked."""
    budget = _Budget()
    names = []
    with path.open("rb") as packed:
        unpacked = _Unpacked(packed, budget)
        with tarfile.open(fileobj=unpacked, mode="r|") as archive:
            for member in archive:
                budget.member()
                names.append(member.name)
        while unpacked.read(_PIECE):
            pass
    return names


class _Unpacked(RawIOBase):
    """The content of an xz file, with bounded memory; EOFError where it was cut short."""

    def __init__(self, file: Any, budget: _Budget) -> None:
        self._file, self._budget = file, budget
        self._xz = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MEMORY)

    def read(self, size: int = -1) -> bytes:
        """Return up to ``size`` bytes; none at the end."""
        content = bytearray()
        while len(content) < size and not self._xz.eof:
            packed = self._file.read(_PIECE) if self._xz.needs_input else b""
            if self._xz.needs_input and not packed:
                raise EOFError
            content += self._xz.decompress(packed, size - len(content))
        self._budget.spend(len(content))
        return bytes(content)
