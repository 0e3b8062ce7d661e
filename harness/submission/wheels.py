"""The wheelhouse: wheels alone, each a sound archive that starts nothing on its own, pinned by its hash."""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Final

from harness.submission.members import WHEELS, in_zip, unsafe_problems

MOST_UNPACKED: Final = 2 * 2**30
"""Bytes of all wheels of a bundle together, as they declare them."""
MOST_RATIO: Final = 100
"""Declared bytes for one packed one; more is a bomb."""

_WHEEL: Final = re.compile(
    r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._]*[A-Za-z0-9])?)-(?P<version>[A-Za-z0-9_.!+]+)"
    r"(?:-\d[A-Za-z0-9_.]*)?-[A-Za-z0-9_.]+-[A-Za-z0-9_.]+-[A-Za-z0-9_.]+\.whl"
)
_SDIST: Final = (".tar.gz", ".tar.bz2", ".tar.xz", ".tgz", ".zip", ".egg")
_METHODS: Final = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
"""How members of a wheel may be packed; others may take any memory to unpack."""
_START_UP: Final = frozenset({"sitecustomize", "usercustomize"})


def wheelhouse_problems(wheels: Mapping[str, bytes]) -> Iterator[str]:
    """Yield why wheels, by their names, are refused, each beginning with a name; nothing is unpacked where they are too large together."""
    unpacked = sum(
        found_member.size for content in wheels.values() for found_member in in_zip(content)
    )
    if unpacked > MOST_UNPACKED:
        largest = max(
            wheels, key=lambda name: sum(found_member.size for found_member in in_zip(wheels[name]))
        )
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
    found_members = in_zip(content)
    if not found_members:
        yield f"{name}: no archive that can be read. Download it again."
        return
    yield from (f"{name}: {problem}" for problem in unsafe_problems(found_members))
    yield from (
        f"{name}: {problem}"
        for problem in _start_up([found_member.path for found_member in found_members])
    )
    if (unpacked := sum(found_member.size for found_member in found_members)) > MOST_RATIO * len(
        content
    ):
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
                if member.compress_type not in _METHODS:
                    return f"{member.filename} is packed in a way that pip does not write, or"
            return archive.testzip()
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, OSError, EOFError, ValueError, zlib.error):  # fmt: skip
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
