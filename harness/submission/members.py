"""What the members of a bundle may be called, and what they may be: plain files below a few folders.

Checked before anything is taken out of an archive, so that a link, a path that leads out, a device or too much of
everything is refused by its name.
"""

from __future__ import annotations

import hashlib
import io
import math
import re
import stat
import tarfile
import unicodedata
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Final

from harness.sealed.archive import BROKEN_ZIP, PLAIN_METHODS, RESERVED, ArchiveShape
from harness.sealed.strict_records import FileError, FileProblem

SHEET: Final = "submission.toml"
"""Beside the members in the folder that a bundle is packed of; what it says is in the manifest."""
FOREIGN_SHEET: Final = "method.json"
"""The same in a folder of the reference implementation."""
CARD: Final = "card.json"
README: Final = "README.md"
CODE: Final = "code"
DATA: Final = "data"
WHEELS: Final = "wheels"

MOST_BYTES: Final = 256 * 2**20
"""Of all members together; a bundle is held in memory when it is read."""
MOST_MEMBERS: Final = 2000
MOST_PATH: Final = 200
_MOST_NAME: Final = 500
"""Characters of a member's path in any archive, such as a wheel."""

_LISTED: Final = b"PK\x01\x02"
"""What each line of the list at the end of a zip begins with; of archives inside it too."""
_MOST_LISTED: Final = 200_000

_PART: Final = r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,119}"
SHAPE: Final = ArchiveShape(
    MOST_BYTES, MOST_MEMBERS, re.compile(rf"(?=.{{1,{MOST_PATH}}}\Z){_PART}(/{_PART})*", re.ASCII)
)
"""What a bundle may hold."""


class MemberKind(StrEnum):
    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    DEVICE = "device"


@dataclass(frozen=True, slots=True)
class FoundMember:
    """A member as an archive or folder names it, before anything of it is read."""

    path: str
    kind: MemberKind
    size: int
    """Bytes, as they are declared."""


def in_zip(data: bytes) -> list[FoundMember]:
    """Return the members that the list at the end of a zip names; empty where there is no such list.

    Raises FileError where it lists that many that reading them would take the computer's memory.
    """
    if data.count(_LISTED) > _MOST_LISTED:
        raise FileError(FileProblem.TOO_LARGE, f"It lists more than {_MOST_LISTED:,} members. Leave some out.")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return [
                FoundMember(member.orig_filename, _kind(member.external_attr >> 16), member.file_size)
                for member in archive.infolist()
            ]
    except BROKEN_ZIP:
        return []


def in_tar(archive: tarfile.TarFile) -> Iterator[FoundMember]:
    """Yield the members of a tar, one header after the other."""
    for member in archive:
        kind = (
            MemberKind.FILE if member.isreg()
            else MemberKind.FOLDER if member.isdir()
            else MemberKind.LINK if member.issym() or member.islnk()
            else MemberKind.DEVICE
        )  # fmt: skip
        yield FoundMember(member.name, kind, member.size)


def in_folder(folder: Path) -> Iterator[FoundMember]:
    """Yield everything below a folder, links and devices as what they are; nothing is followed."""
    for path in sorted(folder.iterdir()):
        stat_result = path.lstat()
        kind = _kind(stat_result.st_mode)
        yield FoundMember(path.name, kind, stat_result.st_size if kind is MemberKind.FILE else 0)
        if kind is MemberKind.FOLDER:
            for below in in_folder(path):
                yield replace(below, path=f"{path.name}/{below.path}")


def _kind(mode: int) -> MemberKind:
    """Return what a file's mode says; a zip that says nothing has plain files."""
    match stat.S_IFMT(mode):
        case 0 | stat.S_IFREG:
            return MemberKind.FILE
        case stat.S_IFDIR:
            return MemberKind.FOLDER
        case stat.S_IFLNK:
            return MemberKind.LINK
        case _:
            return MemberKind.DEVICE


def member_problems(found: Iterable[FoundMember]) -> list[str]:
    """Return for each member by its name why it is refused; empty where all may stay."""
    members = list(found)
    named = (_misnamed(member.path) for member in members if not _unsafe(member))
    problems = [*unsafe_problems(members), *filter(None, named)]
    files = [member for member in members if member.kind is MemberKind.FILE]
    if len(files) > MOST_MEMBERS:
        problems.append(f"{len(files):,} files, and {MOST_MEMBERS:,} are the most. Leave some out.")
    if (total := sum(file.size for file in files)) > MOST_BYTES:
        largest = max(files, key=lambda member: member.size)
        problems.append(
            f"{mebibytes(total)} MiB declared, and {MOST_BYTES // 2**20:,} are the most; the largest is {largest.path} "
            f"with {mebibytes(largest.size)}. Leave out what the method does not need, or quantise the model."
        )
    return problems


def mebibytes(size: int) -> str:
    """Write a size rounded up, so that what is too much does not read like what is allowed."""
    return f"{math.ceil(size / 2**20):,}"


def unsafe_problems(found: Iterable[FoundMember]) -> list[str]:
    """Return for each member of any archive by its name what would be dangerous about extracting it."""
    problems, safe = [], []
    for member in found:
        if words := _unsafe(member):
            problems.append(words)
        elif member.kind is not MemberKind.FOLDER:
            safe.append(member)
    return [*problems, *_twins(safe)]


def _unsafe(member: FoundMember) -> str | None:
    if len(member.path) > _MOST_NAME:
        return f"{member.path[:MOST_PATH]}…: a name of {len(member.path):,} characters. Give it a shorter one."
    path, parts = member.path, _parts(member.path)
    if member.kind is MemberKind.LINK:
        return f"{path}: a link. Put the file itself there."
    if member.kind is MemberKind.DEVICE:
        return f"{path}: a device or pipe. Take it out."
    if path.startswith(("/", "\\")) or ".." in parts or re.match(r"[A-Za-z]:", path):
        return f"{path}: a path that leads out of the bundle. Take it out."
    if "\\" in path:
        return f"{path}: a backslash in a name. Write paths with /."
    return None


