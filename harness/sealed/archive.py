"""One zip form, and only one: the same members give the same bytes, and other bytes are refused.

Reading takes the members out and packs them again. Bytes that differ were not written like this, so a
changed header, a hidden member, a path, a link or a compressed bomb has no way in.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import re
import struct
import zipfile
import zlib
from abc import abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Annotated, Any, BinaryIO, Final, Generic, TypeVar

from pydantic import Field, ValidationError

from corpora.files.toml_text import first_problem
from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.sealed.keys import Identity, Signed, verify
from harness.sealed.strict_records import FileError, FileProblem, Hex64, Short, StrictRecord, VersionedRecord, formats

MOST_BYTES: Final = 50 * 2**20
"""Bytes of one archive; only what people hand in to be run may be larger."""

MOST_MEMBERS: Final = 32

RESERVED: Final = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[\d¹²³]) *(\..*)?", re.IGNORECASE | re.DOTALL)
"""Names that are devices on Windows, whatever follows their first point, which spaces may precede."""


@dataclass(frozen=True)
class ArchiveShape:
    """What archives of one kind may hold."""

    most_bytes: int
    most_members: int
    name: re.Pattern[str]
    """What a member may be called; ASCII in any case."""


FLAT: Final = ArchiveShape(MOST_BYTES, MOST_MEMBERS, re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}", re.ASCII))
"""A few files without folders, as nearly everything that travels is."""

_BEGINS = b"PK\x03\x04"
_ENDS = b"PK\x05\x06"
_END_BYTES = 22
_DAY = 0x21
"""1980-01-01, as zip writes it."""
_LOCAL: Final = struct.Struct("<4s5H3I2H")
"""Signature, version, flags, method, time, date, CRC, two sizes, lengths of name and extra field."""

_WORDS = {
    FileProblem.DAMAGED: "This file is damaged: something in it was changed after it was written. Ask for a new copy.",
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
        raise FileError(FileProblem.INVALID, "This cannot be packed: a member has a name that none may have.")
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
    data: bytes, names: Collection[str], optional: Collection[str] = (), most: Mapping[str, int] | None = None
) -> dict[str, bytes]:
    """Read an archive that must hold exactly ``names``, and may hold ``optional`` ones.

    ``most`` bounds the bytes of single members. Raises FileError in words for anything else.
    """
    members = unpack_all(data, FLAT)
    if missing := sorted({*names} - members.keys()):
        raise FileError(FileProblem.NOT_OURS, f"This is another kind of file: it holds no {missing[0]}.")
    if more := sorted(members.keys() - {*names, *optional}):
        raise FileError(
            FileProblem.NEWER,
            f"This file holds {more[0]}, which does not belong there. It may come from a newer version of Rosetta.",
        )
    for name, limit in (most or {}).items():
        if len(members.get(name, b"")) > limit:
            raise FileError(FileProblem.TOO_LARGE, f"This file holds too much in {name} ({limit:,} bytes at most).")
    return members


def unpack_all(data: bytes, shape: ArchiveShape) -> dict[str, bytes]:
    """Read every member of an archive of this shape; raises FileError in words for anything else."""
    if len(data) > shape.most_bytes + 2**11 * shape.most_members:
        raise _error(FileProblem.TOO_LARGE, shape)
    # Show what is no archive from one that was not copied to its end.
    if not data.startswith(_BEGINS) and not _BEGINS.startswith(data[:4]):
        raise _error(FileProblem.NOT_OURS)
    end = data.rfind(_ENDS, -1024 - _END_BYTES)
    if end == -1 or len(data) < end + _END_BYTES:
        raise _error(FileProblem.CUT_SHORT)
    members: dict[str, bytes] = {}
    at = 0
    while data[at : at + 4] == _BEGINS:
        name, begin, end = _local(data, at, shape)
        if name in members or len(members) >= shape.most_members:
            raise _error(FileProblem.REPACKED)
        members[name] = data[begin:end]
        at = end
    if pack(members, shape) != data:
        raise _error(FileProblem.DAMAGED)
    return members


def _local(data: bytes, at: int, shape: ArchiveShape) -> tuple[str, int, int]:
    """Read one local header: the member's name, and where its bytes begin and end."""
    if len(data) < at + _LOCAL.size:
        raise _error(FileProblem.CUT_SHORT)
    facts = _LOCAL.unpack_from(data, at)
    _, _, flags, method, clock, day, _, packed, size, name_length, extra = facts
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


