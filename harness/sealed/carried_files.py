"""Files of reviews as Rosetta wrote them, known by their first bytes whatever they are called: in folders, and taken out of the
zip or the mail that was wrapped around them.

Nothing is unpacked to the disk: a member is read into memory, and its name is only shown. A zip in a zip and a mail in a
mail stay closed; the number and size of members are bounded. Mail programs, telephones and old file systems rename files
(``x.rosetta-ratings.txt``, ``TRANSL~1.ROS``).
"""

from __future__ import annotations

import base64
import binascii
import codecs
import email
import io
import json
import quopri
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Final

from harness.core.failures import HarnessError
from harness.sealed.archive import MANIFEST, MOST_MANIFEST, SIGNATURE, open_zip, read_member
from harness.sealed.sealing import Lock, lock_of
from harness.sealed.stick import BATCH_SUFFIX, MOST_BYTES, PROGRAM_FILES, RATINGS_SUFFIX, is_folder, listed, read_file
from harness.sealed.strict_records import FileError, FileProblem

# ---- Out of a zip or a mail ----

HEAD: Final = 4096
"""Bytes by which a file is known."""
_MOST_MEMBERS: Final = 1_000
"""Files inside one zip or mail."""
_MOST_DIRECTORY: Final = 2**18
"""Bytes of a zip's list of members."""
_MOST_UNPACKED: Final = 2 * MOST_BYTES
"""Bytes that all wanted members of one zip have together."""

_OTHER_SUFFIXES: Final = (".rosetta-export", ".rosetta-laptop", ".rosetta-witness", ".rosetta-submission")
_ZIP: Final = b"PK\x03\x04"
_MAC_NOTE: Final = b"\x00\x05\x16\x07"
"""AppleDouble: what a Mac notes about a file, in a second file whose name begins with ``._``."""
BINS: Final = {"$recycle.bin", "recycler", "recycled", "__macosx", "system volume information"}
_MAIL: Final = re.compile(
    rb"\s*(From |(From|To|Received|Return-Path|Delivered-To|Subject|Date|Message-ID|MIME-Version|DKIM-Signature"
    rb"|ARC-[A-Za-z-]+|Content-[A-Za-z-]+|X-[A-Za-z0-9-]+|Authentication-Results|Reply-To):)",
    re.IGNORECASE,
)
_BASE64: Final = re.compile(rb"(YWdlLWVuY3J5cHRpb24u|UEsDB[BAQF])")
"""How the first bytes of age and of a zip look in base64."""
_QUOTED: Final = re.compile(rb"(age-encryption\.org/v1(\r?\n|=0A)|PK=03=04)")


class ReviewFile(StrEnum):
    """The two files that travel between an organiser and speakers."""

    BATCH = BATCH_SUFFIX
    RATINGS = RATINGS_SUFFIX


@dataclass(frozen=True, slots=True)
class CarriedFile:
    """The bytes of one file as Rosetta wrote it, taken out of what was wrapped around it."""

    name: str
    data: bytes
    inside: str = ""
    """Name in the zip or mail; empty where nothing was wrapped around it."""
    format: str = ""
    """``format`` of its manifest, where it is an archive that is not sealed."""

    @property
    def kinds(self) -> set[ReviewFile]:
        """Return what it may be: the kind of a file that is sealed for keys shows only in its name."""
        if self.format:
            return {ReviewFile.BATCH} if self.format.startswith("rosetta-batch/") else set()
        lock = lock_of(self.data)
        if lock is Lock.PASSPHRASE:
            return {ReviewFile.BATCH}
        if lock is None:
            return set()
        if (named := kind_of_name(self.name)) is not None:
            return {named}
        other = any(suffix in self.name.casefold() for suffix in _OTHER_SUFFIXES)
        return set() if other else {*ReviewFile}


def kind_of_name(name: str) -> ReviewFile | None:
    """Return what a file's name says it is, in any case and whatever was put behind it; None if nothing."""
    folded = name.casefold()
    return next((kind for kind in ReviewFile if kind.value in folded), None)


