"""One zip form, and only one: the same members give the same bytes, and other bytes are refused.

Reading takes the members out and packs them again. Bytes that differ were not written like this, so a
changed header, a hidden member, a path, a link or a compressed bomb has no way in.
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from harness.sealed.strict_records import FileError, FileProblem

MOST_BYTES: Final = 50 * 2**20
"""Bytes of one archive; only what people hand in to be run may be larger."""

MOST_MEMBERS: Final = 32

RESERVED: Final = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
"""Names that are devices on Windows, whatever follows their first point."""


@dataclass(frozen=True)
class ArchiveShape:
    """What archives of one kind may hold."""

    most_bytes: int
    most_members: int
    name: re.Pattern[str]
    """What a member may be called; ASCII in any case."""


FLAT: Final = ArchiveShape(
    MOST_BYTES, MOST_MEMBERS, re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}", re.ASCII)
)
"""A few files without folders, as nearly everything that travels is."""

_BEGINS = b"PK\x03\x04"
_ENDS = b"PK\x05\x06"
_END_BYTES = 22
_DAY = 0x21
"""1980-01-01, as zip writes it."""
_LOCAL: Final = struct.Struct("<4s5H3I2H")
"""Signature, version, flags, method, time, date, CRC, two sizes, lengths of name and extra field."""

_WORDS = {
    FileProblem.DAMAGED: "This file is damaged: something in it was changed after it was written. "
    "Ask for a new copy.",
    FileProblem.CUT_SHORT: "This file is cut short: it was not copied to its end. "
    "Copy it again, or ask for a new copy.",
    FileProblem.NOT_OURS: "This is not a file of Rosetta. Choose another file.",
    FileProblem.REPACKED: "This file was packed again by another program. Ask for the file as "
    "Rosetta wrote it, and do not unpack it on the way.",
    FileProblem.TOO_LARGE: "This is more than {most} MB, too much for one file.",
}


def pack(members: Mapping[str, bytes], shape: ArchiveShape = FLAT) -> bytes:
    """Write members as a stored zip: by name, without times, attributes or extra fields.

    Raises FileError where a name is none, or where there is too much for one file.
    """
    if not all(shape.name.fullmatch(name) for name in members) or len(members) > shape.most_members:
        raise FileError(
            FileProblem.INVALID, "This cannot be packed: a member has a name that none may have."
        )
    if sum(map(len, members.values())) > shape.most_bytes:
        raise _error(FileProblem.TOO_LARGE, shape)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(members):
            archive.writestr(_entry(name), members[name])
    return packed.getvalue()


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    entry.create_system = 3  # Unix, wherever this runs
    entry.external_attr = 0o100644 << 16
    return entry


def unpack(
    data: bytes,
    names: Collection[str],
    optional: Collection[str] = (),
    most: Mapping[str, int] | None = None,
) -> dict[str, bytes]:
    """Read an archive that must hold exactly ``names``, and may hold ``optional`` ones.

    ``most`` bounds the bytes of single members. Raises FileError in words for anything else.
    """
    members = unpack_all(data, FLAT)
    _check_names(set(members), set(names), set(optional))
    for name, limit in (most or {}).items():
        if len(members.get(name, b"")) > limit:
            raise FileError(
                FileProblem.TOO_LARGE,
                f"This file holds too much in {name} ({limit:,} bytes at most).",
            )
    return members


def unpack_all(data: bytes, shape: ArchiveShape) -> dict[str, bytes]:
    """Read every member of an archive of this shape; raises FileError in words for anything else."""
    if len(data) > shape.most_bytes + 2**11 * shape.most_members:
        raise _error(FileProblem.TOO_LARGE, shape)
    _check_ends(data)
    members = _members(data, shape)
    if pack(members, shape) != data:
        raise _error(FileProblem.DAMAGED)
    return members


def _check_ends(data: bytes) -> None:
    """Show what is no archive from one that was not copied to its end."""
    if not data.startswith(_BEGINS) and not _BEGINS.startswith(data[:4]):
        raise _error(FileProblem.NOT_OURS)
    end = data.rfind(_ENDS, -1024 - _END_BYTES)
    if end == -1 or len(data) < end + _END_BYTES:
        raise _error(FileProblem.CUT_SHORT)


def _members(data: bytes, shape: ArchiveShape) -> dict[str, bytes]:
    """Extract the members, one local header after the other."""
    members: dict[str, bytes] = {}
    at = 0
    while data[at : at + 4] == _BEGINS:
        name, begin, end = _local(data, at, shape)
        if name in members or len(members) >= shape.most_members:
            raise _error(FileProblem.REPACKED)
        members[name] = data[begin:end]
        at = end
    return members


def _local(data: bytes, at: int, shape: ArchiveShape) -> tuple[str, int, int]:
    """Read one local header: the member's name, and where its bytes begin and end."""
    if len(data) < at + _LOCAL.size:
        raise _error(FileProblem.CUT_SHORT)
    _, _, flags, method, clock, day, _, packed, size, name_length, extra = _LOCAL.unpack_from(
        data, at
    )
    begin = at + _LOCAL.size + name_length + extra
    name = data[at + _LOCAL.size : begin - extra]
    if (flags, method, clock, day, extra, packed) != (0, 0, 0, _DAY, 0, size):
        raise _error(FileProblem.REPACKED)
    if begin + size > len(data):
        raise _error(FileProblem.CUT_SHORT)
    text = name.decode("latin-1")
    if not shape.name.fullmatch(text):
        raise _error(FileProblem.DAMAGED)
    return text, begin, begin + size


def _check_names(found: set[str], names: set[str], optional: set[str]) -> None:
    if missing := sorted(names - found):
        raise FileError(
            FileProblem.NOT_OURS, f"This is another kind of file: it holds no {missing[0]}."
        )
    if more := sorted(found - names - optional):
        raise FileError(
            FileProblem.NEWER,
            f"This file holds {more[0]}, which does not belong there. "
            "It may come from a newer version of Rosetta.",
        )


def _error(problem: FileProblem, shape: ArchiveShape = FLAT) -> FileError:
    return FileError(problem, _WORDS[problem].format(most=shape.most_bytes // 2**20))
