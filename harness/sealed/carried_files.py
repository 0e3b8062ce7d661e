"""A file of a review as Rosetta wrote it, taken out of the zip or the mail that was wrapped around it.

Files are known by their first bytes. Nothing is unpacked to the disk: a member is read into memory, and its name is
only shown. A zip in a zip and a mail in a mail stay closed; the number and size of members are bounded.
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
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Final

from harness.sealed.archive import MANIFEST, MOST_MANIFEST, SIGNATURE, open_zip, read_member
from harness.sealed.sealing import Lock, lock_of
from harness.sealed.stick import BATCH_SUFFIX, MOST_BYTES, RATINGS_SUFFIX, read_file
from harness.sealed.strict_records import FileError, FileProblem

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