# Opening what is wrapped around a file


def read_carried(path: Path) -> list[CarriedFile]:
    """Read a file that was named, and take what is of Rosetta out of the zip or mail that it may be.

    A file that is none of these is given as it is: its reader says what is wrong. Raises StickError for what
    cannot be read, and FileError for a zip or mail that holds nothing of ours, is locked, or is too much.
    """
    data = read_file(path)
    try:
        carried_files = list(_carried_files(io.BytesIO(data), path.name, len(data), whole=True))
    except FileError as error:
        if error.problem is not FileProblem.DAMAGED:
            raise
        carried_files = [CarriedFile(path.name, data)]  # perhaps ours and cut short
    if carried_files:
        return carried_files
    if data.startswith(_MAC_NOTE):
        raise FileError(
            FileProblem.NOT_OURS,
            "a Mac wrote this next to the real file. Take the file without “._” in front of its name.",
        )
    if _is_wrapped(data):
        raise FileError(FileProblem.NOT_OURS, "this is a packed folder or a mail, and no file of a review is in it.")
    return [CarriedFile(path.name, data)]


def read_one(path: Path, wanted: ReviewFile, inside: str = "") -> bytes:
    """Return the bytes of a file, or of a file of the wanted kind in the zip or mail that it is.

    ``inside`` names the one that is meant; without it the first is. Raises StickError and FileError as
    ``read_carried`` does.
    """
    payloads = read_carried(path)
    ours = [payload for payload in payloads if wanted in payload.kinds] or payloads
    return next((file.data for file in ours if file.inside == inside), ours[0].data)


def carried_kinds(path: Path, size: int) -> list[CarriedFile]:
    """Return what is of Rosetta in a file of ``size`` bytes, each with only as many bytes as tell its kind.

    Raises OSError for what cannot be read, and FileError for a zip that is damaged, locked or lists too much.
    """
    with path.open("rb") as file:
        return list(_carried_files(file, path.name, size, whole=False))


def is_ours(head: bytes) -> bool:
    """Return whether a file begins as those of Rosetta do, and so may be too large a one."""
    return lock_of(head) is not None or head.startswith(_ZIP)


def _is_wrapped(data: bytes) -> bool:
    if not data.startswith(_ZIP):
        return _MAIL.match(data[:HEAD]) is not None
    try:
        with open_zip(io.BytesIO(data), len(data), _MOST_DIRECTORY) as archive:
            return MANIFEST not in archive.namelist()
    except FileError:
        return False


def _carried_files(
    file: BinaryIO, name: str, size: int, *, whole: bool, inside: str = "", wraps: str = ""
) -> Iterator[CarriedFile]:
    """Yield what is of Rosetta in a file; its whole bytes only with ``whole``, otherwise as many as tell its kind.

    ``wraps`` names what was opened on the way: a zip in a zip and a mail in a mail stay closed.
    """
    head = file.read(HEAD)
    most = MOST_BYTES if whole else 0
    if size > MOST_BYTES:
        return
    # Sealed bytes may have become quoted-printable text; what age writes behind its header is never that.
    _, line, rest = head.partition(b"\n--- ")
    quoted = bool(line) and len(rest) > 64 and rest.isascii() and b"=" in rest[43:]
    if lock_of(head) is not None and not quoted:
        yield CarriedFile(name, head + file.read(most), inside)
    elif head.startswith(_ZIP):
        yield from _in_zip(file, name, size, whole=whole, inside=inside, wraps=wraps)
    elif "mail" not in wraps and (decode := _decoder(head)):
        for place, part in decode(head + file.read(MOST_BYTES), name):
            yield from _carried_files(
                io.BytesIO(part), place, len(part), whole=whole, inside=place, wraps=f"{wraps} mail"
            )


