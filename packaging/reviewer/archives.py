"""Archives of a folder whose bytes depend on its content alone: names in order, one time, no owner, links as links."""

from __future__ import annotations

import io
import lzma
import stat
import tarfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

EARLIEST = 315_532_800
"""1980-01-01: a zip knows no earlier time."""


def write_tar(folder: Path, path: Path, when: int) -> Path:
    """Write a ``.tar.xz`` of a folder under the folder's name; ``when`` in seconds since 1970."""
    with (
        lzma.open(path, "wb", preset=9) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for each in _members(folder):
            member = archive.gettarinfo(each, arcname=_name(folder, each))
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.mtime = when
            member.mode = _mode(each)
            archive.addfile(member, io.BytesIO(each.read_bytes()) if member.isreg() else None)
    return path


def write_zip(folder: Path, path: Path, when: int) -> Path:
    """Write a ``.zip`` of a folder under the folder's name; a link is kept as a link."""
    moment = time.gmtime(max(when, EARLIEST))[:6]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for each in _members(folder):
            if each.is_dir() and not each.is_symlink():
                continue
            member = zipfile.ZipInfo(_name(folder, each), moment)
            member.create_system = 3
            member.compress_type = zipfile.ZIP_DEFLATED
            kind = stat.S_IFLNK if each.is_symlink() else stat.S_IFREG
            member.external_attr = (kind | _mode(each)) << 16
            content = str(each.readlink()).encode() if each.is_symlink() else each.read_bytes()
            archive.writestr(member, content, compresslevel=9)
    return path


def _members(folder: Path) -> Iterator[Path]:
    yield folder
    yield from sorted(folder.rglob("*"), key=lambda each: each.relative_to(folder).as_posix())


def _name(folder: Path, path: Path) -> str:
    return path.relative_to(folder.parent).as_posix()


def _mode(path: Path) -> int:
    if path.is_symlink():
        return 0o777
    return 0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644