def _misnamed(path: str) -> str | None:
    parts = _parts(path)
    if any(part.startswith(".") for part in parts):
        return f"{path}: hidden, because a name begins with a point. Take it out, or name it openly."
    if any(RESERVED.fullmatch(part) or part.endswith((".", " ")) for part in parts):
        return f"{path}: a name that Windows does not take. Give it another."
    if SHAPE.name.fullmatch("/".join(parts)) is None:
        return f"{path}: letters, digits and _ . + - only, at most {MOST_PATH}. Give it another name."
    return None


def _parts(path: str) -> list[str]:
    return path.rstrip("/").replace("\\", "/").split("/")


def _twins(members: Iterable[FoundMember]) -> Iterator[str]:
    """Yield members that another one is in the way of: by the same name, by case alone, or as its folder."""
    seen: dict[str, str] = {}
    for member in members:
        key = unicodedata.normalize("NFC", member.path).casefold()
        if key in seen and seen[key] == member.path:
            yield f"{member.path}: twice. Keep one of the two."
        elif key in seen:
            yield f"{member.path}: the same as {seen[key]} but for capital letters, which many disks do not tell apart. Give one another name."
        seen[key] = member.path
    for key, path in seen.items():
        parts = key.split("/")
        for end in range(1, len(parts)):
            if (above := "/".join(parts[:end])) in seen:
                yield f"{path}: below {seen[above]}, which is a file. Give one another name."


# ---- The wheelhouse: wheels alone, each a sound archive that starts nothing on its own, pinned
# by its hash.

MOST_UNPACKED: Final = 2 * 2**30
"""Bytes of all wheels of a bundle together, as they declare them."""
MOST_RATIO: Final = 100
"""Declared bytes for one packed one; more is a bomb."""

_WHEEL: Final = re.compile(
    r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._]*[A-Za-z0-9])?)-(?P<version>[A-Za-z0-9_.!+]+)"
    r"(?:-\d[A-Za-z0-9_.]*)?-[A-Za-z0-9_.]+-[A-Za-z0-9_.]+-[A-Za-z0-9_.]+\.whl"
)
_SDIST: Final = (".tar.gz", ".tar.bz2", ".tar.xz", ".tgz", ".zip", ".egg")
_START_UP: Final = frozenset({"sitecustomize", "usercustomize"})


def wheelhouse_problems(wheels: Mapping[str, bytes]) -> Iterator[str]:
    """Yield why wheels, by their names, are refused, each beginning with a name; nothing is unpacked where they are too large together."""
    sizes = {name: sum(member.size for member in in_zip(data)) for name, data in wheels.items()}
    if (unpacked := sum(sizes.values())) > MOST_UNPACKED:
        largest = max(sizes, key=lambda name: sizes[name])
        yield f"{largest}: the largest of {len(wheels):,} wheels that declare {unpacked:,} bytes together, and {MOST_UNPACKED:,} are the most. Leave some out."
        return
    for name, content in wheels.items():
        yield from wheel_problems(name, content)


def wheel_problems(name: str, content: bytes) -> Iterator[str]:
    """Yield why a file of the wheelhouse is refused, each beginning with its name; nothing where it may stay."""
    if name.lower().endswith(_SDIST):
        yield f"{name}: a source distribution, which runs code when it is installed. Build a wheel of it: pip wheel --no-deps {name}"
        return
    if _WHEEL.fullmatch(name) is None:
        yield f"{name}: not named as a wheel (NAME-VERSION-PYTHON-ABI-PLATFORM.whl). Put in what pip wheel or pip download wrote."
        return
    members = in_zip(content)
    if not members:
        yield f"{name}: no archive that can be read. Download it again."
        return
    yield from (f"{name}: {problem}" for problem in unsafe_problems(members))
    yield from (f"{name}: {problem}" for problem in _start_up([member.path for member in members]))
    if (unpacked := sum(member.size for member in members)) > MOST_RATIO * len(content):
        yield f"{name}: {unpacked:,} bytes declared in {len(content):,}. Take it out."
    elif (wrong := _first_damaged(content)) is not None:
        yield f"{name}: {wrong} is damaged. Download it again."


def _start_up(paths: list[str]) -> Iterator[str]:
    """Yield files that Python runs whenever it starts, wherever a wheel puts them."""
    for path in paths:
        name = PurePosixPath(path)
        if name.suffix == ".pth" or any(e.partition(".")[0] in _START_UP for e in name.parts):
            yield f"{path}: a file that Python runs at every start. Take it out of the wheel."


def _first_damaged(content: bytes) -> str | None:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for member in archive.infolist():
                if member.compress_type not in PLAIN_METHODS:
                    return f"{member.filename} is packed in a way that pip does not write, or"
            return archive.testzip()
    except BROKEN_ZIP:
        return "a member"


def requirements(members: Mapping[str, bytes]) -> str:
    """Return a requirements file that pins each wheel of a bundle by version and SHA-256; empty without any."""
    lines = []
    for path, content in sorted(members.items()):
        if path.startswith(f"{WHEELS}/"):
            match = _WHEEL.fullmatch(PurePosixPath(path).name)
            assert match is not None  # noqa: S101  the reader has seen to it
            digest = hashlib.sha256(content).hexdigest()
            lines.append(f"{match['name']}=={match['version']} --hash=sha256:{digest}\n")
    return "".join(lines)
