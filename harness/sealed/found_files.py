"""Files of reviews, known by their first bytes whatever they are called, in folders and inside a zip or a mail.

Mail programs, telephones and old file systems rename files (``x.rosetta-ratings.txt``, ``TRANSL~1.ROS``).
"""

from __future__ import annotations

import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Final

from harness.core.failures import HarnessError
from harness.sealed.carried_files import BINS, HEAD, ReviewFile, carried_kinds, is_ours, kind_of_name, read_carried
from harness.sealed.stick import MOST_BYTES, PROGRAM_FILES, is_folder, listed
from harness.sealed.strict_records import FileError

STICK_SECONDS: Final = 2.0
"""An old stick with a thousand photographs must not keep anybody waiting."""
MOST_ENTRIES: Final = 20_000
"""Files and folders that are examined in one place."""
_DEPTH: Final = 3
"""Folders below the place that is searched."""

_UNFINISHED: Final = (".crdownload", ".part", ".partial", ".opdownload", ".download")


class SkipReason(StrEnum):
    """Why a file in a folder is passed over."""

    HIDDEN = "hidden or deleted"
    UNFINISHED = "not completely downloaded"
    BATCH = "of sentences, not of answers"
    RATINGS = "of answers, not of sentences"
    OTHER = "of another kind"
    TOO_LARGE = "too large"
    UNREADABLE = "not readable"
    NOT_LOOKED_AT = "not examined: there are too many"


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file that seems to be of the kind that is looked for; opening it tells whether it is."""

    path: Path
    size: int
    """Bytes of the file on the disk."""
    modified: float
    """Seconds since 1970, by the clock of anyone who wrote it."""
    inside: str = ""
    """Name in the zip or mail that the file is; empty for the file itself."""
    is_named: bool = True
    """Whether its name says its kind; otherwise only its first bytes do."""


@dataclass(frozen=True, slots=True)
class SkippedFiles:
    """Files that were passed over for one reason."""

    reason: SkipReason
    names: Sequence[str]

    def __str__(self) -> str:
        """Return one line: the number of files, the reason, and up to three names."""
        count, shown = len(self.names), ", ".join(self.names[:3])
        more = ", …" if count > 3 else ""
        return f"{count:,} file{'s' * (count != 1)} {self.reason}: {shown}{more}"


@dataclass(frozen=True, slots=True)
class FileSearch:
    files: Sequence[FoundFile]
    """Newest first."""
    skipped: Sequence[SkippedFiles]


# Finding


def find_files(places: Iterable[Path], wanted: ReviewFile, *, seconds: float | None = STICK_SECONDS) -> FileSearch:
    """Search folders and three levels below for files of one kind; links are never followed.

    Those whose names say the kind come in any case, others are known by their first bytes within ``seconds``.
    A place that cannot be read holds nothing. A file that is reached twice is given once. The program for reviewers and
    what came with it are not examined.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    found_files: dict[tuple[int, int, str], FoundFile] = {}
    skipped: dict[SkipReason, list[str]] = {}
    unnamed: list[Path] = []

    def skip(reason: SkipReason, path: Path) -> None:
        skipped.setdefault(reason, []).append(path.name)

    for place in places:
        for path, passed in _entries(place, deadline):
            unfinished = path.name.casefold().endswith(_UNFINISHED)
            reason = passed or (SkipReason.UNFINISHED if unfinished else None)
            if reason is None and kind_of_name(path.name) is None:
                unnamed.append(path)
            elif reason := reason or _add(found_files, path, wanted):
                skip(reason, path)
    for path in unnamed:
        late = deadline is not None and time.monotonic() > deadline
        reason = SkipReason.NOT_LOOKED_AT if late else _add(found_files, path, wanted)
        if reason is not None:
            skip(reason, path)
    files = sorted(found_files.values(), key=lambda f: (-f.modified, str(f.path), f.inside))
    passed_over = [SkippedFiles(reason, sorted({*names})) for reason, names in skipped.items()]
    return FileSearch(files, passed_over)


def is_kind(path: Path, wanted: ReviewFile) -> bool:
    """Return whether a file's name or its first bytes say that it is, or holds, a file of one kind."""
    return _add({}, path, wanted) is None


def ratings_hashes(places: Iterable[Path]) -> list[set[str]]:
    """Return for each file of ratings that is found the SHA-256 of every one that it is or holds.

    A file that cannot be read has the hash "": nobody has seen it.
    """
    hashes = []
    for path in {file.path: None for file in find_files(places, ReviewFile.RATINGS).files}:
        try:
            carried = read_carried(path)
        except HarnessError:
            hashes.append({""})
        else:
            ours = [file for file in carried if ReviewFile.RATINGS in file.kinds] or carried
            hashes.append({sha256(file.data).hexdigest() for file in ours})
    return hashes


def _add(found: dict[tuple[int, int, str], FoundFile], path: Path, wanted: ReviewFile) -> SkipReason | None:
    """Add what a file is or holds of the wanted kind; return why it is passed over, None where it is added."""
    try:
        facts = path.lstat()
        if not stat.S_ISREG(facts.st_mode):
            return SkipReason.OTHER
        named = kind_of_name(path.name)
        ours = (file for file in carried_kinds(path, facts.st_size) if wanted in file.kinds)
        insides = [(file.inside, kind_of_name(file.name) is wanted) for file in ours]
    except OSError:
        return SkipReason.UNREADABLE  # pulled meanwhile, or not ours to read
    except FileError:
        insides = []
    if not insides and named is wanted:
        insides = [("", True)]  # damaged, empty or too large: opening it says so
    for inside, by_name in insides:
        file = FoundFile(path, facts.st_size, facts.st_mtime, inside, by_name or named is wanted)
        found.setdefault((facts.st_dev, facts.st_ino, inside), file)
    if insides:
        return None
    if named is not None:
        return SkipReason.BATCH if named is ReviewFile.BATCH else SkipReason.RATINGS
    return SkipReason.TOO_LARGE if _is_too_large(path, facts.st_size) else SkipReason.OTHER


def _is_too_large(path: Path, size: int) -> bool:
    """Return whether a file begins as ours do and is larger than any of them."""
    if size <= MOST_BYTES:
        return False
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
    except OSError:
        return False
    return is_ours(head)


def _entries(place: Path, deadline: float | None) -> Iterator[tuple[Path, SkipReason | None]]:
    """Walk breadth first over the files of a place; with each comes why its name alone passes it over, or None."""
    folders = [(place, 0, False)]
    seen = 0
    while folders:
        folder, depth, is_hidden = folders.pop(0)
        for entry in listed(folder):
            seen += 1
            if seen > MOST_ENTRIES or (deadline is not None and time.monotonic() > deadline):
                yield folder, SkipReason.NOT_LOOKED_AT
                return
            hidden = is_hidden or entry.name.startswith(".") or entry.name.casefold() in BINS
            if is_folder(entry):
                if depth < _DEPTH:
                    folders.append((Path(entry.path), depth + 1, hidden))
            elif entry.name not in PROGRAM_FILES and (not is_hidden or kind_of_name(entry.name)):
                yield Path(entry.path), SkipReason.HIDDEN if hidden else None