def _error(problem: FileProblem, shape: ArchiveShape = FLAT) -> FileError:
    return FileError(problem, _WORDS[problem].format(most=shape.most_bytes // 2**20))


# ---- Zips as other programs write them: opened and read within limits, and nothing is unpacked to
# the disk.

PLAIN_METHODS: Final = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
"""How members may be packed; others may take any memory to unpack."""
BROKEN_ZIP: Final = (
    zipfile.BadZipFile, RuntimeError, NotImplementedError, OSError, EOFError, ValueError, OverflowError, zlib.error,
)  # fmt: skip
"""What ``zipfile`` raises where it cannot read a zip, or a member of it."""


def open_zip(file: BinaryIO, size: int, most_directory: int) -> zipfile.ZipFile:
    """Open a zip of ``size`` bytes whose list of members has at most that many; FileError for any other."""
    file.seek(max(0, size - 2**16 - _END_BYTES))
    tail = file.read()
    end = tail.rfind(_ENDS)
    listed_bytes = int.from_bytes(tail[end + 12 : end + 16], "little")
    if end == -1 or listed_bytes > most_directory or tail[:end].rfind(b"PK\x06\x07", -20) != -1:
        raise FileError(FileProblem.DAMAGED, "this packed folder is damaged, or it lists too many files.")
    try:
        file.seek(0)
        return zipfile.ZipFile(file)
    except BROKEN_ZIP:
        raise FileError(FileProblem.DAMAGED, "this packed folder is damaged.") from None


def read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, most: int) -> bytes:
    """Read at most that many bytes of a member, whatever size it states; nothing of one that cannot be read."""
    if member.compress_type not in PLAIN_METHODS:
        return b""
    try:
        with archive.open(member) as content:
            return content.read(most)
    except BROKEN_ZIP:
        return b""


# ---- An archive whose manifest is signed and names the hash of every other member; and small
# records with a signature.

MANIFEST: Final = "manifest.json"
SIGNATURE: Final = "manifest.sig"

MOST_MANIFEST = 8 * 2**20
"""Bytes; the orders of 200 reviewers with 2,000 items each."""

_MOST_RECORD = 4096
"""Bytes of a file that is one signed record."""


class SignedManifest(VersionedRecord):
    """The signed head of an archive."""

    members: dict[Short, Hex64]
    """Name of every other member of the file → SHA-256 of its bytes."""

    @property
    @abstractmethod
    def signer(self) -> str:
        """The key under which the file is signed."""


_Form = TypeVar("_Form", bound=SignedManifest)


@dataclass(frozen=True)
class SignedArchive(Generic[_Form]):
    """What an archive holds, checked against its signature."""

    manifest: _Form
    signed: Signed
    """The manifest's bytes and their signature."""
    members: Mapping[str, bytes]
    """All but the manifest and its signature."""


def pack_signed(manifest: _Form, members: Mapping[str, bytes], identity: Identity, shape: ArchiveShape = FLAT) -> bytes:
    """Name the members' hashes in the manifest, sign it, and pack all of it."""
    complete = manifest.model_copy(update={"members": _hashes(members)})
    content = canonical_bytes(complete.model_dump(mode="json"))
    if len(content) > MOST_MANIFEST:
        raise FileError(FileProblem.TOO_LARGE, "This is too much for one file: name fewer items or reviewers.")
    return pack({**members, MANIFEST: content, SIGNATURE: identity.sign(content)}, shape)


def unpack_signed(
    data: bytes, form: type[_Form], members: Mapping[str, int], optional: Collection[str] = ()
) -> SignedArchive[_Form]:
    """Read an archive of this form and check its signature and hashes.

    ``members`` names every member but the two of the signature, each with the most bytes it may have;
    ``optional`` are those of them that may be missing.
    Raises FileError in words.
    """
    names = {*members, MANIFEST, SIGNATURE} - {*optional}
    most = {**members, MANIFEST: MOST_MANIFEST}
    return _checked(unpack(data, names, optional, most), form)


def unpack_signed_all(data: bytes, form: type[_Form], shape: ArchiveShape) -> SignedArchive[_Form]:
    """Read an archive of this form and shape, whatever its members are called, and check signature and hashes.

    Raises FileError in words.
    """
    members = unpack_all(data, shape)
    if not members.keys() >= {MANIFEST, SIGNATURE}:
        raise FileError(FileProblem.NOT_OURS, f"This is another kind of file: it holds no {MANIFEST}.")
    if len(members[MANIFEST]) > MOST_MANIFEST:
        raise FileError(FileProblem.TOO_LARGE, f"This file holds too much in {MANIFEST}.")
    return _checked(members, form)


def _checked(found: dict[str, bytes], form: type[_Form]) -> SignedArchive[_Form]:
    """Extract the signed manifest from an archive's members and compare the others with it."""
    signed = Signed(found.pop(MANIFEST), found.pop(SIGNATURE))
    manifest = read_signed_head(signed, form)
    if manifest.members != _hashes(found):
        raise _changed()
    return SignedArchive(manifest, signed, found)


def read_signed_head(signed: Signed, form: type[_Form]) -> _Form:
    """Read a manifest of this form whose signature holds; raises FileError in words. The members are not examined."""
    manifest = read_manifest(signed.content, form)
    if not verify(manifest.signer, signed.content, signed.signature):
        raise _changed()
    return manifest


def _changed() -> FileError:
    return FileError(
        FileProblem.DAMAGED, "This file was changed after it was signed, or it is damaged. Ask for a new copy."
    )


def read_manifest(content: bytes, form: type[_Form]) -> _Form:
    """Read a manifest of this form from its bytes, its signature not examined; raises FileError in words."""
    _check_format(content, formats(form))
    try:
        return form.model_validate_json(content, strict=True)
    except ValidationError as error:
        raise FileError(FileProblem.INVALID, f"{MANIFEST}: {first_problem(error)}") from None


def _check_format(content: bytes, ours: tuple[str, ...]) -> None:
    """Raise with kind words about what else it is: another kind of file, or one of a newer version."""
    raw = _canonical_json(content)
    stated = raw.get("format") if isinstance(raw, dict) else None
    if stated in ours:
        return
    kind, _, version = stated.partition("/") if isinstance(stated, str) else ("", "", "")
    if kind == ours[0].partition("/")[0] and version.isdecimal():
        raise FileError(
            FileProblem.NEWER,
            "This file was written by another version of Rosetta, whose form this version does not "
            "know. Install the newest version.",
        )
    raise FileError(FileProblem.NOT_OURS, "This is another kind of file than was asked for. Choose another file.")


def _hashes(members: Mapping[str, bytes]) -> dict[str, str]:
    return {name: hashlib.sha256(content).hexdigest() for name, content in members.items()}


def _canonical_json(content: bytes) -> Any:
    """Read JSON that has one byte form only, so that every program finds the same in it."""
    with contextlib.suppress(ValueError, RecursionError, UsageError):
        raw = json.loads(content)
        if canonical_bytes(raw) == content:
            return raw
    raise FileError(FileProblem.INVALID, f"{MANIFEST} is not canonical JSON. Ask for the file as Rosetta wrote it.")


class SignedRecord(StrictRecord):
    """A small file that is one record with its signature among its fields."""

    signature: Annotated[str, Field(pattern=r"^[0-9a-f]{128}$")]
    """Ed25519 over the canonical bytes of the record without this field."""

    def content(self) -> bytes:
        """Return what was signed."""
        return canonical_bytes(self.model_dump(mode="json", exclude={"signature"}))

    def is_signed_by(self, signing_key: str) -> bool:
        """Return whether the signature is one of this key over all other fields."""
        return verify(signing_key, self.content(), bytes.fromhex(self.signature))


def signed_record(record: StrictRecord, identity: Identity) -> bytes:
    """Return the bytes of a record with its signature."""
    fields = record.model_dump(mode="json")
    return canonical_bytes(fields | {"signature": identity.sign(canonical_bytes(fields)).hex()})


_Record = TypeVar("_Record", bound=SignedRecord)


def read_signed_record(
    data: bytes, form: type[_Record], name: str, *, most: int = _MOST_RECORD, end: bytes = b""
) -> _Record:
    """Read a record that is in its one canonical form, with ``end`` behind it, and signed by its own ``by``.

    Raises FileError that calls it by ``name``.
    """
    record = read_record(data, form, name, most=most)
    whole = canonical_bytes(record.model_dump(mode="json")) + end == data
    if not whole or not record.is_signed_by(attrgetter("by")(record)):
        raise FileError(
            FileProblem.DAMAGED,
            f"{name[0].upper()}{name[1:]} was changed after it was signed, or it is damaged. Ask for it once more.",
        )
    return record


def read_record(data: bytes, form: type[_Record], name: str, *, most: int = _MOST_RECORD) -> _Record:
    """Read such a file of ``most`` bytes, its signature not examined; raises FileError that calls it by ``name``."""
    try:
        return form.model_validate_json(data[: most + 1], strict=True)
    except ValidationError:
        raise FileError(
            FileProblem.NOT_OURS, f"This is not {name}, or it is damaged. Ask for the file once more."
        ) from None