def _in_zip(file: BinaryIO, name: str, size: int, *, whole: bool, inside: str, wraps: str) -> Iterator[CarriedFile]:
    """Yield an archive of ours as it is, and of another zip its members that are of Rosetta."""
    with open_zip(file, size, _MOST_DIRECTORY) as archive:
        members = archive.infolist()
        if {MANIFEST, SIGNATURE} <= {member.filename for member in members}:
            stated = _format(read_member(archive, archive.getinfo(MANIFEST), MOST_MANIFEST))
            file.seek(0)
            yield CarriedFile(name, file.read(MOST_BYTES + 1 if whole else HEAD), inside, stated or "?")
            return
        if "zip" in wraps:
            return
        left = _MOST_UNPACKED
        for member in members[:_MOST_MEMBERS]:
            if member.is_dir() or _is_hidden_member(member.filename):
                continue
            if member.flag_bits & 1:
                if kind_of_name(member.filename):
                    raise FileError(
                        FileProblem.LOCKED,
                        "this packed folder is locked with a password. Unpack it first, then name the file in it.",
                    )
                continue
            head = read_member(archive, member, HEAD)
            if not (lock_of(head) or head.startswith(_ZIP) or _decoder(head)):
                continue
            known = lock_of(head) is not None and not whole
            data = head if known else read_member(archive, member, min(left, MOST_BYTES) + 1)
            left -= len(data)
            if left < 0:
                raise FileError(FileProblem.TOO_LARGE, "this packed folder unpacks to more than any review has.")
            place = f"{inside}/{member.filename}" if inside else member.filename
            yield from _carried_files(
                io.BytesIO(data), Path(member.filename).name, len(data),
                whole=whole, inside=place, wraps=f"{wraps} zip",
            )  # fmt: skip


def _is_hidden_member(name: str) -> bool:
    parts = [part for part in re.split(r"[/\\]", name) if part.strip(".")]
    return any(part.startswith(".") or part.casefold() in BINS for part in parts)


def _format(manifest: bytes) -> str:
    try:
        stated = json.loads(manifest)
    except (ValueError, RecursionError):
        return ""
    name = stated.get("format") if isinstance(stated, dict) else None
    return name if isinstance(name, str) else ""


# What mail does to a file


def _decoder(head: bytes) -> Callable[[bytes, str], Iterator[tuple[str, bytes]]] | None:
    """Return what takes files out of the text of a mail; None for what is none."""
    text = head.removeprefix(codecs.BOM_UTF8).lstrip()
    if _BASE64.match(text):
        return _from_base64
    if _QUOTED.match(text):
        return _from_quoted
    return _from_mail if _MAIL.match(head) else None


def _from_base64(data: bytes, name: str) -> Iterator[tuple[str, bytes]]:
    with suppress(binascii.Error, ValueError):
        yield _without_text_suffix(name), base64.b64decode(b"".join(data.removeprefix(codecs.BOM_UTF8).split()))


def _from_quoted(data: bytes, name: str) -> Iterator[tuple[str, bytes]]:
    """Decode; a hard line end of the mail stands for the one line end that the header of age has."""
    text = data.removeprefix(codecs.BOM_UTF8).lstrip().replace(b"\r\n", b"\n")
    yield _without_text_suffix(name), quopri.decodestring(text)


def _from_mail(data: bytes, name: str) -> Iterator[tuple[str, bytes]]:
    """Yield the attachments of a saved mail, and what is in its text."""
    try:
        parts = list(islice(email.message_from_bytes(data.lstrip()).walk(), _MOST_MEMBERS))
    except (RecursionError, ValueError, LookupError):
        return
    for number, part in enumerate(parts):
        with suppress(ValueError, LookupError, TypeError, RecursionError):
            content = None if part.is_multipart() else part.get_payload(decode=True)
            if isinstance(content, bytes):
                stated = part.get_filename() or f"{number}:{_without_text_suffix(name)}"
                yield re.split(r"[/\\]", stated)[-1], content


def _without_text_suffix(name: str) -> str:
    return re.sub(r"\.(eml|txt|b64|base64|mht|msg)$", "", name, flags=re.IGNORECASE)


# ---- In a folder ----

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
